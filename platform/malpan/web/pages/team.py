"""팀: make one, see who is in it, and join by an invitation. What people do in their team is in ``team_actions``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.forms import BaseForm
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from malpan.competitions.errors import TermsNotAccepted
from malpan.competitions.selectors import is_blind
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.stages.awarded import awards_of_team
from malpan.stages.placings import placings_of
from malpan.teams import selectors
from malpan.teams.errors import InvitationForAnother
from malpan.teams.invitations import join_team, masked, obstacle_to
from malpan.teams.models import Invitation, Membership, MergeRequest, Team
from malpan.teams.naming import TEAM_NAME_MAX_CHARS, public_note
from malpan.teams.selectors import invitation_by_token, members_of, team_of
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.team import InviteForm, MergeSearchForm, TeamForm, TeamModelForm
from malpan.web.pages.context import MemberRequest, PageContext, members_only, page_context
from malpan.web.pages.terms import lead_to_terms

Forms = Mapping[str, BaseForm]  # by key: forms with errors, which replace new ones


@dataclass(frozen=True, slots=True)
class Person:
    """A member on the page; the leader gets forms for the others."""

    membership: Membership
    is_self: bool
    hand_over: BaseForm | None
    remove: BaseForm | None


@require_safe
@never_cache
def team_page(request: HttpRequest, slug: str) -> HttpResponse:
    return render_team(request, page_context(request, slug))


def render_team(request: HttpRequest, page: PageContext, forms: Forms | None = None, status: int = 200) -> HttpResponse:
    """The team page; ``forms`` are those with errors."""
    refused = forms or {}
    context = page.context("team") | {
        "form": refused.get("create")
        or TeamForm(
            initial={"name": request.GET.get("name", "")[:TEAM_NAME_MAX_CHARS]},
            is_blind=page.competition.has_blind_names,
        )
    }
    if page.team is not None:
        context |= _own_team(request, page, page.team, refused)
    return render(request, "pages/team.html", context, status=status)


def _own_team(request: HttpRequest, page: PageContext, team: Team, refused: Forms) -> dict[str, Any]:
    members = list(members_of(team))
    own = next((each for each in members if each.user_id == request.user.pk), None)
    is_leader = own is not None and own.role == Membership.Role.LEADER
    ended_at = selectors.last_end(page.competition)
    context: dict[str, Any] = {
        "people": [_person(each, own, is_leader, refused) for each in members],
        "is_leader": is_leader,
        "owner": next((each.user for each in members if each.role == Membership.Role.LEADER), ""),
        "stays_program": team.is_program and team.submissions.exists(),
        "is_over": ended_at is not None and ended_at <= timezone.now(),
        "submits_next": any(phase.is_open() for track in page.tracks for phase in track.phases.all())
        and team.disqualified_at is None
        and not team.submissions.exists(),
        "is_disqualified": team.disqualified_at is not None,
        "note": public_note(team),
        "leave": refused.get("leave") or leave_form(team, is_alone=len(members) == 1),
        "is_blind": is_blind(page.competition),
        "has_certificate": bool(placings_of(team)),
        "awards": list(awards_of_team(team)),
    }
    return context | (_leaders_part(request, page, team, refused) if is_leader else {})


def _leaders_part(request: HttpRequest, page: PageContext, team: Team, refused: Forms) -> dict[str, Any]:
    """What the leader sees: open invitations, and merging."""
    wanted = request.GET.get("merge", "")
    exactly = is_blind(page.competition)
    return {
        "rename": refused.get("rename")
        or TeamForm(initial={"name": team.name}, auto_id="rename-%s", is_blind=page.competition.has_blind_names),
        "model": refused.get("model") or TeamModelForm(instance=team, auto_id="model-%s"),
        "is_name_final": selectors.has_final_board(page.competition),
        "invite": refused.get("invite") or InviteForm(auto_id="invite-%s"),
        "invitations": list(selectors.open_invitations(team)),
        "merge_search": MergeSearchForm(initial={"merge": wanted}, auto_id="search-%s"),
        "merge_wanted": wanted,
        "merge_found": selectors.teams_to_merge_with(team, wanted, exactly=exactly),
        "merge_asked": selectors.merge_asked(team),
        "merges_offered": [
            (offer, refused.get(f"accept-{offer.pk}") or accept_form(offer)) for offer in selectors.merges_offered(team)
        ],
    }


def _person(membership: Membership, own: Membership | None, is_leader: bool, refused: Forms) -> Person:
    is_self = own is not None and membership.pk == own.pk
    if is_self or not is_leader:
        return Person(membership, is_self, None, None)
    return Person(
        membership,
        is_self,
        refused.get(f"hand-over-{membership.pk}") or hand_over_form(membership),
        refused.get(f"remove-{membership.pk}") or remove_form(membership),
    )


def hand_over_form(membership: Membership, data: Any = None) -> ConfirmForm:
    sentence = _("‘%(name)s’ 님에게 팀장을 넘깁니다. 나는 팀원이 됩니다.") % {"name": membership.user}
    return ConfirmForm(data, key=f"hand-over-{membership.pk}", sentence=sentence)


def remove_form(membership: Membership, data: Any = None) -> ConfirmForm:
    sentence = _("‘%(name)s’ 님을 팀에서 내보냅니다. 올린 파일은 팀에 남습니다.") % {"name": membership.user}
    return ConfirmForm(data, key=f"remove-{membership.pk}", sentence=sentence)


def leave_form(team: Team, data: Any = None, *, is_alone: bool) -> ConfirmForm:
    alone = _("팀에 나 혼자이므로 나가면 ‘%(name)s’ 팀이 없어집니다.")
    others = _("‘%(name)s’ 팀에서 나갑니다. 올린 파일은 팀에 남고, 다시 들어오려면 초대를 받아야 합니다.")
    return ConfirmForm(data, key="leave", sentence=(alone if is_alone else others) % {"name": team.name})


def accept_form(offer: MergeRequest, data: Any = None) -> ConfirmForm:
    sentence = _(
        "‘%(name)s’ 팀의 구성원과 진행 중인 단계의 제출이 우리 팀으로 옮겨지고, 제출 횟수가 합쳐집니다. "
        "되돌릴 수 없습니다."
    ) % {"name": offer.source.name}
    return ConfirmForm(data, key=f"accept-{offer.pk}", sentence=sentence)


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def invitation_page(request: HttpRequest, token: str) -> HttpResponse:
    """Show whose invitation it is; a POST joins the team. Raises ``InvitationNotFound``."""
    invitation = invitation_by_token(token)
    if request.method == "POST":
        return _join(request, invitation, token)
    competition = invitation.team.competition
    user = request.user if request.user.is_authenticated else None
    own_team, obstacle = team_of(request.user, competition), obstacle_to(invitation=invitation, user=user)
    context = {
        "title": _("팀 초대"),
        "invitation": invitation,
        "competition": competition,
        "is_own": own_team is not None and own_team.pk == invitation.team_id,
        "obstacle": obstacle and text_of(obstacle),
        "addressee": masked(invitation.email) if invitation.email else "",
        "is_for_another": isinstance(obstacle, InvitationForAnother),
    }
    return render(request, "pages/team_invitation.html", context)


@members_only
def _join(request: MemberRequest, invitation: Invitation, token: str) -> HttpResponse:
    try:
        membership = join_team(token=token, user=request.user)
    except TermsNotAccepted:
        return lead_to_terms(request, invitation.team.competition, back=request.path)
    except DomainError as error:
        messages.error(request, text_of(error))
        return redirect("invitation", token)
    messages.success(request, _("‘%(team)s’ 팀에 들어갔습니다.") % {"team": membership.team.name})
    return redirect("team", membership.competition.slug)
