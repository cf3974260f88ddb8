"""The edges of the standings: other phases beside, equal scores, exactly as many teams as are many, and locks."""

from __future__ import annotations

from datetime import timedelta
from threading import Timer
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_of
from malpan.core.locks import Level, LockOrderBroken, note
from malpan.leaderboard import standings
from malpan.leaderboard.models import Standing, StandingMark
from malpan.leaderboard.results import comparable_entries, live_runs
from malpan.leaderboard.selectors import board
from malpan.submissions import checking
from malpan.submissions.finals import mark_chosen, unmark_chosen
from malpan.submissions.models import ScoringRun
from malpan.teams.models import Team
from tests.factories import PhaseFactory, ReferenceVersionFactory, TeamFactory, finished_submission
from tests.leaderboard.computing import somebody_computing

pytestmark = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)
LIVE = Standing.Scope.LIVE
MOMENT = timedelta(milliseconds=50)


def scored(phase: Phase, *scores: float) -> list[Team]:
    """A new team for each of ``scores``."""
    teams = TeamFactory.create_batch(len(scores), competition=phase.track.competition)
    for team, score in zip(teams, scores, strict=True):
        finished_submission(phase, team, score)
    return teams


def change(phase: Phase, team: Team, score: float) -> None:
    """Another live score of ``team``, which marks it once."""
    ScoringRun.objects.filter(live_for__phase=phase, submission__team=team).update(final_score=score)


def shown(phase: Phase) -> list[float]:
    """The scores on the board that a reader sees now."""
    return [row.final_score for row in board(phase).rows]


def stored(phase: Phase) -> list[float]:
    """The scores in the standings as they are, old or not."""
    found = standings.summary(phase, LIVE)
    return [row.final_score for row in standings.page(phase, LIVE, found.signature_hash, 0, None)]


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


@pytest.fixture
def other(phase: Phase) -> Phase:
    """Another phase of the same track."""
    return PhaseFactory.create(track=phase.track)


# --- phases beside each other -----------------------------------------------------------------------------------------
def test_a_team_stands_in_every_phase_for_itself(phase: Phase, other: Phase) -> None:
    team = scored(phase, 0.5)[0]
    finished_submission(other, team, 0.9)
    scored(other, 0.4)
    standings.refresh_all()
    assert (stored(phase), stored(other)) == ([0.5], [0.9, 0.4])
    change(phase, team, 0.7)
    assert standings.refresh(phase)
    assert (stored(phase), stored(other)) == ([0.7], [0.9, 0.4])
    assert (standings.summary(phase, LIVE).team_count, standings.summary(other, LIVE).team_count) == (1, 2)
    assert [row.submission_count for row in board(phase).rows] == [1]


def test_a_score_of_zero_is_a_score(phase: Phase) -> None:
    scored(phase, 0.5, 0.0)
    standings.refresh_all()
    assert stored(phase) == [0.5, 0.0]
    comparable = comparable_entries(live_runs(phase).values(), recipe_of(phase.track))
    assert sorted(entry.final_score for entry in comparable) == [0.0, 0.5]


def test_standings_are_due_where_something_changed_and_nothing_is_locked_elsewhere(
    phase: Phase, other: Phase, django_assert_num_queries: Any
) -> None:
    scored(phase, 0.5)
    standings.refresh_all()
    scored(other, 0.6)
    assert list(Phase.objects.filter(standings.is_due())) == [other]
    with django_assert_num_queries(1):
        assert standings.refresh(phase)
    assert StandingMark.objects.filter(phase=other).exists()


# --- rows -------------------------------------------------------------------------------------------------------------
def test_equal_scores_stand_by_time_and_then_by_number(phase: Phase) -> None:
    """Each row has its place alone as it has it on the whole board and on every page of it."""
    moment = timezone.now() - timedelta(hours=1)
    later = moment + timedelta(seconds=1)
    names = ("lowest", "late", "first", "second", "baseline", "highest")
    teams = {
        name: TeamFactory.create(competition=phase.track.competition, name=name, is_baseline=name == "baseline")
        for name in names
    }
    for name, score, when in (
        ("lowest", 0.1, moment), ("late", 0.5, later), ("first", 0.5, moment), ("second", 0.5, moment),
        ("baseline", 0.6, later), ("highest", 0.9, later),
    ):  # fmt: skip
        finished_submission(phase, teams[name], score, created_at=when)
    standings.refresh(phase)

    order = ["highest", "baseline", "first", "second", "late", "lowest"]
    whole = standings.page(phase, LIVE, "s", 0, None)
    assert [row.team.name for row in whole] == order
    assert [(row.place, row.rank) for row in whole] == [(1, 1), (2, 1), (3, 2), (4, 3), (5, 4), (6, 5)]
    for start in range(6):
        assert standings.page(phase, LIVE, "s", start, start + 2) == whole[start : start + 2]
        [row] = standings.page(phase, LIVE, "s", start, start + 1)
        own: Any = standings.of_team(phase, LIVE, "s", teams[order[start]])
        assert (row.place, row.rank) == (own.place, own.rank) == (whole[start].place, whole[start].rank)


