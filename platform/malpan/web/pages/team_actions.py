"""The actions in a team: invite, leave, hand over, remove, merge. Always for the viewer's own team."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any
from urllib.parse import urlencode, urljoin

from django.conf import settings
from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from malpan.competitions.errors import TermsNotAccepted
from malpan.competitions.terms import require_accepted
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.submissions.merging import accept_merge
from malpan.teams import merging, selectors
from malpan.teams.errors import NotTeamMember, TeamNameInvalid, TeamNameTaken
from malpan.teams.invitations import create_invitation, invite_by_email, revoke_invitation
from malpan.teams.models import Team
from malpan.teams.services import (
    create_team,
    describe_model,
    hand_over,
    leave_team,
    mark_program,
    remove_member,
    rename_team,
)
from malpan.web.acting import act
from malpan.web.forms.team import InviteForm, TeamForm, TeamModelForm
from malpan.web.pages import team as team_page
from malpan.web.pages.context import MemberRequest, PageContext, members_only, page_context
from malpan.web.pages.terms import lead_to_terms

TeamAction = Callable[..., HttpResponse]


def _team_action(view: TeamAction) -> Callable[..., HttpResponse]:
    """A POST of a member of a team: the view gets the page's context and the team. Raises ``NotTeamMember``.

    A refusal of a service becomes a message on the team page.
    """

    @wraps(view)
    def guarded(request: MemberRequest, slug: str, **kwargs: Any) -> HttpResponse:
        page = page_context(request, slug)
        if page.team is None:
            raise NotTeamMember
        try:
            return view(request, page, page.team, **kwargs)
        except DomainError as error:
            messages.error(request, text_of(error))
            return redirect("team", slug)

    return require_POST(members_only(guarded))


def _act(
    request: HttpRequest,
    page: PageContext,
    do: Callable[[dict[str, Any]], Any],
    success: str,
    *,
    form: BaseForm | None = None,
    key: str = "",
) -> HttpResponse:
    """``act`` on the team page: an invalid form is shown again in place of ``key``."""
    return act(
        request,
        do,
        form=form,
        success=success,
        to=reverse("team", args=[page.competition.slug]),
        render_again=lambda status: team_page.render_team(request, page, {key: form} if form else {}, status=status),
        refused_above=True,
    )


@require_POST
@members_only
def create_action(request: MemberRequest, slug: str) -> HttpResponse:
    """Make a team led by the viewer; a refused name is reported at its field."""
    page = page_context(request, slug)
    form = TeamForm(request.POST, is_blind=page.competition.has_blind_names)
    try:
        require_accepted(request.user, page.competition)
    except TermsNotAccepted:
        back = f"{reverse('team', args=[slug])}?{urlencode({'name': request.POST.get('name', '')})}"  # not typed twice
        return lead_to_terms(request, page.competition, back=back)
    return act(
        request,
        lambda values: create_team(competition=page.competition, name=values["name"], leader=request.user),
        form=form,
        success=_("팀을 만들었습니다. 이제 파일을 제출하고 팀원을 초대할 수 있습니다."),
        to=reverse("team", args=[slug]),
        render_again=lambda status: team_page.render_team(request, page, {"create": form}, status=status),
        error_field="name",
    )


@_team_action
def rename_action(request: MemberRequest, page: PageContext, team: Team) -> HttpResponse:
    """Give the team another name; a refused one is reported at its field."""
    form = TeamForm(request.POST, auto_id="rename-%s", is_blind=page.competition.has_blind_names)
    return act(
        request,
        lambda values: rename_team(team=team, name=values["name"], actor=request.user),
        form=form,
        success=_("팀 이름을 바꾸었습니다."),
        to=reverse("team", args=[page.competition.slug]),
        render_again=lambda status: team_page.render_team(request, page, {"rename": form}, status=status),
        error_field=lambda error: "name" if isinstance(error, TeamNameInvalid | TeamNameTaken) else None,
    )


@_team_action
def model_action(request: MemberRequest, page: PageContext, team: Team) -> HttpResponse:
    """Set what boards say of the team's model."""
    form = TeamModelForm(request.POST, instance=team, auto_id="model-%s")
    success = _("모델 정보를 저장했습니다.")
    return _act(
        request,
        page,
        lambda values: describe_model(team=team, actor=request.user, **values),
        success,
        form=form,
        key="model",
    )


@_team_action
def program_action(request: MemberRequest, page: PageContext, team: Team) -> HttpResponse:
    """Say that a program takes part, or that people do."""
    is_program = request.POST.get("program") == "1"
    mark_program(team=team, is_program=is_program, actor=request.user)
    messages.success(request, _("프로그램의 팀으로 정했습니다.") if is_program else _("사람의 팀으로 정했습니다."))
    return redirect("team", page.competition.slug)


@_team_action
def invite_action(request: MemberRequest, page: PageContext, team: Team) -> HttpResponse:
    """Make an invitation and pass its link to the team page, which shows it once."""
    _invitation, token = create_invitation(team=team, actor=request.user)
    messages.success(request, _link(token), extra_tags="invitation")
    return redirect("team", page.competition.slug)


