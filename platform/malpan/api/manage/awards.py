"""Awards: the list, its order, and showing it to everybody."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed
from malpan.api.schemas.awards import given_award
from malpan.api.schemas.manage import awards as shown
from malpan.competitions.models import Competition
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import get_track
from malpan.stages import awarded, awards
from malpan.stages.models import Award
from malpan.teams.selectors import team_by_number

operations = ManageOperations(_("운영: 시상"))
ALL = f"{MANAGE}/awards"
ONE = f"{ALL}/{{int:pk}}"


@operations.get(f"{ALL}/", "listAllAwards", _("공개하지 않은 것까지 모든 상"), list[shown.ManagedAward])
def award_list(request: ApiRequest, slug: str) -> Any:
    return _list(managed(request, slug, Permission.VIEW))


@operations.get(
    f"{MANAGE}/tracks/{{slug:track}}/awards/",
    "proposeAwards",
    _("발표한 최종 결과의 앞 순위: 저장하지 않음"),
    list[shown.ProposedAward],
    may_conflict=True,
    says=_("sharing이 2 이상이면 순위가 같은 팀들입니다. 어느 팀에 줄지, 모두에게 줄지는 운영자가 정합니다."),
)
def propose(request: ApiRequest, slug: str, track: str, places: int = 3) -> Any:
    found = get_track(managed(request, slug, Permission.VIEW), track)
    names = ("rank", "sharing", "has_award", "title_ko", "title_en")
    return [
        {name: getattr(each, name) for name in names} | {"team_number": each.team.number, "team": each.team.name}
        for each in awarded.proposal_of(found, places)
    ]


@operations.post(
    f"{ALL}/",
    "createAward",
    _("상을 목록 끝에 더하기"),
    shown.ManagedAward,
    status=201,
    says=_("어느 한 트랙의 최종 결과를 발표한 뒤에 더할 수 있습니다. 공개하기 전에는 운영자만 봅니다."),
)
def create(request: ApiRequest, slug: str, data: shown.NewAward) -> Any:
    found = managed(request, slug, Permission.MANAGE)
    return _award(awards.create_award(competition=found, actor=request.auth.person, **_values(data, found)))


@operations.patch(
    f"{ONE}/",
    "updateAward",
    _("상 고치기"),
    shown.ManagedAward,
    says=_("보낸 항목만 바뀝니다. 공개한 상은 바로 누구에게나 바뀌어 보이고, 번호를 받은 상의 팀은 바꿀 수 없습니다."),
)
def change(request: ApiRequest, slug: str, pk: int, data: shown.AwardValues) -> Any:
    found = managed(request, slug, Permission.MANAGE)
    award = awarded.award_of(found, pk)
    return _award(awards.update_award(award=award, actor=request.auth.person, **_values(data, found)))


@operations.post(f"{ONE}/move/", "moveAward", _("상의 차례 바꾸기"), list[shown.ManagedAward])
def move(request: ApiRequest, slug: str, pk: int, data: shown.AwardPlace) -> Any:
    found = managed(request, slug, Permission.MANAGE)
    awards.move_award(award=awarded.award_of(found, pk), actor=request.auth.person, position=data.position)
    return _list(found)


@operations.delete(
    f"{ONE}/",
    "removeAward",
    _("상을 목록에서 빼기"),
    says=_("번호를 받은 상은 취소되고, 그 번호는 다시 쓰지 않습니다."),
)
def remove(request: ApiRequest, slug: str, pk: int) -> Any:
    found = managed(request, slug, Permission.MANAGE)
    awards.remove_award(award=awarded.award_of(found, pk), actor=request.auth.person)


@operations.post(
    f"{ALL}/publish/",
    "publishAwards",
    _("시상을 누구에게나 공개"),
    list[shown.ManagedAward],
    says=_("상을 받은 팀의 팀원에게 메일로 알립니다. 같은 말로 이미 알린 상은 다시 알리지 않습니다."),
)
def publish(request: ApiRequest, slug: str) -> Any:
    found = managed(request, slug, Permission.MANAGE)
    awards.publish_awards(competition=found, actor=request.auth.person)
    return _list(found)


@operations.post(f"{ALL}/withdraw/", "withdrawAwards", _("시상의 공개 거두기"), list[shown.ManagedAward])
def withdraw(request: ApiRequest, slug: str) -> Any:
    found = managed(request, slug, Permission.MANAGE)
    awards.withdraw_awards(competition=found, actor=request.auth.person)
    return _list(found)


def _values(data: shown.AwardValues, competition: Competition) -> dict[str, Any]:
    """The values as the services take them. Raises ``TeamNotFound`` and ``TrackNotFound``."""
    values = data.given()
    if "team_number" in values:
        values["team"] = team_by_number(competition, values.pop("team_number"))
    if values.get("track") is not None:
        values["track"] = get_track(competition, values["track"])
    return values


def _list(competition: Competition) -> list[dict[str, Any]]:
    return [_award(each) for each in awarded.awards_of(competition)]


def _award(award: Award) -> dict[str, Any]:
    names = ("title_ko", "title_en", "prize_ko", "prize_en", "published_at")
    return {name: getattr(award, name) for name in names} | {
        "id": award.pk,
        "is_disqualified": award.team.disqualified_at is not None,
        **given_award(award),
    }
