"""A team hears in the morning which teams passed it on the public board: once a day, no more than the board shows."""

from __future__ import annotations

import math
import random
from datetime import datetime, timedelta
from unittest.mock import patch

import pytest
from django.core import mail
from django.db import connection
from django.test.utils import CaptureQueriesContext

from malpan.competitions.models import Competition, Phase
from malpan.core.times import KST
from malpan.leaderboard import standings
from malpan.leaderboard.days import keep_ranks
from malpan.leaderboard.letters import MORNING, RANK_PASSED, tell_passed
from malpan.leaderboard.passing import MOST, Passed, passed_teams
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.sending import deliver_due
from malpan.teams.models import Team
from tests.factories import PhaseFactory, TeamFactory, TrackFactory, finished_submission, leader_of

pytestmark = pytest.mark.django_db

MIDNIGHT = datetime(2026, 11, 26, 0, 0, tzinfo=KST)
NIGHT = MIDNIGHT + timedelta(minutes=5)
DAY = timedelta(days=1)


@pytest.fixture
def phase() -> Phase:
    """가, 나, 다 in this order as a day began, of which 다 was the first when the next one did."""
    phase: Phase = PhaseFactory.create(starts_at=MIDNIGHT - 3 * DAY, ends_at=MIDNIGHT + 3 * DAY)
    for name, score in (("가", 0.8), ("나", 0.6), ("다", 0.4), ("기준", 0.7)):
        team = TeamFactory.create(competition=phase.track.competition, name=name, is_baseline=name == "기준")
        finished_submission(phase, team, score, created_at=MIDNIGHT - timedelta(hours=9))
    note(phase, NIGHT)
    finished_submission(phase, named("다"), 0.9, created_at=MIDNIGHT + timedelta(hours=9))
    return phase


def named(name: str) -> Team:
    return Team.objects.get(name=name)


def note(phase: Phase, now: datetime) -> None:
    standings.refresh(phase)
    keep_ranks(now)


def mails(now: datetime) -> dict[str, str]:
    """What is sent then, by the address of the reader: in the mail of the day, unless they chose otherwise."""
    with patch("django.utils.timezone.now", return_value=now):
        deliver_due()
    return {message.to[0]: f"{message.subject}\n{message.body}" for message in mail.outbox}


def address_of(name: str) -> str:
    return leader_of(named(name)).email


def test_those_who_were_passed_hear_in_the_morning_by_whom(phase: Phase) -> None:
    note(phase, NIGHT + DAY)
    assert mails(NIGHT + DAY) == {}, "nobody is woken"
    said = mails(MIDNIGHT + DAY + MORNING)
    assert set(said) == {address_of("가"), address_of("나")}
    for text in ("[말판]", "[Malpan]", phase.track.title, "우리 팀은 지금 3위", "1위 다", "Rank 1: 다", "/board/"):
        assert text in said[address_of("나")]
    for other in ("가", "기준"):
        assert f"위 {other}" not in said[address_of("나")], "who was above before passed nobody, nor a baseline"


def test_once_a_day_and_of_all_boards_of_a_competition_in_one_letter(phase: Phase) -> None:
    track = TrackFactory.create(competition=phase.track.competition)
    other = PhaseFactory.create(track=track, starts_at=phase.starts_at, ends_at=phase.ends_at)
    for name, score in (("가", 0.8), ("나", 0.6)):
        finished_submission(other, named(name), score, created_at=MIDNIGHT - timedelta(hours=9))
    note(other, NIGHT)  # the phases of the day were noted already, this one is new
    finished_submission(other, named("나"), 0.9, created_at=MIDNIGHT + timedelta(hours=9))
    standings.refresh(phase)
    note(other, NIGHT + DAY)
    note(other, NIGHT + DAY + timedelta(minutes=1))
    said = mails(MIDNIGHT + DAY + MORNING)
    assert len(mail.outbox) == len(said) == 2
    assert track.title in said[address_of("가")]
    assert phase.track.title in said[address_of("가")]
    note(phase, NIGHT + 2 * DAY)
    assert Letter.objects.filter(event=RANK_PASSED).count() == 2, "who stays above passed nobody again"


def test_programs_hear_of_it_too(phase: Phase) -> None:
    person = leader_of(named("나"))
    Endpoint.objects.create(person=person, url="https://hooks.example.com/", events=[RANK_PASSED])
    note(phase, NIGHT + DAY)
    letter = Letter.objects.exclude(endpoint=None).get()
    assert (letter.person, letter.not_before) == (person, MIDNIGHT + DAY + MORNING)


