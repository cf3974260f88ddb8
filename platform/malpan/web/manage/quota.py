"""What each team has left, its ledger, grants, refunds and resets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import phase_of, phase_to_show, phases_of, tracks_of
from malpan.submissions.quota import services as quota
from malpan.submissions.quota.ledger import QuotaStatus
from malpan.teams.errors import TeamNotFound
from malpan.teams.models import Team
from malpan.web.acting import act
from malpan.web.forms.quota import GrantAllForm, GrantForm, QuotaFilterForm, RefundForm, ResetAllForm, ResetForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters.quota_history import lines_of

PAGE_SIZE: Final = 50


@dataclass(frozen=True, slots=True)
class TeamLine:
    team: Team
    status: QuotaStatus


@require_safe
@manage_page(Permission.VIEW)
def quota_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = QuotaFilterForm(request.GET, rows={"phase": phases_of(access.competition)})
    phase = form.value("phase") or _first_phase(access)
    if not form["phase"].data and phase:
        form.data = request.GET | {"phase": str(phase.pk)}
    found = Team.objects.filter(competition=access.competition, merged_into=None).order_by("name", "pk")
    page = page_of(request, found.filter(name__icontains=form.value("team")), PAGE_SIZE)
    known = quota.statuses(phase=phase, teams=page) if phase else {}
    context = access.context("manage_quota") | {
        "form": form,
        "phase": phase,
        "page": page,
        "lines": [TeamLine(team, known[team.pk]) for team in page] if phase else [],
    }
    return render(request, "manage/quota.html", context)


def _first_phase(access: ManageAccess) -> Phase | None:
    """The phase to show of the first track that has one."""
    found = (phase_to_show(track) for track in tracks_of(access.competition))
    return next((phase for phase in found if phase is not None), None)


@require_safe
@manage_page(Permission.VIEW)
def team_page(request: MemberRequest, access: ManageAccess, phase_pk: int, team_pk: int) -> HttpResponse:
    phase, team = phase_of(access.competition, phase_pk), _team_of(access, team_pk)
    return _team_page(request, access, phase, team, _team_forms(phase, team))


@require_safe
@manage_page(Permission.MANAGE)
def everybody_page(request: MemberRequest, access: ManageAccess, phase_pk: int) -> HttpResponse:
    phase = phase_of(access.competition, phase_pk)
    return _everybody_page(request, access, phase, _everybody_forms(phase))


@require_POST
@manage_page(Permission.MANAGE)
def team_action(request: MemberRequest, access: ManageAccess, phase_pk: int, team_pk: int, action: str) -> HttpResponse:
    phase, team = phase_of(access.competition, phase_pk), _team_of(access, team_pk)
    forms_of_page = _team_forms(phase, team, **{action: request.POST})
    return act(
        request,
        lambda values: TEAM_ACTIONS[action](phase, team, values, request.user),
        form=forms_of_page[action],
        success=str,
        to=access.url("manage_quota_team", phase.pk, team.pk),
        render_again=lambda status: _team_page(request, access, phase, team, forms_of_page, status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def everybody_action(request: MemberRequest, access: ManageAccess, phase_pk: int, action: str) -> HttpResponse:
    phase = phase_of(access.competition, phase_pk)
    forms_of_page = _everybody_forms(phase, **{action: request.POST})
    return act(
        request,
        lambda values: EVERYBODY_ACTIONS[action](phase, values, request.user),
        form=forms_of_page[action],
        success=str,
        to=f"{access.url('manage_quota')}?phase={phase.pk}",
        render_again=lambda status: _everybody_page(request, access, phase, forms_of_page, status),
    )


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
    request: MemberRequest,
    access: ManageAccess,
    phase: Phase,
    team: Team,
    shown: dict[str, forms.Form],
    status: int = 200,
) -> HttpResponse:
    context = access.context("manage_quota") | {
        "phase": phase,
        "team": team,
        "quota": quota.status(phase=phase, team=team),
        "lines": lines_of(phase=phase, team=team, for_organisers=True),
        "forms": shown,
    }
    return render(request, "manage/quota_team.html", context, status=status)


def _everybody_page(
    request: MemberRequest, access: ManageAccess, phase: Phase, shown: dict[str, forms.Form], status: int = 200
) -> HttpResponse:
    teams = Team.objects.filter(competition=access.competition, merged_into=None).count()
    context = access.context("manage_quota") | {"phase": phase, "forms": shown, "team_count": teams}
    return render(request, "manage/quota_all.html", context, status=status)


def _team_of(access: ManageAccess, pk: int) -> Team:
    team = Team.objects.filter(pk=pk, competition=access.competition).first()
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
    path("quota/", quota_page, name="manage_quota"),
    path(_TEAM, team_page, name="manage_quota_team"),
    *(path(f"{_TEAM}{name}/", team_action, {"action": name}, name=f"manage_quota_{name}") for name in TEAM_ACTIONS),
    path(_ALL, everybody_page, name="manage_quota_all"),
    *(
        path(f"{_ALL}{name}/", everybody_action, {"action": name}, name=f"manage_quota_{name}_all")
        for name in EVERYBODY_ACTIONS
    ),
]