def test_behind_the_last_row_there_is_an_empty_page(phase: Phase) -> None:
    scored(phase, 0.5)
    standings.refresh(phase)
    assert standings.page(phase, LIVE, "s", 100, 200) == []


@pytest.mark.parametrize("by", [None, F("final_score").asc(), F("final_score").desc()])
def test_every_place_is_that_of_the_page_with_the_team_of_its_row(phase: Phase, by: Any) -> None:
    scored(phase, 0.1, 0.4, 0.2)
    signature = standings.summary(phase, LIVE).signature_hash
    rows = standings.page(phase, LIVE, signature, 0, None, by)
    with CaptureQueriesContext(connection) as captured:
        found = standings.places(phase, LIVE, signature, by)
    assert [(each.standing, each.place, each.rank, each.team) for each in found] == [
        (row.pk, row.place, row.rank, row.team) for row in rows
    ]
    assert f'"teams_team"."competition_id" = {phase.track.competition_id}' in captured[0]["sql"], "no others are read"


def test_a_board_without_results_of_the_current_rule_has_no_teams(phase: Phase) -> None:
    assert standings.summary(phase, LIVE) == standings.Summary(None, 0, 0, None, False)
    scored(phase, 0.5)
    phase.reference_versions.update(is_current=False)
    ReferenceVersionFactory.create(phase=phase)
    standings.refresh(phase)
    assert standings.summary(phase, LIVE) == standings.Summary(None, 0, 1, None, False)


def test_of_two_signatures_with_as_many_results_the_one_with_the_newest_has_the_board(phase: Phase) -> None:
    now = timezone.now()
    first, second = TeamFactory.create_batch(2, competition=phase.track.competition)
    for team, signature, minutes in ((first, "s", 10), (first, "s", 1), (second, "t", 5), (second, "t", 4)):
        finished_submission(phase, team, 0.5, signature_hash=signature, created_at=now - timedelta(minutes=minutes))
    standings.refresh(phase)
    assert standings.summary(phase, LIVE).signature_hash == "s"


def test_what_was_sent_at_the_moment_of_the_freeze_came_too_late(phase: Phase) -> None:
    moment = timezone.now() - timedelta(minutes=1)
    team = TeamFactory.create(competition=phase.track.competition)
    finished_submission(phase, team, 0.5, created_at=moment - timedelta(microseconds=1))
    finished_submission(phase, team, 0.9, created_at=moment)
    Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.FROZEN, frozen_at=moment)
    assert shown(Phase.objects.get(pk=phase.pk)) == [0.5]


def test_on_a_frozen_board_counts_what_was_chosen_when_it_froze() -> None:
    phase = PhaseFactory.create(track__composite=[{"score": "final_score", "weight": 1}], counting="chosen")
    now, team = timezone.now(), TeamFactory.create(competition=phase.track.competition)
    first, second = (
        finished_submission(phase, team, score, created_at=now - timedelta(hours=2)) for score in (0.5, 0.9)
    )
    mark_chosen([first.pk], now - timedelta(minutes=90))
    unmark_chosen([first.pk], now - timedelta(minutes=30))
    mark_chosen([second.pk], now - timedelta(minutes=30))
    assert shown(phase) == [0.9]
    Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.FROZEN, frozen_at=now - timedelta(hours=1))
    assert shown(Phase.objects.get(pk=phase.pk)) == [0.5]


# --- who computes -----------------------------------------------------------------------------------------------------
@pytest.fixture
def two_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(standings, "MANY", 2)


@committed
@pytest.mark.usefixtures("two_are_many")
def test_a_reader_computes_what_is_not_of_more_teams_than_are_many(phase: Phase, other: Phase) -> None:
    teams = scored(phase, 0.1, 0.2, 0.3)
    standings.refresh_all()
    scored(other, 0.4, 0.5, 0.6)  # marks of another phase
    change(phase, teams[0], 0.9)
    change(phase, teams[1], 0.8)
    for score in (0.3, 0.7):
        change(phase, teams[1], score)
    assert shown(phase) == [0.9, 0.7, 0.3]
    for team in teams:
        change(phase, team, 0.5)
    assert shown(phase) == [0.9, 0.7, 0.3], "that is the housekeeper's"