@_team_action
def invite_email_action(request: MemberRequest, page: PageContext, team: Team) -> HttpResponse:
    """Mail an invitation; a refused address is reported at its field."""
    form = InviteForm(request.POST, auto_id="invite-%s")
    text = _("%(email)s 주소로 초대 메일을 보냈습니다.")

    def do(values: dict[str, Any]) -> None:
        email = values["email"]
        invite_by_email(team=team, actor=request.user, email=email, link_for=_link)
        messages.success(request, text % {"email": email})

    return _act(request, page, do, "", form=form, key="invite")


def _link(token: str) -> str:
    return urljoin(settings.SITE_URL, reverse("invitation", args=[token]))


@_team_action
def revoke_action(request: MemberRequest, page: PageContext, team: Team, pk: int) -> HttpResponse:
    revoke_invitation(invitation=selectors.invitation_of(team, pk), actor=request.user)
    messages.success(request, _("초대를 취소했습니다. 그 링크는 이제 쓸 수 없습니다."))
    return redirect("team", page.competition.slug)


@_team_action
def leave_action(request: MemberRequest, page: PageContext, team: Team) -> HttpResponse:
    form = team_page.leave_form(team, request.POST, is_alone=team.memberships.count() == 1)
    success = _("‘%(name)s’ 팀에서 나왔습니다.") % {"name": team.name}
    return _act(
        request, page, lambda _values: leave_team(team=team, user=request.user), success, form=form, key="leave"
    )


@_team_action
def hand_over_action(request: MemberRequest, page: PageContext, team: Team, pk: int) -> HttpResponse:
    membership = selectors.member_of(team, pk)
    form = team_page.hand_over_form(membership, request.POST)
    success = _("‘%(name)s’ 님이 팀장이 되었습니다.") % {"name": membership.user}
    return _act(
        request,
        page,
        lambda _values: hand_over(team=team, to=membership.user, actor=request.user),
        success,
        form=form,
        key=f"hand-over-{pk}",
    )


@_team_action
def remove_action(request: MemberRequest, page: PageContext, team: Team, pk: int) -> HttpResponse:
    membership = selectors.member_of(team, pk)
    form = team_page.remove_form(membership, request.POST)
    success = _("‘%(name)s’ 님을 팀에서 내보냈습니다.") % {"name": membership.user}
    return _act(
        request,
        page,
        lambda _values: remove_member(team=team, user=membership.user, actor=request.user),
        success,
        form=form,
        key=f"remove-{pk}",
    )


@_team_action
def merge_ask_action(request: MemberRequest, page: PageContext, team: Team) -> HttpResponse:
    """Ask the team with exactly this name; its leader answers."""
    target = selectors.team_named(page.competition, request.POST.get("target", ""))
    merging.ask_merge(source=team, target=target, actor=request.user)
    messages.success(request, _("‘%(name)s’ 팀에 합치기를 요청했습니다.") % {"name": target.name})
    return redirect("team", page.competition.slug)


@_team_action
def merge_withdraw_action(request: MemberRequest, page: PageContext, team: Team, pk: int) -> HttpResponse:
    merging.withdraw_merge(request=selectors.merge_request_of(team, pk), actor=request.user)
    messages.success(request, _("합치기 요청을 취소했습니다."))
    return redirect("team", page.competition.slug)


@_team_action
def merge_decline_action(request: MemberRequest, page: PageContext, team: Team, pk: int) -> HttpResponse:
    merging.decline_merge(request=selectors.merge_request_of(team, pk), actor=request.user)
    messages.success(request, _("합치기 요청을 거절했습니다."))
    return redirect("team", page.competition.slug)


@_team_action
def merge_accept_action(request: MemberRequest, page: PageContext, team: Team, pk: int) -> HttpResponse:
    offer = selectors.merge_request_of(team, pk)
    form = team_page.accept_form(offer, request.POST)
    success = _("‘%(name)s’ 팀과 합쳤습니다.") % {"name": offer.source.name}
    return _act(
        request,
        page,
        lambda _values: accept_merge(request=offer, actor=request.user),
        success,
        form=form,
        key=f"accept-{pk}",
    )


urlpatterns = [
    path("create/", create_action, name="team_create"),
    path("rename/", rename_action, name="team_rename"),
    path("model/", model_action, name="team_model"),
    path("program/", program_action, name="team_program"),
    path("invite/", invite_action, name="team_invite"),
    path("invite/email/", invite_email_action, name="team_invite_email"),
    path("invitations/<int:pk>/revoke/", revoke_action, name="team_invitation_revoke"),
    path("leave/", leave_action, name="team_leave"),
    path("members/<int:pk>/hand-over/", hand_over_action, name="team_hand_over"),
    path("members/<int:pk>/remove/", remove_action, name="team_remove"),
    path("merge/ask/", merge_ask_action, name="team_merge_ask"),
    path("merge/<int:pk>/withdraw/", merge_withdraw_action, name="team_merge_withdraw"),
    path("merge/<int:pk>/decline/", merge_decline_action, name="team_merge_decline"),
    path("merge/<int:pk>/accept/", merge_accept_action, name="team_merge_accept"),
]
