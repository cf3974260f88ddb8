"""What a public board has beside its rows, how sure it is and boards of the past, and what reading it costs."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard import standings
from malpan.leaderboard.boards import View
from malpan.leaderboard.models import BoardSnapshot, BoardSureness, StandingsVersion
from malpan.leaderboard.selectors import at_one_moment, board
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from tests.factories import PhaseFactory, ReferenceVersionFactory, TeamFactory, finished_submission

pytestmark = pytest.mark.django_db
NOW = timezone.now()
Kind = BoardSnapshot.Kind
KNOWN = {
    "rank": 2, "scores": {"final_score": [0.4, 0.6]}, "places": [1, 2], "band": 1, "first": 1, "tied": 2, "p": 0.5,
}  # fmt: skip


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


@pytest.fixture
def scored(phase: Phase) -> list[Submission]:
    """Results of two teams, the better one first, of before any freezing."""
    teams = [TeamFactory.create(competition=phase.track.competition) for _number in range(2)]
    at = NOW - timedelta(hours=9)
    return [finished_submission(phase, team, 0.9 - n / 10, created_at=at) for n, team in enumerate(teams)]


def changed(phase: Phase, **fields: Any) -> Phase:
    Phase.objects.filter(pk=phase.pk).update(**fields)
    return Phase.objects.select_related("track__competition").get(pk=phase.pk)


def snapshot(phase: Phase, number: int, kind: str, **fields: Any) -> BoardSnapshot:
    return BoardSnapshot.objects.create(
        phase=phase, number=number, kind=kind, rows=[], published_at=NOW, recipe=phase.track.recipe, **fields
    )


def sureness(phase: Phase, scope: str = "live", **fields: Any) -> UUID:
    """The stamp of that of a board; it is of the present standings."""
    version = StandingsVersion.objects.filter(phase=phase).values_list("value", flat=True).first()
    fields = {"stamp": uuid4(), "version": version, "computed_at": NOW} | fields
    return BoardSureness.objects.create(phase=phase, scope=scope, **fields).stamp


def stamp_of(phase: Phase, **reader: Any) -> UUID | None:
    found = board(phase, **reader).sureness
    return found and found.stamp


# --- how sure it is ---------------------------------------------------------------------------------------------------
@pytest.mark.usefixtures("scored")
def test_each_board_of_a_phase_has_its_own(phase: Phase) -> None:
    standings.refresh(phase)
    sureness(PhaseFactory.create())
    live, frozen = sureness(phase), sureness(phase, "frozen")
    sureness(phase, snapshot=snapshot(phase, 1, Kind.FINAL))
    sureness(phase, "frozen", snapshot=snapshot(phase, 1, Kind.PUBLIC))

    assert stamp_of(phase) == live
    assert board(phase).sureness.is_current  # type: ignore[union-attr]
    phase = changed(phase, board=Phase.Board.FROZEN, frozen_at=NOW - timedelta(hours=1))
    assert (stamp_of(phase), stamp_of(phase, for_organiser=True)) == (frozen, live)
    phase = changed(phase, board=Phase.Board.HIDDEN)
    assert (stamp_of(phase), stamp_of(phase, for_organiser=True)) == (None, live)


@pytest.mark.usefixtures("scored")
def test_that_of_scores_with_all_their_digits_is_not_shown_beside_rounded_ones(phase: Phase) -> None:
    standings.refresh(phase)
    assert stamp_of(changed(phase, score_step=Decimal("0.01"))) is None
    stamp = sureness(phase)
    assert stamp_of(phase) is None
    assert stamp_of(changed(phase, score_step=None)) == stamp
    BoardSureness.objects.update(reason="rounded", stamp=uuid4())
    for step in (None, Decimal("0.01")):
        assert stamp_of(changed(phase, score_step=step)) is not None, "it gives nothing away"


def test_ones_own_row_has_it_on_every_page(phase: Phase, scored: list[Submission]) -> None:
    standings.refresh(phase)
    sureness(phase, rows={str(scored[1].public_id): KNOWN})

    found = board(phase, viewer_team=scored[1].team, view=View(limit=1))

    assert found.rows[0].sureness is None
    assert found.own_row is not None
    assert found.own_row.sureness is not None
    assert found.own_row.sureness.places == (1, 2)


# --- boards of the past, splits ---------------------------------------------------------------------------------------
def test_days_are_told_as_they_come_and_not_those_of_another_phase(phase: Phase) -> None:
    snapshot(PhaseFactory.create(), 9, Kind.DAY, day=date(2026, 11, 1))
    snapshot(phase, 9, Kind.FINAL)
    assert board(phase).days == ()
    days = [date(2026, 11, 20), date(2026, 11, 21), date(2026, 11, 22)]
    for number, day in enumerate(days, start=1):
        snapshot(phase, number, Kind.DAY, day=day)
        assert board(phase).days == tuple(reversed(days[:number]))
    phase = changed(phase, board=Phase.Board.HIDDEN)
    assert (board(phase).days, len(board(phase, for_organiser=True).days)) == ((), 3)


def test_a_board_is_of_a_split_where_the_present_references_of_its_phase_are(phase: Phase) -> None:
    ReferenceVersionFactory.create(phase=PhaseFactory.create(), is_current=True, public_ids=["q1"])
    ReferenceVersionFactory.create(phase=phase, is_current=False, public_ids=["q1"])
    ReferenceVersionFactory.create(phase=phase, is_current=True)
    assert not board(phase).covers_split
    phase.reference_versions.update(public_ids=["q1"])
    assert board(phase).covers_split
    phase.reference_versions.filter(is_current=True).update(public_ids=None)
    assert not board(phase).covers_split


def test_a_board_that_is_empty_or_hidden_counts_no_row(phase: Phase) -> None:
    assert (board(phase).row_count, board(phase).total, board(phase).rows) == (0, 0, ())
    finished_submission(phase, TeamFactory.create(competition=phase.track.competition), 0.5)
    assert (board(phase).row_count, board(phase).total) == (1, 1)
    phase = changed(phase, board=Phase.Board.HIDDEN)
    assert (board(phase).row_count, board(phase).total) == (0, 0)


# --- what it costs ----------------------------------------------------------------------------------------------------
def test_what_others_have_costs_a_reader_no_query(
    phase: Phase, scored: list[Submission], django_assert_num_queries: Any
) -> None:
    """Neither does looking for one's own row where all rows are there, and there it is, or there is none."""
    other = PhaseFactory.create()
    snapshot(other, 1, Kind.PUBLIC)
    snapshot(other, 1, Kind.DAY, day=date(2026, 11, 1))
    snapshot(phase, 1, Kind.FINAL)
    TeamFactory.create(competition=other.track.competition, disqualified_at=NOW)
    guest = TeamFactory.create(competition=phase.track.competition)
    board(phase)
    for team in (None, guest, scored[0].team, scored[1].team):
        with django_assert_num_queries(1 if team is None else 2):  # the phase with its marks, rows where not read yet
            board(phase, viewer_team=team)
    Team.objects.filter(pk=guest.pk).update(disqualified_at=NOW)
    assert [each.team_name for each in board(phase).disqualified] == [guest.name]


def test_standings_that_another_is_computing_are_asked_for_once(phase: Phase, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader who waited for them reads what is there; those of other phases are set anew all the same."""
    other = PhaseFactory.create(track=phase.track)
    for each in (phase, other):
        finished_submission(each, TeamFactory.create(competition=phase.track.competition), 0.5)
    refresh, asked = standings.refresh, list[int]()

    def refreshed(each: Phase) -> bool:
        asked.append(each.pk)
        return each == phase and refresh(each)

    monkeypatch.setattr(standings, "refresh", refreshed)
    read = at_one_moment(phase.track.competition, lambda phases: [each.is_due for each in phases])
    assert asked == [phase.pk, other.pk]
    assert read == [False, True]
