"""팀: make one, see who is in it, invite, and join by a link."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Membership
from accounts.selectors import invitation_by_token, members_of, membership_of, team_of
from accounts.services import create_invitation, create_team, join_team
from core.errors import DomainError, NotTeamMember
from core.messages import text_of
from web.forms import TeamForm
from web.views.shared import MemberRequest, members_only, visit


@require_safe
@never_cache
def team_page(request: HttpRequest, slug: str) -> HttpResponse:
    return _team_page(request, slug, TeamForm())


def _team_page(request: HttpRequest, slug: str, form: TeamForm, status: int = 200) -> HttpResponse:
    seen = visit(request, slug)
    own = membership_of(request.user, seen.team) if seen.team else None
    context = seen.context("team") | {
        "form": form,
        "members": list(members_of(seen.team)) if seen.team else [],
        "is_leader": own is not None and own.role == Membership.Role.LEADER,
    }
    return render(request, "teams/team.html", context, status=status)


@require_POST
@members_only
def create_action(request: MemberRequest, slug: str) -> HttpResponse:
    """Make a team led by the viewer; a refused name comes back beside its field."""
    seen = visit(request, slug)
    form = TeamForm(request.POST)
    if not form.is_valid():
        return _team_page(request, slug, form, status=422)
    try:
        create_team(competition=seen.competition, name=form.cleaned_data["name"], leader=request.user)
    except DomainError as error:
        form.add_error("name", text_of(error))
        return _team_page(request, slug, form, status=error.http_status)
    messages.success(request, _("팀을 만들었습니다. 이제 파일을 제출하고 팀원을 초대할 수 있습니다."))
    return redirect("team", slug)


@require_POST
@members_only
def invite_action(request: MemberRequest, slug: str) -> HttpResponse:
    """Make an invitation and carry its link to the team page, which shows it once."""
    seen = visit(request, slug)
    if seen.team is None:
        raise NotTeamMember
    try:
        _invitation, token = create_invitation(team=seen.team, actor=request.user)
    except DomainError as error:
        messages.error(request, text_of(error))
    else:
        link = request.build_absolute_uri(reverse("invitation", args=[token]))
        messages.success(request, link, extra_tags="invitation")
    return redirect("team", slug)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show whose invitation it is; a POST joins the team. Raises ``InvitationNotFound``."""
    invitation = invitation_by_token(token)
    if request.method == "POST":
        return _join(request, token)
    competition = invitation.team.competition
    context = {
        "invitation": invitation,
        "competition": competition,
        "own_team": team_of(request.user, competition),
        "is_used": invitation.used_at is not None,
        "is_expired": invitation.expires_at <= timezone.now(),
    }
    return render(request, "teams/invitation.html", context)


@members_only
def _join(request: MemberRequest, token: str) -> HttpResponse:
    try:
        membership = join_team(token=token, user=request.user)
    except DomainError as error:
        messages.error(request, text_of(error))
        return redirect("invitation", token)
    messages.success(request, _("‘%(team)s’ 팀에 들어갔습니다.") % {"team": membership.team.name})
    return redirect("team", membership.competition.slug)
