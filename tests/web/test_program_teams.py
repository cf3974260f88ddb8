"""A program takes part: it has an owner, is shown as one wherever its team is, and has the limits of any team."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import Scope, User
from malpan.accounts.services import create_api_token
from malpan.competitions.models import CompetitionRole, Phase
from malpan.competitions.roles import appoint
from malpan.core.models import AuditEntry
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.errors import QuotaExceeded
from malpan.submissions.quota import services as quota
from malpan.teams import merging, services
from malpan.teams.errors import AlreadyInTeam, MergeImpossible, NotTeamLeader, ProgramStays
from malpan.teams.models import Membership, Team
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, leader_of, publish
from tests.web import html
from tests.web.conftest import client_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def phase() -> Phase:
    phase: Phase = PhaseFactory.create(daily_limit=1)
    publish(phase)
    return phase


@pytest.fixture
def team(phase: Phase) -> Team:
    return TeamFactory.create(competition=phase.track.competition, name="말벗")


def own(team: Team) -> str:
    return f"/competitions/{team.competition.slug}/team/"


def board(phase: Phase, **asked: str) -> dict[str, Any]:
    slug = phase.track.competition.slug
    found: dict[str, Any] = Client().get(f"/api/v1/competitions/{slug}/tracks/{phase.track.slug}/board/", asked).json()
    return found


def marked(phase: Phase, **asked: str) -> list[str]:
    """The teams that the board's page marks as programs."""
    page = Client().get(f"/competitions/{phase.track.competition.slug}/board/", asked).content.decode()
    rows = html.parse(page).one("table", "board").all("tr")
    return [
        row.one("span", "team-name").text for row in rows if any(b.text == "프로그램" for b in row.all("span", "badge"))
    ]


def test_its_owner_says_so_and_boards_team_pages_and_api_show_it(phase: Phase, team: Team) -> None:
    people = TeamFactory.create(competition=team.competition)
    for each, score in ((team, 0.5), (people, 0.4)):
        finished_submission(phase, each, score)
    assert (marked(phase), [row["is_program"] for row in board(phase)["rows"]]) == ([], [False, False])
    client = client_of(leader_of(team))
    assert (
        "프로그램의 팀으로 정했습니다"
        in client.post(f"{own(team)}program/", {"program": "1"}, follow=True).content.decode()
    )
    assert marked(phase) == ["말벗"]
    assert [row["is_program"] for row in board(phase)["rows"]] == [True, False]
    assert f"주인은 팀장 {leader_of(team)}입니다" in html.parse(client.get(own(team)).content.decode()).text
    slug = phase.track.competition.slug
    csv = Client().get(f"/competitions/{slug}/board/?as=csv").content.decode().splitlines()
    assert [line.rsplit(",", 1)[1] for line in csv] == ["is_program", "True", "False"]
    services.mark_program(team=team, is_program=True, actor=leader_of(team))
    assert AuditEntry.objects.filter(action="team.mark_program").count() == 1


def test_published_boards_show_it_beside_what_the_hash_has(phase: Phase, team: Team) -> None:
    finished_submission(phase, team, 0.5)
    services.mark_program(team=team, is_program=True, actor=leader_of(team))
    Phase.objects.update(ends_at=timezone.now())
    phase.refresh_from_db()
    owner = UserFactory.create()
    appoint(competition=team.competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
    publish_final_board(phase=phase, actor=owner)
    assert marked(phase) == ["말벗"]
    final = board(phase)["final"]
    assert final["programs"] == ["말벗"]
    assert "is_program" not in final["rows"][0]


def test_published_boards_say_what_a_team_says_of_its_model_beside_what_the_hash_has(phase: Phase, team: Team) -> None:
    finished_submission(phase, team, 0.5)
    Phase.objects.update(ends_at=timezone.now())
    phase.refresh_from_db()
    owner = UserFactory.create()
    appoint(competition=team.competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
    publish_final_board(phase=phase, actor=owner)
    assert board(phase)["final"]["models"] == {}
    facts = {"model_name": "말벗 7B", "model_size": "7B", "model_url": "", "paper_url": ""}
    services.describe_model(team=team, actor=leader_of(team), **facts)
    final = board(phase)["final"]
    assert final["models"] == {"말벗": {"name": "말벗 7B", "size": "7B", "url": "", "paper": ""}}
    assert "model" not in final["rows"][0]
    assert "말벗 7B" in Client().get(f"/competitions/{phase.track.competition.slug}/board/").content.decode()


def test_a_program_says_so_by_the_api_and_an_organiser_may(phase: Phase, team: Team) -> None:
    def ask(person: User, path: str, body: dict[str, Any]) -> dict[str, Any]:
        token = create_api_token(user=person, label="t", scopes=list(Scope))[1]
        client = Client(headers={"Authorization": f"Bearer {token}"})
        path = f"/api/v1/competitions/{team.competition.slug}/{path}"
        found: dict[str, Any] = client.patch(path, json.dumps(body), content_type="application/json").json()
        return found

    said = ask(leader_of(team), "team/", {"name": "말벗", "is_program": True})["team"]
    assert (said["is_program"], said["name"]) == (True, "말벗")
    assert [each["role"] for each in said["members"]] == ["leader"]
    assert ask(leader_of(team), "team/", {"name": "새말벗"})["team"]["is_program"]
    finished_submission(phase, team, 0.5)
    assert ask(leader_of(team), "team/", {"name": "새말벗", "is_program": False})["code"] == "program_stays"
    assert ask(leader_of(team), "team/", {"name": "다른 말벗", "is_program": False})["code"] == "program_stays"
    assert Team.objects.get(pk=team.pk).name == "새말벗"  # not half of what was asked
    owner = UserFactory.create()
    appoint(competition=team.competition, user=owner, role=CompetitionRole.Role.OWNER, actor=None)
    assert ask(owner, f"manage/teams/{team.number}/", {"is_program": False})["is_program"] is False


def test_it_is_taken_back_by_its_owner_only_before_it_submitted(phase: Phase, team: Team) -> None:
    leader = leader_of(team)
    for is_program in (True, False, True):
        services.mark_program(team=team, is_program=is_program, actor=leader)
    finished_submission(phase, team, 0.5)
    with pytest.raises(ProgramStays):
        services.mark_program(team=team, is_program=False, actor=leader)
    assert "사람의 팀으로" not in client_of(leader).get(own(team)).content.decode()
    member = UserFactory.create()
    Membership.objects.create(team=team, user=member, competition=team.competition)
    with pytest.raises(NotTeamLeader):
        services.mark_program(team=team, is_program=True, actor=member)


def test_no_quota_is_doubled_with_a_program(phase: Phase, team: Team) -> None:
    """What its owner's team was charged before counts for it; its owner has no other team, and no team of people takes
    it in.
    """
    owner, now = UserFactory.create(), timezone.now()
    Membership.objects.create(team=team, user=owner, competition=team.competition)
    quota.charge(submission=finished_submission(phase, team, 0.5, submitted_by=owner), actor=owner)
    services.leave_team(team=team, user=owner)
    program = services.create_team(competition=team.competition, name="둘째", leader=owner)
    program = services.mark_program(team=program, is_program=True, actor=owner)
    with pytest.raises(QuotaExceeded):
        quota.require_room(phase=phase, team=program, now=now)
    with pytest.raises(AlreadyInTeam):
        services.create_team(competition=team.competition, name="셋째", leader=owner)
    for source, target in ((team, program), (program, team)):
        with pytest.raises(MergeImpossible) as refused:
            merging.require_fit(source, target, now)
        assert refused.value.params["reason"] == "program"
