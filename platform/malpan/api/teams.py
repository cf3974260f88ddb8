"""The caller's team in a competition: members, invitations, merging."""

from __future__ import annotations

from typing import Annotated, Any, Final
from urllib.parse import urljoin

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_noop as _
from pydantic import AfterValidator, Field

from malpan.accounts.models import Scope
from malpan.api.frame import ApiRequest, Operations
from malpan.api.reading import require_team, visible_competition
from malpan.api.schemas import teams as shown
from malpan.api.schemas.kinds import Body, Text
from malpan.core.text import has_unseen, one_line
from malpan.submissions.merging import accept_merge
from malpan.teams import invitations, merging, selectors, services
from malpan.teams.models import Team

operations = Operations(_("팀"))
TEAM = "/competitions/{slug:slug}/team"
_is_web_address: Final = URLValidator(schemes=("http", "https"))


class TeamName(Body):
    name: Text
    is_program: bool | None = None  # who takes part is one, whose owner is the leader


def _seen(text: str) -> str:
    if has_unseen(text):
        raise ValueError(gettext("눈에 보이지 않는 글자가 있습니다. 지우고 다시 저장해 주십시오."))
    return one_line(text)


def _web_address(text: str) -> str:
    try:
        _is_web_address(text) if text else None
    except ValidationError:
        raise ValueError(gettext("https://로 시작하는 주소를 입력해 주십시오.")) from None
    return text


Shown = Annotated[Text, AfterValidator(_seen)]
WebAddress = Annotated[Text, Field(max_length=300), AfterValidator(_web_address)]


class ModelFacts(Body):
    """What is not sent stays; an empty text takes it from the board."""

    name: Annotated[Shown, Field(max_length=80)] | None = None
    size: Annotated[Shown, Field(max_length=40)] | None = None
    url: WebAddress | None = None
    paper: WebAddress | None = None


class MailAddress(Body):
    email: Text


def _own(request: ApiRequest, slug: str) -> Team:
    return require_team(request.auth.person, visible_competition(request.auth.user, slug))


def _shown(request: ApiRequest, slug: str) -> dict[str, Any]:
    team = selectors.team_of(request.auth.user, visible_competition(request.auth.user, slug))
    return {"team": team and shown.team(team)}


@operations.get(f"{TEAM}/", "getTeam", _("내 팀"), shown.OwnTeam)
def own_team(request: ApiRequest, slug: str) -> Any:
    return _shown(request, slug)


@operations.post(f"{TEAM}/", "createTeam", _("팀 만들기"), shown.OwnTeam, status=201, scope=Scope.SUBMIT)
def create(request: ApiRequest, slug: str, data: TeamName) -> Any:
    competition = visible_competition(request.auth.user, slug)
    services.create_team(
        competition=competition, name=data.name, leader=request.auth.person, is_program=bool(data.is_program)
    )
    return _shown(request, slug)


@operations.patch(
    f"{TEAM}/",
    "renameTeam",
    _("팀 이름 바꾸기, 프로그램의 팀으로 정하기(팀장)"),
    shown.OwnTeam,
    scope=Scope.SUBMIT,
    says=_("프로그램의 팀은 순위표에 그렇게 표시되고, 첫 제출 뒤에는 되돌릴 수 없습니다. 제한은 다른 팀과 같습니다."),
)
def rename(request: ApiRequest, slug: str, data: TeamName) -> Any:
    team = _own(request, slug)
    with transaction.atomic():  # both or neither
        if data.is_program is None or data.name != team.name:
            services.rename_team(team=team, name=data.name, actor=request.auth.person)
        if data.is_program is not None:
            services.mark_program(team=team, is_program=data.is_program, actor=request.auth.person)
    return _shown(request, slug)


@operations.patch(
    f"{TEAM}/model/",
    "describeModel",
    _("우리 모델 소개(팀장)"),
    shown.OwnTeam,
    scope=Scope.SUBMIT,
    says=_("순위표의 팀 이름 아래에 보입니다. 팀 이름을 가리는 동안에는 보이지 않습니다."),
)
def describe_model(request: ApiRequest, slug: str, data: ModelFacts) -> Any:
    team = _own(request, slug)
    present = {"name": team.model_name, "size": team.model_size, "url": team.model_url, "paper": team.paper_url}
    facts = present | data.given()
    services.describe_model(
        team=team,
        actor=request.auth.person,
        model_name=facts["name"],
        model_size=facts["size"],
        model_url=facts["url"],
        paper_url=facts["paper"],
    )
    return _shown(request, slug)


@operations.post(f"{TEAM}/leave/", "leaveTeam", _("팀에서 나가기"), scope=Scope.SUBMIT)
def leave(request: ApiRequest, slug: str) -> Any:
    services.leave_team(team=_own(request, slug), user=request.auth.person)


