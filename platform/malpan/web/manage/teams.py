"""Teams: who is in them, disqualification and reinstatement, and the teams an organiser makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.db.models import Count
from django.forms import Form
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.permissions import Permission
from malpan.core.audit_selectors import entries_about
from malpan.submissions.models import Submission
from malpan.submissions.querysets import charged
from malpan.teams import services
from malpan.teams.errors import TeamNameInvalid, TeamNameTaken
from malpan.teams.models import Membership, Team
from malpan.teams.selectors import member_of, team_by_number, teams_with_members
from malpan.web.acting import act, posted
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.team import TeamForm
from malpan.web.forms.teams import DisqualifyForm, NewTeamForm, ReinstateForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of

SHOWN_HISTORY: Final = 100
Forms = Mapping[str, Form]  # by key: forms with errors


@require_safe
@manage_page(Permission.VIEW)
def teams_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    wanted = request.GET.get("q", "").strip()
    teams = teams_with_members(
        access.competition, submissions_made=Count("submissions", filter=charged("submissions__"))
    )
    if wanted:
        teams = teams.filter(name__icontains=wanted.replace("\x00", ""))
    context = access.context("manage_teams") | {"page": page_of(request, teams), "wanted": wanted}
    return render(request, "manage/teams.html", context)


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
        "submissions_made": Submission.objects.filter(team=team).charged().count(),
        "history": entries_about("teams.team", team.pk, limit=SHOWN_HISTORY),
        "merged_from": list(team.merged_from.order_by("number")),
        "rename": refused.get("rename")
        or TeamForm(initial={"name": team.name}, auto_id="rename-%s", is_blind=access.competition.has_blind_names),
        "disqualify": refused.get("disqualify") or _disqualify_form(team),
        "reinstate": refused.get("reinstate") or _reinstate_form(team),
        "removal": refused.get("removal") or _team_removal_form(team),
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


def _team_removal_form(team: Team, data: Any = None) -> ConfirmForm:
    sentence = _("‘%(name)s’ 팀을 지웁니다. 파일을 보낸 적이 없는 팀만 지울 수 있습니다.") % {"name": team.name}
    return ConfirmForm(data, key="remove", sentence=sentence)


def _disqualify_form(team: Team, data: Any = None) -> DisqualifyForm:
    sentence = _("‘%(name)s’ 팀은 순위표에서 빠지고 제출할 수 없게 됩니다. 아래 팀의 순위가 올라갑니다.")
    initial = {"note_ko": team.disqualification_note_ko, "note_en": team.disqualification_note_en}
    return DisqualifyForm(data, key="disqualify", sentence=sentence % {"name": team.name}, initial=initial)


def _reinstate_form(team: Team, data: Any = None) -> ReinstateForm:
    sentence = _("‘%(name)s’ 팀이 순위표에 다시 오르고 제출할 수 있게 됩니다. 공개한 사유는 지워집니다.")
    return ReinstateForm(data, key="reinstate", sentence=sentence % {"name": team.name})


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Make a team for somebody, such as one that submits the baseline."""
    form = NewTeamForm(posted(request), is_blind=access.competition.has_blind_names)
    if not form.is_bound:
        return _new_page(request, access, form)
    return act(
        request,
        lambda values: services.create_team_for(competition=access.competition, actor=request.user, **values),
        form=form,
        success=_("팀을 만들었습니다."),
        to=lambda team: access.url("manage_team", team.number),
        render_again=lambda status: _new_page(request, access, form, status),
        error_field=lambda error: "name" if isinstance(error, TeamNameInvalid | TeamNameTaken) else "email",
    )


def _new_page(request: MemberRequest, access: ManageAccess, form: NewTeamForm, status: int = 200) -> HttpResponse:
    return render(request, "manage/teams_new.html", access.context("manage_teams") | {"form": form}, status=status)


