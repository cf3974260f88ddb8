"""Teams: members, disqualification and reinstatement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from django.contrib import messages
from django.db.models import Count
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST, require_safe

from malpan.competitions.permissions import Permission
from malpan.core.audit_selectors import entries_about
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.teams import services
from malpan.teams.models import Membership, Team
from malpan.teams.selectors import member_of, team_by_number, teams_with_members
from malpan.web.forms.pages import ConfirmForm, DisqualifyForm, ReinstateForm, TeamForm
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.pages.context import MemberRequest

TAB = ManageTab("manage_teams", gettext_lazy("팀"))
SHOWN_HISTORY: Final = 100
Forms = Mapping[str, Form]  # by key: what came back with errors


@require_safe
@manage_page(Permission.VIEW)
def teams_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    wanted = request.GET.get("q", "").strip()
    teams = teams_with_members(access.competition, submissions_made=Count("submissions"))
    if wanted:
        teams = teams.filter(name__icontains=wanted.replace("\x00", ""))
    return render(
        request, "manage/teams.html", access.context("manage_teams") | {"teams": list(teams), "wanted": wanted}
    )


@require_safe
@manage_page(Permission.VIEW)
def team_page(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    return _team_page(request, access, team_by_number(access.competition, number), {})


def _team_page(
    request: HttpRequest, access: ManageAccess, team: Team, refused: Forms, status: int = 200
) -> HttpResponse:
    context = access.context("manage_teams") | {
        "team": team,
        "people": [_person(each, refused) for each in team.memberships.all()],
        "submissions_made": team.submissions.count(),
        "history": entries_about("teams.team", team.pk, limit=SHOWN_HISTORY),
        "merged_from": list(team.merged_from.order_by("number")),
        "rename": refused.get("rename") or TeamForm(initial={"name": team.name}, auto_id="rename-%s"),
        "disqualify": refused.get("disqualify") or _disqualify_form(team),
        "reinstate": refused.get("reinstate") or _reinstate_form(team),
    }
    return render(request, "manage/teams_one.html", context, status=status)


def _person(membership: Membership, refused: Forms) -> dict[str, Any]:
    key = membership.pk
    return {
        "membership": membership,
        "remove": refused.get(f"remove-{key}") or _remove_form(membership),
        "hand_over": refused.get(f"hand-over-{key}") or _hand_over_form(membership),
    }


def _remove_form(membership: Membership, data: Any = None) -> ConfirmForm:
    sentence = _("‘%(name)s’ 님을 팀에서 내보냅니다. 올린 파일은 팀에 남습니다.") % {"name": membership.user}
    return ConfirmForm(data, key=f"remove-{membership.pk}", sentence=sentence)


def _hand_over_form(membership: Membership, data: Any = None) -> ConfirmForm:
    sentence = _("‘%(name)s’ 님을 팀장으로 정합니다. 지금의 팀장은 팀원이 됩니다.") % {"name": membership.user}
    return ConfirmForm(data, key=f"hand-over-{membership.pk}", sentence=sentence)


def _disqualify_form(team: Team, data: Any = None) -> DisqualifyForm:
    sentence = _("‘%(name)s’ 팀은 순위표에서 빠지고 제출할 수 없게 됩니다. 아래 팀의 순위가 올라갑니다.")
    initial = {"note_ko": team.disqualification_note_ko, "note_en": team.disqualification_note_en}
    return DisqualifyForm(data, key="disqualify", sentence=sentence % {"name": team.name}, initial=initial)


def _reinstate_form(team: Team, data: Any = None) -> ReinstateForm:
    sentence = _("‘%(name)s’ 팀이 순위표에 다시 오르고 제출할 수 있게 됩니다. 공개한 사유는 지워집니다.")
    return ReinstateForm(data, key="reinstate", sentence=sentence % {"name": team.name})


def _done(request: HttpRequest, access: ManageAccess, number: int, text: str) -> HttpResponse:
    messages.success(request, text)
    return redirect("manage_team", access.competition.slug, number)


def _refuse(
    request: HttpRequest, access: ManageAccess, team: Team, key: str, form: Form, error: DomainError
) -> HttpResponse:
    """The page again, with what the service refused over its form."""
    form.add_error(None, text_of(error))
    return _team_page(request, access, team, {key: form}, status=error.http_status)


@require_POST
@manage_page(Permission.MANAGE)
def rename_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    form = TeamForm(request.POST, auto_id="rename-%s")
    if not form.is_valid():
        return _team_page(request, access, team, {"rename": form}, status=422)
    try:
        services.rename_team(team=team, name=form.cleaned_data["name"], actor=request.user)
    except DomainError as error:
        return _refuse(request, access, team, "rename", form, error)
    return _done(request, access, number, _("팀 이름을 바꾸었습니다."))


@require_POST
@manage_page(Permission.MANAGE)
def disqualify_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    form = _disqualify_form(team, request.POST)
    if not form.is_valid():
        return _team_page(request, access, team, {"disqualify": form}, status=422)
    notes = {name: form.cleaned_data[name] for name in ("note_ko", "note_en")}
    try:
        services.disqualify_team(team=team, actor=request.user, **notes)
    except DomainError as error:
        return _refuse(request, access, team, "disqualify", form, error)
    return _done(request, access, number, _("팀을 실격 처리했습니다."))


@require_POST
@manage_page(Permission.MANAGE)
def reinstate_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    form = _reinstate_form(team, request.POST)
    if not form.is_valid():
        return _team_page(request, access, team, {"reinstate": form}, status=422)
    services.reinstate_team(team=team, actor=request.user, reason=form.cleaned_data["reason"])
    return _done(request, access, number, _("실격을 취소했습니다."))


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, number: int, pk: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    membership = member_of(team, pk)
    form = _remove_form(membership, request.POST)
    if not form.is_valid():
        return _team_page(request, access, team, {f"remove-{pk}": form}, status=422)
    try:
        services.remove_member(team=team, user=membership.user, actor=request.user)
    except DomainError as error:
        messages.error(request, text_of(error))  # over the page: a leader's place has no form of its own
        return _team_page(request, access, team, {}, status=error.http_status)
    return _done(request, access, number, _("팀에서 내보냈습니다."))


@require_POST
@manage_page(Permission.MANAGE)
def hand_over_action(request: MemberRequest, access: ManageAccess, number: int, pk: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    membership = member_of(team, pk)
    form = _hand_over_form(membership, request.POST)
    if not form.is_valid():
        return _team_page(request, access, team, {f"hand-over-{pk}": form}, status=422)
    services.hand_over(team=team, to=membership.user, actor=request.user)
    return _done(request, access, number, _("팀장을 바꾸었습니다."))


urlpatterns = [
    path("teams/", teams_page, name="manage_teams"),
    path("teams/<int:number>/", team_page, name="manage_team"),
    path("teams/<int:number>/rename/", rename_action, name="manage_team_rename"),
    path("teams/<int:number>/disqualify/", disqualify_action, name="manage_team_disqualify"),
    path("teams/<int:number>/reinstate/", reinstate_action, name="manage_team_reinstate"),
    path("teams/<int:number>/members/<int:pk>/remove/", remove_action, name="manage_team_remove"),
    path("teams/<int:number>/members/<int:pk>/hand-over/", hand_over_action, name="manage_team_hand_over"),
]
