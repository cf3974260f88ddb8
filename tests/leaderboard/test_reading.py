"""What readers ask of a public board: a part of its rows, another order, one team, all scores, and how they rose."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.leaderboard import board_rows
from malpan.leaderboard.boards import BASELINES, COUNT, TIME, Board, View
from malpan.leaderboard.field import NOBODY
from malpan.leaderboard.models import BoardSnapshot, Standing
from malpan.leaderboard.selectors import (
    at_one_moment,
    board,
    board_and_field,
    leads,
    on_public_board,
    public_ranks,
)
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from tests.factories import PhaseFactory, ReferenceVersionFactory, TeamFactory, finished_submission

pytestmark = pytest.mark.django_db
NOW = timezone.now()
FROZEN_AT = NOW - timedelta(hours=5)


@pytest.fixture
def phase() -> Phase:
    return PhaseFactory.create()


def scored(phase: Phase, name: str, score: float, hours: int = 1, **team: Any) -> Submission:
    """The only result of a team, of so many hours ago."""
    made = TeamFactory.create(competition=phase.track.competition, name=name, **team)
    at = NOW - timedelta(hours=hours)
    return finished_submission(phase, made, score, scores={"bleurt": 1 - score}, created_at=at)


def fresh(phase: Phase) -> Phase:
    return Phase.objects.select_related("track__competition").get(pk=phase.pk)


def names(found: Board) -> list[str]:
    return [row.team_name for row in found.rows]


def freeze(phase: Phase) -> Phase:
    Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.FROZEN, frozen_at=FROZEN_AT)
    return fresh(phase)


def hide(phase: Phase) -> Phase:
    Phase.objects.filter(pk=phase.pk).update(board=Phase.Board.HIDDEN)
    return fresh(phase)


# --- a part of the rows -----------------------------------------------------------------------------------------------
@pytest.mark.parametrize("kept_rows", [3, board_rows.KEPT_ROWS])
def test_rows_are_cut_and_ones_own_is_there_anyhow(
    phase: Phase, monkeypatch: pytest.MonkeyPatch, kept_rows: int
) -> None:
    """Also of a board so long that it is kept by pages only."""
    monkeypatch.setattr(board_rows, "KEPT_ROWS", kept_rows)
    made = [scored(phase, f"팀{number}", 0.9 - number / 10) for number in range(4)]

    found = board(phase, viewer_team=made[3].team, view=View(offset=1, limit=2))

    assert names(found) == ["팀1", "팀2"]
    assert (found.row_count, found.total) == (4, 4)
    assert [(row.rank, row.place, row.is_own) for row in found.rows] == [(2, 2, False), (3, 3, False)]
    assert found.row_before is not None
    assert found.row_before.team_name == "팀0"
    assert found.own_row is not None
    assert (found.own_row.team_name, found.own_row.rank, found.own_row.is_own) == ("팀3", 4, True)
    assert names(board(phase, view=View(offset=2))) == ["팀2", "팀3"]
    other = TeamFactory.create(competition=phase.track.competition)
    for reader in (None, other):
        assert board(phase, viewer_team=reader, view=View(limit=1)).own_row is None


def test_the_row_before_those_shown_is_a_teams(phase: Phase) -> None:
    scored(phase, "가", 0.99)
    for number in range(BASELINES):
        scored(phase, f"기준{number}", 0.9 - number / 100, is_baseline=True)
    for number in range(2):
        scored(phase, f"나{number}", 0.1 - number / 100)

    def before(offset: int, limit: int | None) -> tuple[str | None, list[str]]:
        found = board(phase, view=View(offset=offset, limit=limit))
        return found.row_before and found.row_before.team_name, names(found)

    for limit in (1, None):
        assert before(BASELINES, limit)[0] == "가"
        assert before(1 + BASELINES, limit)[0] is None  # beyond what is looked through
    assert before(1 + BASELINES, 1)[1] == ["나0"]
    assert before(2 + BASELINES, 5) == ("나0", ["나1"])


def test_rows_stand_in_the_order_asked_for(phase: Phase) -> None:
    rows = [
        scored(phase, name, score, hours) for name, score, hours in (("가", 0.9, 1), ("나", 0.5, 3), ("다", 0.7, 2))
    ]
    finished_submission(phase, rows[1].team, 0.1, created_at=NOW - timedelta(hours=9))
    nothing = TeamFactory.create(competition=phase.track.competition, name="없음")
    finished_submission(phase, nothing, 0.4, created_at=NOW)

    def by(sort: str, is_descending: bool | None = False) -> list[str]:
        return names(board(phase, view=View(sort=sort, is_descending=is_descending)))

    assert by("bleurt") == ["가", "다", "나", "없음"]
    assert by("bleurt", True) == ["나", "다", "가", "없음"]
    assert by(COUNT, True)[0] == "나"
    assert by(TIME) == ["나", "다", "가", "없음"]
    assert names(board(phase, view=View(sort=TIME, offset=1, limit=2))) == ["다", "가"]
    assert by("no_such_column", True) == ["가", "다", "나", "없음"]


def test_teams_are_searched_for_by_the_names_that_the_reader_sees(phase: Phase) -> None:
    made = [scored(phase, name, score) for name, score in (("한글 사랑", 0.9), ("말글", 0.5), ("한글", 0.3))]

    found = board(phase, view=View(search="한 글"))
    assert names(found) == ["한글 사랑", "한글"]
    assert ([row.place for row in found.rows], found.row_count, found.total) == ([1, 3], 2, 3)
    assert found.row_before is None
    assert names(board(phase, view=View(search="한글", offset=1, limit=1))) == ["한글"]

    phase.track.competition.has_blind_names = True
    phase.track.competition.save()
    assert names(board(fresh(phase), viewer_team=made[2].team, view=View(search="한글"))) == ["한글"]


def test_a_hidden_board_and_one_of_a_split_say_so(phase: Phase) -> None:
    row = scored(phase, "가", 0.9)
    assert (board(phase).covers_split, board(phase).disqualified, board(phase).snapshots) == (False, (), ())
    phase.reference_versions.all().update(is_current=False)
    ReferenceVersionFactory.create(phase=phase, public_ids=["q1"])
    Team.objects.filter(pk=row.team_id).update(disqualified_at=NOW)
    kept = BoardSnapshot.objects.create(
        phase=phase, number=1, kind=BoardSnapshot.Kind.PUBLIC, rows=[], published_at=NOW, recipe="rag-qa@1"
    )

    found = board(phase)

    assert (found.covers_split, found.snapshots) == (True, (kept,))
    assert [each.team_name for each in found.disqualified] == ["가"]
    assert board(hide(phase)).snapshots == ()


# --- what all scored --------------------------------------------------------------------------------------------------
def test_the_field_is_of_the_rows_that_the_reader_may_see(phase: Phase) -> None:
    assert board_and_field(phase)[1] == NOBODY
    own = scored(phase, "가", 0.5, hours=9)
    scored(phase, "나", 0.9, hours=1)

    found, field = board_and_field(phase, viewer_team=own.team)

    assert (found.rows, found.row_count) == ((), 2)
    assert found.own_row is not None
    assert field.ranked == (0.9, 0.5)
    assert names(board_and_field(phase, view=View(limit=1))[0]) == ["나"]
    assert board_and_field(freeze(phase))[1].ranked == (0.5,)
    assert board_and_field(phase, now=FROZEN_AT - timedelta(seconds=1))[1].ranked == (0.9, 0.5)
    assert board_and_field(hide(phase), viewer_team=own.team)[1] == NOBODY


def test_the_best_score_rose_as_the_public_board_shows_it(phase: Phase) -> None:
    assert leads(phase) == ()
    for name, score, hours in (("가", 0.5, 9), ("나", 0.4, 8), ("다", 0.9, 1)):
        scored(phase, name, score, hours)

    assert [each.score for each in leads(phase)] == [0.5, 0.9]
    assert [each.score for each in leads(freeze(phase))] == [0.5]
    assert [each.score for each in leads(phase, now=FROZEN_AT - timedelta(seconds=1))] == [0.5, 0.9]
    assert leads(hide(phase)) == ()


def test_where_a_composite_ranks_no_score_leads(phase: Phase) -> None:
    phase.track.composite = [{"score": "bleurt", "weight": 1}]
    phase.track.save()
    scored(phase, "가", 0.5)
    assert leads(phase) == ()


def test_ranks_are_those_of_the_live_board_while_everybody_sees_it(phase: Phase) -> None:
    assert public_ranks(phase) == {}
    second, first = scored(phase, "나", 0.5), scored(phase, "가", 0.9)
    scored(phase, "기준", 0.7, is_baseline=True)
    ranks = {first.team_id: 1, second.team_id: 2}

    assert public_ranks(phase) == ranks
    assert public_ranks(freeze(phase)) == {}
    assert public_ranks(phase, now=FROZEN_AT - timedelta(seconds=1)) == ranks
    assert public_ranks(hide(phase)) == {}
    Phase.objects.update(board=Phase.Board.LIVE, final_published_at=NOW)
    assert public_ranks(phase) == {}


def test_the_rows_on_the_public_board_are_those_that_visitors_see(phase: Phase) -> None:
    early, late = scored(phase, "가", 0.5, hours=9), scored(phase, "나", 0.9, hours=1)
    other = scored(phase, "다", 0.7)
    other.live_run.signature_hash = "of other models"  # type: ignore[union-attr]
    other.live_run.save()  # type: ignore[union-attr]

    def shown(submissions: list[int] | None = None) -> list[tuple[int, float]]:
        def read(phases: list[Any]) -> list[Standing]:
            return on_public_board(phases[0], submissions)

        rows = at_one_moment(phase, read)
        return sorted((row.submission_id, row.final_score) for row in rows)

    assert shown() == [(early.pk, 0.5), (late.pk, 0.9)]
    assert shown([late.pk, other.pk]) == [(late.pk, 0.9)]
    freeze(phase)
    assert shown() == [(early.pk, 0.5)]
    hide(phase)
    assert shown() == []


def test_nothing_is_on_the_board_of_a_phase_without_results(phase: Phase) -> None:
    assert at_one_moment(phase, lambda phases: on_public_board(phases[0])) == []


def test_several_phases_are_read_at_one_moment_in_their_order(phase: Phase) -> None:
    other, of_another_contest = PhaseFactory.create(track=phase.track), PhaseFactory.create()
    for each in (other, phase, of_another_contest):
        scored(each, f"팀 {each.pk}", 0.5)
    Phase.objects.filter(pk=phase.pk).update(position=9)  # so that the database finds it last

    read = at_one_moment(phase.track.competition, lambda phases: phases)

    assert read == [phase, other]
    assert not any(each.is_due for each in read)
    assert all(each.version for each in read)