def _act_on(
    request: MemberRequest,
    access: ManageAccess,
    team: Team,
    key: str,
    form: Form,
    do: Callable[[Any], Any],
    success: str,
) -> HttpResponse:
    """An organiser's action on ``team``; the page shows a refused ``form`` in place of ``key``."""
    return act(
        request,
        do,
        form=form,
        success=success,
        to=access.url("manage_team", team.number),
        render_again=lambda status: _team_page(request, access, team, {key: form}, status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def rename_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    form = TeamForm(request.POST, auto_id="rename-%s", is_blind=access.competition.has_blind_names)

    def do(values: dict[str, Any]) -> Team:
        return services.rename_team(team=team, name=values["name"], actor=request.user)

    return _act_on(request, access, team, "rename", form, do, _("팀 이름을 바꾸었습니다."))


@require_POST
@manage_page(Permission.MANAGE)
def baseline_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    """Make the team a baseline, or a competing one."""
    team, is_baseline = team_by_number(access.competition, number), request.POST.get("baseline") == "1"
    return act(
        request,
        lambda _values: services.mark_baseline(team=team, is_baseline=is_baseline, actor=request.user),
        success=_("기준 모델의 팀으로 정했습니다.") if is_baseline else _("순위를 겨루는 팀으로 정했습니다."),
        to=access.url("manage_team", number),
    )


@require_POST
@manage_page(Permission.MANAGE)
def program_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    """Say that a program takes part as this team, or that people do."""
    team, is_program = team_by_number(access.competition, number), request.POST.get("program") == "1"
    return act(
        request,
        lambda _values: services.mark_program(team=team, is_program=is_program, actor=request.user),
        success=_("프로그램의 팀으로 정했습니다.") if is_program else _("사람의 팀으로 정했습니다."),
        to=access.url("manage_team", number),
    )


@require_POST
@manage_page(Permission.MANAGE)
def disqualify_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    form = _disqualify_form(team, request.POST)

    def do(values: dict[str, Any]) -> Team:
        notes = {name: values[name] for name in ("note_ko", "note_en")}
        return services.disqualify_team(team=team, actor=request.user, **notes)

    return _act_on(request, access, team, "disqualify", form, do, _("팀을 실격 처리했습니다."))


@require_POST
@manage_page(Permission.MANAGE)
def reinstate_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    form = _reinstate_form(team, request.POST)

    def do(values: dict[str, Any]) -> Team:
        return services.reinstate_team(team=team, actor=request.user, reason=values["reason"])

    return _act_on(request, access, team, "reinstate", form, do, _("실격을 취소했습니다."))


@require_POST
@manage_page(Permission.MANAGE)
def remove_action(request: MemberRequest, access: ManageAccess, number: int) -> HttpResponse:
    """Delete a team without submissions."""
    team = team_by_number(access.competition, number)
    form = _team_removal_form(team, request.POST)
    return act(
        request,
        lambda _values: services.remove_team(team=team, actor=request.user),
        form=form,
        success=_("팀을 지웠습니다."),
        to=access.url("manage_teams"),
        render_again=lambda status: _team_page(request, access, team, {"removal": form}, status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def remove_member_action(request: MemberRequest, access: ManageAccess, number: int, pk: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    membership = member_of(team, pk)
    form = _remove_form(membership, request.POST)

    return act(
        request,
        lambda _values: services.remove_member(team=team, user=membership.user, actor=request.user),
        form=form,
        success=_("팀에서 내보냈습니다."),
        to=access.url("manage_team", number),
        render_again=lambda status: _team_page(request, access, team, {f"remove-{pk}": form}, status),
        refused_above=True,  # the page has no form to remove a leader
    )


@require_POST
@manage_page(Permission.MANAGE)
def hand_over_action(request: MemberRequest, access: ManageAccess, number: int, pk: int) -> HttpResponse:
    team = team_by_number(access.competition, number)
    membership = member_of(team, pk)
    form = _hand_over_form(membership, request.POST)

    def do(_values: dict[str, Any]) -> None:
        services.hand_over(team=team, to=membership.user, actor=request.user)

    return _act_on(request, access, team, f"hand-over-{pk}", form, do, _("팀장을 바꾸었습니다."))


urlpatterns = [
    path("teams/", teams_page, name="manage_teams"),
    path("teams/new/", new_page, name="manage_team_new"),
    path("teams/<int:number>/", team_page, name="manage_team"),
    path("teams/<int:number>/rename/", rename_action, name="manage_team_rename"),
    path("teams/<int:number>/baseline/", baseline_action, name="manage_team_baseline"),
    path("teams/<int:number>/program/", program_action, name="manage_team_program"),
    path("teams/<int:number>/disqualify/", disqualify_action, name="manage_team_disqualify"),
    path("teams/<int:number>/reinstate/", reinstate_action, name="manage_team_reinstate"),
    path("teams/<int:number>/remove/", remove_action, name="manage_team_remove"),
    path("teams/<int:number>/members/<int:pk>/remove/", remove_member_action, name="manage_team_remove_member"),
    path("teams/<int:number>/members/<int:pk>/hand-over/", hand_over_action, name="manage_team_hand_over"),
]