@pytest.mark.parametrize("when", ["at midnight", "in the morning"])
@pytest.mark.parametrize(
    "fields", [{"board": Phase.Board.HIDDEN}, {"board": Phase.Board.FROZEN, "frozen_at": MIDNIGHT}], ids=str
)
def test_of_a_frozen_or_hidden_board_nothing_is_said(phase: Phase, fields: dict[str, object], when: str) -> None:
    if when == "in the morning":
        note(phase, NIGHT + DAY)
    Phase.objects.update(**fields)
    note(phase, NIGHT + DAY)
    assert Letter.objects.exists() == (when == "in the morning")
    assert mails(MIDNIGHT + DAY + MORNING) == {}
    assert not Letter.objects.filter(state=Letter.State.SENT).exists()


def test_blind_names_stay_blind(phase: Phase) -> None:
    Competition.objects.update(has_blind_names=True)
    note(phase, NIGHT + DAY)
    said = mails(MIDNIGHT + DAY + MORNING)[address_of("나")]
    assert f"1위 참가팀 {named('다').number}" in said
    assert "위 다" not in said


def test_what_was_undone_by_the_morning_is_not_told(phase: Phase) -> None:
    note(phase, NIGHT + DAY)
    finished_submission(phase, named("가"), 0.95, created_at=MIDNIGHT + DAY + timedelta(hours=2))
    named("나").memberships.all().delete()
    assert mails(MIDNIGHT + DAY + MORNING) == {}


@pytest.mark.parametrize("late", [timedelta(hours=2), DAY])
def test_without_the_ranks_of_yesterday_or_of_today_nobody_is_told(phase: Phase, late: timedelta) -> None:
    note(phase, NIGHT + DAY + late)
    assert not Letter.objects.exists()


def test_a_competition_that_is_not_published_tells_nobody(phase: Phase) -> None:
    Competition.objects.update(is_published=False)
    note(phase, NIGHT + DAY)
    assert not Letter.objects.exists()


@pytest.mark.parametrize(
    ("before", "after", "passed"),
    [
        ("abc", "abc", {}),
        ("abc", "cab", {"a": "c", "b": "c"}),
        ("abc", "cba", {"a": "cb", "b": "c"}),
        ("ab", "nab", {"a": "n", "b": "n"}),  # new ones
        ("abc", "cb", {"b": "c"}),  # a was withdrawn
        ("", "ab", {}),
    ],
)
def test_who_passed_whom(before: str, after: str, passed: dict[str, str]) -> None:
    def ranks(teams: str) -> dict[str, int]:
        return {team: rank for rank, team in enumerate(teams, 1)}

    assert passed_teams(ranks(before), ranks(after)) == {team: Passed(list(by), 0) for team, by in passed.items()}


def test_of_many_the_best_are_named_and_the_others_counted() -> None:
    teams = [str(number) for number in range(MOST + 5)]
    before = {team: rank for rank, team in enumerate(teams)}
    after = {"0": len(teams)} | {team: before[team] for team in teams[1:]}
    assert passed_teams(before, after) == {"0": Passed(teams[1 : MOST + 1], 4)}


@pytest.mark.parametrize("moves", [0, 1, 5, 60, 400])
def test_who_passed_whom_is_what_a_comparison_of_all_pairs_says(moves: int) -> None:
    """Few moves and many: two ways to find the first of those who passed."""
    rng = random.Random(moves)
    before = {f"t{number}": number for number in range(1, 101)}
    order = [*before, *(f"new{number}" for number in range(3))]
    for _ in range(moves):
        order.insert(rng.randrange(103), order.pop(rng.randrange(103)))
    after = {team: rank for rank, team in enumerate(order, 1)}
    expected = {}
    for team, was in before.items():
        by = [other for other in order if after[other] < after[team] and before.get(other, math.inf) > was]
        if by:
            expected[team] = Passed(by[:MOST], len(by[MOST:]))
    assert passed_teams(before, after) == expected


def test_any_number_of_teams_is_told_with_the_same_number_of_statements(phase: Phase) -> None:
    """A board that turned round tells everybody at once, in the transaction that notes the ranks."""
    first = [team.pk for team in Team.objects.filter(is_baseline=False)]
    more = [TeamFactory.create(competition=phase.track.competition).pk for _ in range(9)]
    counts = []
    for day, teams in enumerate((first, first + more), 1):
        found = {str(team): Passed([str(first[0])], 0) for team in teams}
        with CaptureQueriesContext(connection) as queries:
            tell_passed({phase: found}, NIGHT + day * DAY)
        counts.append(len(queries))
    assert counts[0] == counts[1]
    assert Letter.objects.filter(event=RANK_PASSED, endpoint=None).count() == 2 * len(first) + len(more)
