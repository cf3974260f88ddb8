"""The quota desk: what each team has left, its ledger, grants, refunds and resets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST, require_safe

from accounts.models import Team, User
from accounts.permissions import Permission
from competitions.models import Phase
from competitions.selectors import phase_to_show, tracks_of
from core.errors import AddressNotFound, DomainError, TeamNotFound
from core.messages import text_of
from submissions import quota
from submissions.ledger import QuotaStatus
from web.ledger_lines import lines_of
from web.views.desk.frame import Desk, DeskTab, desk_page
from web.views.desk.quota_forms import GrantAllForm, GrantForm, QuotaFilterForm, RefundForm, ResetAllForm, ResetForm
from web.views.shared import MemberRequest, page_of

TAB = DeskTab("desk_quota", gettext_lazy("제출 횟수"))
PAGE_SIZE: Final = 50


@dataclass(frozen=True, slots=True)
class TeamLine:
    team: Team
    status: QuotaStatus


@require_safe
@desk_page(Permission.VIEW_DESK)
def quota_page(request: MemberRequest, desk: Desk) -> HttpResponse:
    phases = Phase.objects.filter(track__competition=desk.competition).select_related("track")
    form = QuotaFilterForm(request.GET, rows={"phase": phases})
    phase = form.value("phase") or _first_phase(desk)
    if not form["phase"].data and phase:
        form.data = request.GET | {"phase": str(phase.pk)}
    found = Team.objects.filter(competition=desk.competition, merged_into=None).order_by("name", "pk")
    page = page_of(request, found.filter(name__icontains=form.value("team")), PAGE_SIZE)
    known = quota.statuses(phase=phase, teams=page) if phase else {}
    context = desk.context("desk_quota") | {
        "form": form,
        "phase": phase,
        "page": page,
        "lines": [TeamLine(team, known[team.pk]) for team in page] if phase else [],
    }
    return render(request, "desk/quota.html", context)


def _first_phase(desk: Desk) -> Phase | None:
    """The phase to show of the first track that has one."""
    found = (phase_to_show(track) for track in tracks_of(desk.competition))
    return next((phase for phase in found if phase is not None), None)


@require_safe
@desk_page(Permission.VIEW_DESK)
def team_page(request: MemberRequest, desk: Desk, phase_pk: int, team_pk: int) -> HttpResponse:
    phase, team = _phase_of(desk, phase_pk), _team_of(desk, team_pk)
    return _team_page(request, desk, phase, team, _team_forms(phase, team))


@require_safe
@desk_page(Permission.MANAGE)
def everybody_page(request: MemberRequest, desk: Desk, phase_pk: int) -> HttpResponse:
    phase = _phase_of(desk, phase_pk)
    return _everybody_page(request, desk, phase, _everybody_forms(phase))


@require_POST
@desk_page(Permission.MANAGE)
def team_action(request: MemberRequest, desk: Desk, phase_pk: int, team_pk: int, action: str) -> HttpResponse:
    phase, team = _phase_of(desk, phase_pk), _team_of(desk, team_pk)
    forms_of_page = _team_forms(phase, team, **{action: request.POST})
    form = forms_of_page[action]
    if _done(request, form, lambda values: TEAM_ACTIONS[action](phase, team, values, request.user)):
        return redirect("desk_quota_team", desk.competition.slug, phase.pk, team.pk)
    return _team_page(request, desk, phase, team, forms_of_page, status=422)


@require_POST
@desk_page(Permission.MANAGE)
def everybody_action(request: MemberRequest, desk: Desk, phase_pk: int, action: str) -> HttpResponse:
    phase = _phase_of(desk, phase_pk)
    forms_of_page = _everybody_forms(phase, **{action: request.POST})
    form = forms_of_page[action]
    if _done(request, form, lambda values: EVERYBODY_ACTIONS[action](phase, values, request.user)):
        return redirect(f"{reverse('desk_quota', args=[desk.competition.slug])}?phase={phase.pk}")
    return _everybody_page(request, desk, phase, forms_of_page, status=422)


def _done(request: MemberRequest, form: forms.Form, act: Callable[[dict[str, Any]], str]) -> bool:
    """Do what a sound form asks and say so; a refusal becomes an error of the form."""
    if not form.is_valid():
        return False
    try:
        messages.success(request, act(form.cleaned_data))
    except DomainError as error:
        form.add_error(None, text_of(error))
        return False
    return True


def _team_forms(phase: Phase, team: Team, **data: Any) -> dict[str, forms.Form]:
    return {
        "grant": GrantForm(data.get("grant"), phase=phase, prefix="grant"),
        "refund": RefundForm(data.get("refund"), phase=phase, team=team, prefix="refund"),
        "reset": ResetForm(data.get("reset"), prefix="reset"),
    }


def _everybody_forms(phase: Phase, **data: Any) -> dict[str, forms.Form]:
    return {
        "grant": GrantAllForm(data.get("grant"), phase=phase, prefix="grant"),
        "reset": ResetAllForm(data.get("reset"), phase=phase, prefix="reset"),
    }


def _team_page(
    request: MemberRequest, desk: Desk, phase: Phase, team: Team, shown: dict[str, forms.Form], status: int = 200
) -> HttpResponse:
    context = desk.context("desk_quota") | {
        "phase": phase,
        "team": team,
        "quota": quota.status(phase=phase, team=team),
        "lines": lines_of(phase=phase, team=team),
        "forms": shown,
    }
    return render(request, "desk/quota_team.html", context, status=status)


def _everybody_page(
    request: MemberRequest, desk: Desk, phase: Phase, shown: dict[str, forms.Form], status: int = 200
) -> HttpResponse:
    teams = Team.objects.filter(competition=desk.competition, merged_into=None).count()
    context = desk.context("desk_quota") | {"phase": phase, "forms": shown, "team_count": teams}
    return render(request, "desk/quota_all.html", context, status=status)


def _phase_of(desk: Desk, pk: int) -> Phase:
    phases = Phase.objects.select_related("track__competition")
    phase = phases.filter(pk=pk, track__competition=desk.competition).first()
    if phase is None:
        raise AddressNotFound
    return phase


def _team_of(desk: Desk, pk: int) -> Team:
    team = Team.objects.filter(pk=pk, competition=desk.competition).first()
    if team is None:
        raise TeamNotFound
    return team


def _grant(phase: Phase, team: Team, values: dict[str, Any], actor: User) -> str:
    entry = quota.grant(
        phase=phase, team=team, slots=values["slots"], reason=values["reason"], actor=actor, day=values["day"]
    )
    text = ngettext("%(count)d회를 추가했습니다.", "%(count)d회를 추가했습니다.", entry.slots)
    return text % {"count": entry.slots}


def _refund(phase: Phase, team: Team, values: dict[str, Any], actor: User) -> str:
    if quota.refund(submission=values["submission"], reason=values["reason"], actor=actor):
        return _("제출을 환불했습니다.")
    return _("이미 환불된 제출입니다.")


def _reset(phase: Phase, team: Team, values: dict[str, Any], actor: User) -> str:
    quota.reset(phase=phase, team=team, reason=values["reason"], actor=actor)
    return _("이 팀의 제출 횟수를 초기화했습니다.")


def _grant_all(phase: Phase, values: dict[str, Any], actor: User) -> str:
    count = quota.grant_all(phase=phase, slots=values["slots"], reason=values["reason"], actor=actor, day=values["day"])
    text = ngettext("%(count)d개 팀에 제출 횟수를 추가했습니다.", "%(count)d개 팀에 제출 횟수를 추가했습니다.", count)
    return text % {"count": count}


def _reset_all(phase: Phase, values: dict[str, Any], actor: User) -> str:
    count = quota.reset_all(phase=phase, reason=values["reason"], actor=actor)
    text = ngettext(
        "%(count)d개 팀의 제출 횟수를 초기화했습니다.", "%(count)d개 팀의 제출 횟수를 초기화했습니다.", count
    )
    return text % {"count": count}


TEAM_ACTIONS: Final = {"grant": _grant, "refund": _refund, "reset": _reset}
EVERYBODY_ACTIONS: Final = {"grant": _grant_all, "reset": _reset_all}

_TEAM: Final = "quota/<int:phase_pk>/teams/<int:team_pk>/"
_ALL: Final = "quota/<int:phase_pk>/all/"
urlpatterns: list[URLPattern] = [
    path("quota/", quota_page, name="desk_quota"),
    path(_TEAM, team_page, name="desk_quota_team"),
    *(path(f"{_TEAM}{name}/", team_action, {"action": name}, name=f"desk_quota_{name}") for name in TEAM_ACTIONS),
    path(_ALL, everybody_page, name="desk_quota_all"),
    *(
        path(f"{_ALL}{name}/", everybody_action, {"action": name}, name=f"desk_quota_{name}_all")
        for name in EVERYBODY_ACTIONS
    ),
]