@committed
@pytest.mark.usefixtures("two_are_many")
def test_a_reader_computes_all_teams_of_a_phase_where_they_are_not_many(phase: Phase, other: Phase) -> None:
    teams = scored(phase, 0.1, 0.2)
    for score in (0.3, 0.4):
        finished_submission(phase, teams[0], score)  # more submissions, not more teams
    scored(other, 0.4, 0.5, 0.6)
    standings.refresh_all()
    ScoringRun.objects.filter(submission__phase=phase, final_score=0.4).update(final_score=0.6)
    Phase.objects.filter(pk=phase.pk).update(counting=Phase.Counting.LATEST)  # marks every team
    assert shown(phase) == [0.6, 0.2]
    scored(phase, 0.1)
    standings.refresh_all()
    Phase.objects.filter(pk=phase.pk).update(counting=Phase.Counting.BEST)
    assert shown(phase) == [0.6, 0.2, 0.1]
    assert StandingMark.objects.filter(phase=phase).exists(), "of three teams that is the housekeeper's"


@committed
@pytest.mark.usefixtures("two_are_many")
def test_whether_a_phase_has_standings_and_old_marks_is_no_matter_of_another(phase: Phase, other: Phase) -> None:
    teams = scored(phase, 0.1, 0.2, 0.3)
    standings.refresh_all()
    scored(other, 0.4, 0.5, 0.6)
    assert shown(other) == [0.6, 0.5, 0.4], "it has none yet, so the reader computes them"
    for team in teams:
        change(phase, team, 0.9)
    StandingMark.objects.create(phase=other, made_at=timezone.now() - standings.PATIENCE)
    assert shown(phase) == [0.3, 0.2, 0.1], "nothing of this phase is overdue"


@pytest.mark.usefixtures("two_are_many")
@pytest.mark.parametrize(("count", "is_analysed"), [(2, False), (3, True)])
def test_postgres_counts_the_rows_of_many_teams(phase: Phase, count: int, is_analysed: bool) -> None:
    scored(phase, *[0.5] * count)
    with CaptureQueriesContext(connection) as captured:
        standings.refresh(phase)
    assert any(query["sql"].startswith("ANALYZE") for query in captured) is is_analysed


# --- locks ------------------------------------------------------------------------------------------------------------
@committed
@pytest.mark.parametrize("patience", [None, timedelta(seconds=20)])
def test_what_changed_while_another_computed_is_computed_after_it(phase: Phase, patience: timedelta | None) -> None:
    [team] = scored(phase, 0.1)
    standings.refresh(phase)
    change(phase, team, 0.2)
    with somebody_computing(phase) as may_commit:
        change(phase, team, 0.3)
        Timer(0.3, may_commit.set).start()
        assert standings.refresh(phase, patience=patience) is True
    assert stored(phase) == [0.3]


@committed
def test_whoever_loses_patience_leaves_the_standings_and_other_errors_are_no_patience(phase: Phase) -> None:
    [team] = scored(phase, 0.1)
    standings.refresh(phase)
    change(phase, team, 0.2)
    with somebody_computing(phase):
        assert standings.refresh(phase, patience=MOMENT) is False
        assert standings.refresh(phase, patience=timedelta()) is False
        with connection.cursor() as cursor:
            cursor.execute("SET statement_timeout = '100ms'")
            with pytest.raises(OperationalError, match="statement timeout"):
                standings.refresh(phase, patience=timedelta(seconds=20))
            cursor.execute("SET statement_timeout = 0")


def test_the_time_to_wait_for_a_lock_is_that_of_the_standings_alone(phase: Phase) -> None:
    scored(phase, 0.1)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SHOW lock_timeout")
        [before] = cursor.fetchone()
        with CaptureQueriesContext(connection) as captured:
            assert standings.refresh(phase, patience=MOMENT)
        assert "SET LOCAL lock_timeout = 50" in [query["sql"] for query in captured]
        cursor.execute("SHOW lock_timeout")
        assert cursor.fetchone() == (before,) != ("50ms",)


def test_standings_are_the_last_thing_that_a_transaction_locks(phase: Phase) -> None:
    scored(phase, 0.1)
    with transaction.atomic():
        standings.refresh(phase)
        with pytest.raises(LockOrderBroken):
            note(Level.COMPETITION)


def test_a_phase_and_a_team_of_the_same_number_have_different_locks() -> None:
    assert standings._LOCKS != checking._LOCKS