@operations.delete(
    f"{TEAM}/members/{{int:pk}}/", "removeMember", _("팀원 내보내기(팀장)"), shown.OwnTeam, scope=Scope.SUBMIT
)
def remove_member(request: ApiRequest, slug: str, pk: int) -> Any:
    team = _own(request, slug)
    services.remove_member(team=team, user=selectors.member_of(team, pk).user, actor=request.auth.person)
    return _shown(request, slug)


@operations.post(
    f"{TEAM}/members/{{int:pk}}/hand-over/", "handOverTeam", _("팀장 넘기기(팀장)"), shown.OwnTeam, scope=Scope.SUBMIT
)
def hand_over(request: ApiRequest, slug: str, pk: int) -> Any:
    team = _own(request, slug)
    services.hand_over(team=team, to=selectors.member_of(team, pk).user, actor=request.auth.person)
    return _shown(request, slug)


# --- invitations ------------------------------------------------------------------------------------------------------
@operations.post(
    f"{TEAM}/invitations/",
    "createInvitation",
    _("초대 링크 만들기(팀장)"),
    shown.MadeInvitation,
    status=201,
    scope=Scope.SUBMIT,
    says=_("링크는 이 응답에만 있습니다."),
    is_once=False,
)
def invite(request: ApiRequest, slug: str) -> Any:
    made, token = invitations.create_invitation(team=_own(request, slug), actor=request.auth.person)
    return shown.invitation(made) | {"token": token, "address": _address(token)}


@operations.post(
    f"{TEAM}/invitations/email/",
    "mailInvitation",
    _("초대 메일 보내기(팀장)"),
    shown.Invitation,
    status=201,
    scope=Scope.SUBMIT,
)
def invite_by_email(request: ApiRequest, slug: str, data: MailAddress) -> Any:
    made = invitations.invite_by_email(
        team=_own(request, slug), actor=request.auth.person, email=data.email, link_for=_address
    )
    return shown.invitation(made)


@operations.delete(f"{TEAM}/invitations/{{int:pk}}/", "revokeInvitation", _("초대 취소(팀장)"), scope=Scope.SUBMIT)
def revoke(request: ApiRequest, slug: str, pk: int) -> Any:
    invitation = selectors.invitation_of(_own(request, slug), pk)
    invitations.revoke_invitation(invitation=invitation, actor=request.auth.person)


class InvitationToken(Body):
    token: Text


@operations.post(
    "/invitations/accept/",
    "acceptInvitation",
    _("초대를 받아 팀에 들어가기"),
    shown.OwnTeam,
    scope=Scope.SUBMIT,
    says=_("초대 링크의 마지막 부분을 token으로 보냅니다. 주소에는 적지 않습니다."),
)
def accept_invitation(request: ApiRequest, data: InvitationToken) -> Any:
    membership = invitations.join_team(token=data.token, user=request.auth.person)
    return {"team": shown.team(membership.team)}


def _address(token: str) -> str:
    return urljoin(settings.SITE_URL, reverse("invitation", args=[token]))


# --- merging ----------------------------------------------------------------------------------------------------------
class MergeTarget(Body):
    target: Text  # the name of the other team


@operations.post(
    f"{TEAM}/merges/", "askMerge", _("다른 팀에 합치기 요청(팀장)"), shown.OwnTeam, status=201, scope=Scope.SUBMIT
)
def ask_merge(request: ApiRequest, slug: str, data: MergeTarget) -> Any:
    team = _own(request, slug)
    target = selectors.team_named(team.competition, data.target)
    merging.ask_merge(source=team, target=target, actor=request.auth.person)
    return _shown(request, slug)


@operations.delete(f"{TEAM}/merges/{{int:pk}}/", "withdrawMerge", _("합치기 요청 취소(팀장)"), scope=Scope.SUBMIT)
def withdraw_merge(request: ApiRequest, slug: str, pk: int) -> Any:
    merging.withdraw_merge(request=selectors.merge_request_of(_own(request, slug), pk), actor=request.auth.person)


@operations.post(
    f"{TEAM}/merges/{{int:pk}}/accept/", "acceptMerge", _("합치기 요청 수락(팀장)"), shown.OwnTeam, scope=Scope.SUBMIT
)
def take_merge(request: ApiRequest, slug: str, pk: int) -> Any:
    accept_merge(request=selectors.merge_request_of(_own(request, slug), pk), actor=request.auth.person)
    return _shown(request, slug)


@operations.post(f"{TEAM}/merges/{{int:pk}}/decline/", "declineMerge", _("합치기 요청 거절(팀장)"), scope=Scope.SUBMIT)
def decline_merge(request: ApiRequest, slug: str, pk: int) -> Any:
    merging.decline_merge(request=selectors.merge_request_of(_own(request, slug), pk), actor=request.auth.person)
