"""Teams, as organisers see and change them; baselines."""

from __future__ import annotations

from typing import Any

from django.db import transaction
from django.db.models import Count
from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed
from malpan.api.reading import paged
from malpan.api.schemas.kinds import Page, PageNumber, PageSize
from malpan.api.schemas.manage import teams as shown
from malpan.api.schemas.teams import member
from malpan.competitions.models import Competition
from malpan.competitions.permissions import Permission
from malpan.submissions.querysets import charged
from malpan.teams import selectors, services

operations = ManageOperations(_("운영: 팀"))
ALL = f"{MANAGE}/teams"
ONE = f"{ALL}/{{int:number}}"


@operations.get(f"{ALL}/", "listTeams", _("모든 팀과 구성원"), Page[shown.ManagedTeam])
def team_list(request: ApiRequest, slug: str, page: PageNumber = 1, page_size: PageSize = 100) -> Any:
    competition = managed(request, slug, Permission.VIEW)
    rows = selectors.teams_with_members(competition, made=Count("submissions", filter=charged("submissions__")))
    return paged(request, rows, page, page_size, _team)


@operations.post(
    f"{ALL}/",
    "createTeamFor",
    _("다른 사람이나 기준 모델을 위해 팀 만들기"),
    shown.ManagedTeam,
    status=201,
)
def create(request: ApiRequest, slug: str, data: shown.NewTeam) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    made = services.create_team_for(
        competition=competition,
        name=data.name,
        email=data.email,
        is_baseline=data.is_baseline,
        actor=request.auth.person,
    )
    return _shown(competition, made.number)


@operations.get(f"{ONE}/", "getManagedTeam", _("팀 하나"), shown.ManagedTeam)
def team(request: ApiRequest, slug: str, number: int) -> Any:
    return _shown(managed(request, slug, Permission.VIEW), number)


@operations.patch(
    f"{ONE}/", "updateTeam", _("팀 이름 바꾸기, 기준 모델이나 프로그램의 팀으로 정하거나 풀기"), shown.ManagedTeam
)
def change(request: ApiRequest, slug: str, number: int, data: shown.TeamChange) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    found = selectors.team_by_number(competition, number)
    with transaction.atomic():  # all or nothing
        if data.name is not None:
            services.rename_team(team=found, name=data.name, actor=request.auth.person)
        if data.is_baseline is not None:
            services.mark_baseline(team=found, is_baseline=data.is_baseline, actor=request.auth.person)
        if data.is_program is not None:
            services.mark_program(team=found, is_program=data.is_program, actor=request.auth.person)
    return _shown(competition, number)


@operations.post(f"{ONE}/disqualify/", "disqualifyTeam", _("실격"), shown.ManagedTeam)
def disqualify(request: ApiRequest, slug: str, number: int, data: shown.Disqualification) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    services.disqualify_team(
        team=selectors.team_by_number(competition, number),
        actor=request.auth.person,
        note_ko=data.note_ko,
        note_en=data.note_en,
    )
    return _shown(competition, number)


@operations.post(f"{ONE}/reinstate/", "reinstateTeam", _("실격 취소"), shown.ManagedTeam)
def reinstate(request: ApiRequest, slug: str, number: int, data: shown.Reinstatement) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    services.reinstate_team(
        team=selectors.team_by_number(competition, number), actor=request.auth.person, reason=data.reason
    )
    return _shown(competition, number)


@operations.delete(f"{ONE}/", "removeTeam", _("파일을 보낸 적이 없는 팀 지우기"))
def remove(request: ApiRequest, slug: str, number: int) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    services.remove_team(team=selectors.team_by_number(competition, number), actor=request.auth.person)


@operations.delete(f"{ONE}/members/{{int:pk}}/", "removeMemberOf", _("구성원 내보내기"), shown.ManagedTeam)
def remove_member(request: ApiRequest, slug: str, number: int, pk: int) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    found = selectors.team_by_number(competition, number)
    services.remove_member(team=found, user=selectors.member_of(found, pk).user, actor=request.auth.person)
    return _shown(competition, number)


@operations.post(f"{ONE}/members/{{int:pk}}/hand-over/", "handOverTeamOf", _("팀장으로 정하기"), shown.ManagedTeam)
def hand_over(request: ApiRequest, slug: str, number: int, pk: int) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    found = selectors.team_by_number(competition, number)
    services.hand_over(team=found, to=selectors.member_of(found, pk).user, actor=request.auth.person)
    return _shown(competition, number)


def _shown(competition: Competition, number: int) -> dict[str, Any]:
    rows = selectors.teams_with_members(competition, made=Count("submissions", filter=charged("submissions__")))
    return _team(rows.get(number=number))


def _team(found: Any) -> dict[str, Any]:
    """``found`` is annotated with the submissions that it ``made``."""
    return {
        "number": found.number,
        "name": found.name,
        "is_baseline": found.is_baseline,
        "is_program": found.is_program,
        "disqualified_at": found.disqualified_at,
        "note_ko": found.disqualification_note_ko,
        "note_en": found.disqualification_note_en,
        "merged_into": found.merged_into and found.merged_into.number,
        "members": [member(each) | {"email": each.user.email} for each in found.memberships.all()],
        "submissions": found.made,
    }
