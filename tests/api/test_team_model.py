"""What a team says of its model is read and written by its programs too, with the checks of its page."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from malpan.accounts.models import Scope
from malpan.accounts.services import create_api_token
from malpan.competitions.models import Phase
from malpan.leaderboard import standings
from malpan.teams.models import Team
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, leader_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def team() -> Team:
    return TeamFactory.create(competition=PhaseFactory.create().track.competition)


def ask(team: Team, method: str, body: dict[str, Any] | None = None, *, user: Any = None, place: str = "model/") -> Any:
    _row, token = create_api_token(user=user or leader_of(team), label="program", scopes=[Scope.SUBMIT])
    path = f"/api/v1/competitions/{team.competition.slug}/team/{place}"
    headers = {"Authorization": f"Bearer {token}"}
    return Client().generic(method, path, data=_json(body), content_type="application/json", headers=headers)


def _json(body: dict[str, Any] | None) -> str:
    return json.dumps(body) if body is not None else ""


def test_the_leader_describes_the_model_and_what_is_not_sent_stays(team: Team) -> None:
    assert ask(team, "PATCH", {"name": "말글-13B", "url": "https://example.org/m"}).status_code == 200
    answer = ask(team, "PATCH", {"size": "13B", "url": ""}).json()
    assert answer["team"]["model"] == {"name": "말글-13B", "size": "13B", "url": "", "paper": ""}
    assert ask(team, "GET", place="").json()["team"]["model"] == answer["team"]["model"]


@pytest.mark.parametrize(
    "body",
    [
        {"url": "javascript:alert(1)"},
        {"paper": "ftp://example.org/x"},
        {"url": "https://example.org/" + "x" * 300},
        {"name": "가\u200b나"},
        {"name": "x" * 81},
        {"name": None},
        {"other": "x"},
    ],
)
def test_what_the_page_refuses_the_api_refuses(team: Team, body: dict[str, Any]) -> None:
    assert ask(team, "PATCH", body).status_code == 422
    assert Team.objects.get(pk=team.pk).model_name == ""


def test_only_the_leader_describes_it(team: Team) -> None:
    other = TeamFactory.create(competition=team.competition, members=1)
    member = other.memberships.exclude(role="leader").get().user
    assert ask(other, "PATCH", {"name": "x"}, user=member).status_code == 403
    assert ask(team, "PATCH", {"name": "x"}, user=UserFactory.create()).status_code in (403, 404, 409)


def test_teams_are_searched_for_by_name_with_the_rank_of_the_whole_board() -> None:
    phase: Phase = PhaseFactory.create()
    for place, name in enumerate(("가람", "나래", "가온누리")):
        team = TeamFactory.create(competition=phase.track.competition, name=name)
        finished_submission(phase, team, 0.9 - place / 10)
    standings.refresh(phase)
    path = f"/api/v1/competitions/{phase.track.competition.slug}/tracks/{phase.track.slug}/board/"
    found = Client().get(path, {"q": " 가 "}).json()
    assert [(row["rank"], row["team"]) for row in found["rows"]] == [(1, "가람"), (3, "가온누리")]
    assert Client().get(path, {"q": "없는 팀"}).json()["rows"] == []
