"""Published boards and kept ones as readers ask for them: which of them, which rows, and what became of the teams."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.leaderboard import published
from malpan.leaderboard.boards import BASELINES, COMPOSITE, COUNT, TIME, Board, View
from malpan.leaderboard.errors import BoardNotFound
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import (
    kept_before,
    left_since,
    past_board,
    publications,
    published_board,
    snapshot_number,
)
from malpan.leaderboard.snapshots import publish_final_board
from malpan.submissions.models import RescoreBatch
from malpan.submissions.past_boards import RESCORED, SETTINGS
from malpan.teams.models import Team
from tests.factories import PhaseFactory, TeamFactory, UserFactory, finished_submission, person_in

pytestmark = pytest.mark.django_db
NOW = timezone.now()


@pytest.fixture
def phase() -> Phase:
    """Over, without a split."""
    return PhaseFactory.create(starts_at=NOW - timedelta(days=9), ends_at=NOW - timedelta(hours=1))


@pytest.fixture
def organiser(phase: Phase) -> User:
    return person_in(phase.track.competition, "organiser")


def team_of(phase: Phase, name: str, score: float, **fields: Any) -> Team:
    """A team with one result."""
    team = TeamFactory.create(competition=phase.track.competition, name=name, **fields)
    at = NOW - timedelta(days=2, seconds=Team.objects.count())
    finished_submission(phase, team, score, scores={"bleurt": 1 - score}, created_at=at)
    return team


def snapshot_of(phase: Phase, number: int, **fields: Any) -> BoardSnapshot:
    kept = {"kind": BoardSnapshot.Kind.PUBLIC, "published_at": NOW, "rows": [], "recipe": phase.track.recipe}
    return BoardSnapshot.objects.create(phase=phase, number=number, sha256=f"{number:064x}", **kept | fields)


def names(found: Board | None) -> list[str]:
    assert found is not None
    return [row.team_name for row in found.rows]


# --- which board ------------------------------------------------------------------------------------------------------
def test_the_newest_is_shown_and_every_one_before_it_is_found(phase: Phase, organiser: User) -> None:
    team_of(phase, "가", 0.9)
    assert published_board(phase) is None
    with pytest.raises(BoardNotFound):
        published_board(phase, number=1)
    publish_final_board(phase=phase, actor=organiser)
    team_of(phase, "나", 0.5)
    publish_final_board(phase=phase, actor=organiser)

    assert names(published_board(phase)) == names(published_board(phase, number=2)) == ["가", "나"]
    earlier = published_board(phase, number=1)
    assert names(earlier) == ["가"]
    assert earlier is not None
    assert [each.number for each in earlier.snapshots] == [2, 1]
    assert earlier.is_past
    with pytest.raises(BoardNotFound) as refused:
        published_board(phase, number=3)
    assert refused.value.params == {"number": 3}
    Phase.objects.update(final_published_at=None)
    phase.refresh_from_db()
    assert published_board(phase) is None


def test_a_public_board_of_the_past_is_found_by_its_number_while_the_board_is_public(phase: Phase) -> None:
    for number in (1, 2):
        snapshot_of(phase, number)
    snapshot_of(phase, 3, kind=BoardSnapshot.Kind.FINAL, published_by=UserFactory.create())

    found = past_board(phase, 1)

    assert found.snapshot is not None
    assert (found.snapshot.number, [each.number for each in found.snapshots]) == (1, [2, 1])
    assert [each.number for each in publications(phase)] == [3]
    with pytest.raises(BoardNotFound):
        past_board(phase, 3)
    phase.board = Phase.Board.HIDDEN
    with pytest.raises(BoardNotFound):
        past_board(phase, 1)


@pytest.mark.parametrize(("written", "number"), [(None, None), ("", None), ("7", 7), ("99999", 99999)])
def test_the_number_of_a_board_is_read(written: str | None, number: int | None) -> None:
    assert snapshot_number(written) == number


@pytest.mark.parametrize("written", ["100000", "-1", "x", "²", "1.0"])
def test_what_is_no_number_of_a_board_is_not_found(written: str) -> None:
    with pytest.raises(BoardNotFound):
        snapshot_number(written)


# --- its rows ---------------------------------------------------------------------------------------------------------
def test_rows_are_cut_and_ones_own_is_there_anyhow(phase: Phase, organiser: User) -> None:
    teams = [team_of(phase, f"팀{number}", 0.9 - number / 10) for number in range(4)]
    publish_final_board(phase=phase, actor=organiser)

    found = published_board(phase, viewer_team=teams[3], view=View(offset=1, limit=2))

    assert names(found) == ["팀1", "팀2"]
    assert found is not None
    assert (found.row_count, found.total, found.excluded_count) == (4, 4, 0)
    assert [(row.rank, row.place, row.is_own) for row in found.rows] == [(2, 2, False), (3, 3, False)]
    assert found.own_row is not None
    assert (found.own_row.team_name, found.own_row.rank, found.own_row.is_own) == ("팀3", 4, True)
    assert found.row_before is not None
    assert found.row_before.team_name == "팀0"
    for reader in (None, TeamFactory.create(competition=phase.track.competition)):
        stranger = published_board(phase, viewer_team=reader)
        assert stranger is not None
        assert (stranger.own_row, stranger.row_before) == (None, None)
        assert not any(row.is_own for row in stranger.rows)


def test_without_a_search_no_name_of_the_board_is_compared(
    phase: Phase, organiser: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    teams = [team_of(phase, f"팀{number}", 0.9 - number / 10) for number in range(4)]
    publish_final_board(phase=phase, actor=organiser)
    published_board(phase)
    asked: list[str] = []
    monkeypatch.setattr(View, "finds", lambda _view, name: asked.append(name) or True)
    found = published_board(phase, viewer_team=teams[3], view=View(offset=1, limit=2))
    assert names(found) == ["팀1", "팀2"]
    assert asked == [], "no name is compared where none is searched for"


def test_the_row_before_those_shown_is_a_teams_and_none_in_a_search(phase: Phase, organiser: User) -> None:
    team_of(phase, "가", 0.99)
    for number in range(BASELINES):
        team_of(phase, f"기준{number}", 0.9 - number / 100, is_baseline=True)
    team_of(phase, "나", 0.1)
    publish_final_board(phase=phase, actor=organiser)

    def before(**view: Any) -> str | None:
        found = published_board(phase, view=View(**view))
        assert found is not None
        return found.row_before and found.row_before.team_name

    assert before(offset=BASELINES) == "가"
    assert before(offset=1) == "가"
    assert before(offset=1 + BASELINES) is None  # beyond what is looked through
    assert before(offset=1, search="가") is None


def test_teams_are_searched_for_by_name(phase: Phase, organiser: User) -> None:
    for number, name in enumerate(["한글 사랑", "말글", "한글"]):
        team_of(phase, name, 0.9 - number / 10)
    publish_final_board(phase=phase, actor=organiser)

    found = published_board(phase, view=View(search="한글"))

    assert names(found) == ["한글 사랑", "한글"]
    assert found is not None
    assert ([row.place for row in found.rows], found.row_count, found.total) == ([1, 3], 2, 3)


def test_rows_are_sorted_by_what_the_reader_asks_for(phase: Phase, organiser: User) -> None:
    teams = [team_of(phase, name, score) for name, score in (("가", 0.9), ("나", 0.5), ("다", 0.7))]
    finished_submission(phase, teams[1], 0.1, created_at=NOW - timedelta(days=1))
    publish_final_board(phase=phase, actor=organiser)

    def by(sort: str, is_descending: bool | None = False) -> list[str]:
        return names(published_board(phase, view=View(sort=sort, is_descending=is_descending)))

    assert by("bleurt") == ["가", "다", "나"]
    assert by("bleurt", True) == ["나", "다", "가"]
    assert by("final_score", None) == ["가", "다", "나"]
    assert by(COUNT, True) == ["나", "가", "다"]
    assert by(TIME) == ["다", "나", "가"]
    assert by(COMPOSITE) == by("no_such_column", True) == ["가", "다", "나"]


def test_rows_without_the_value_are_last_either_way(phase: Phase, organiser: User) -> None:
    finished_submission(phase, TeamFactory.create(competition=phase.track.competition, name="없음"), 0.95)
    team_of(phase, "가", 0.9)
    team_of(phase, "나", 0.5)
    publish_final_board(phase=phase, actor=organiser)

    for is_descending, expected in ((False, ["가", "나", "없음"]), (True, ["나", "가", "없음"])):
        found = published_board(phase, view=View(sort="bleurt", is_descending=is_descending))
        assert names(found) == expected


def test_a_board_of_a_composite_is_sorted_by_it(phase: Phase) -> None:
    def row(team: str, value: float | None) -> dict[str, Any]:
        composite = None if value is None else {"value": value, "parts": []}
        return {
            "rank": 1, "team": team, "team_number": 1, "is_baseline": False, "scores": {}, "final_score": 0.5,
            "submission_count": 1, "submitted_at": NOW.isoformat(), "is_demo_models": team == "나", "public_rank": None,
            "public_score": None, "composite": composite,
        }  # fmt: skip

    rows = [row("가", 2.0), row("나", 1.0), row("다", None)]
    snapshot_of(phase, 1, rows=rows, components=[{"score": "bleurt", "weight": 1.0, "higher_is_better": True}])

    found = past_board(phase, 1, view=View(sort=COMPOSITE))

    assert names(found) == ["나", "가", "다"]
    assert found.is_demo_models


# --- what became of the teams -----------------------------------------------------------------------------------------
def test_a_team_s_model_stands_beside_the_name_that_it_still_has(phase: Phase, organiser: User) -> None:
    team = team_of(phase, "가", 0.9, model_name="작은 모델")
    team_of(phase, "나", 0.8)
    publish_final_board(phase=phase, actor=organiser)

    found = published_board(phase)
    assert found is not None
    assert [row.model and row.model.name for row in found.rows] == ["작은 모델", None]

    Team.objects.filter(pk=team.pk).update(name="다른 이름")
    found = published_board(phase)
    assert found is not None
    assert [(row.team_name, row.model) for row in found.rows] == [("가", None), ("나", None)]


def test_teams_that_were_disqualified_since_and_programs_are_marked(phase: Phase, organiser: User) -> None:
    gone, program = team_of(phase, "가", 0.9), team_of(phase, "나", 0.5, is_program=True)
    team_of(phase, "다", 0.4)
    TeamFactory.create(name="다른 대회", is_program=True, number=3)
    left_before = team_of(phase, "라", 0.3, disqualified_at=NOW)
    snapshot = publish_final_board(phase=phase, actor=organiser)
    found = published_board(phase)
    assert found is not None
    assert (found.left_since, left_since(phase, snapshot)) == ((), ())
    Team.objects.filter(pk=gone.pk).update(disqualified_at=NOW)

    found = published_board(phase)

    assert found is not None
    assert [row.is_disqualified for row in found.rows] == [True, False, False]
    assert [row.is_program for row in found.rows] == [False, program.is_program, False]
    assert [each.number for each in found.left_since] == [gone.number]
    assert left_since(phase, snapshot) == found.left_since
    assert {each.number for each in found.disqualified} == {gone.number, left_before.number}


# --- the board before a rescoring -------------------------------------------------------------------------------------
def test_a_rescoring_leads_to_the_board_that_was_kept_before_it(phase: Phase, organiser: User) -> None:
    batch = RescoreBatch.objects.create(
        competition=phase.track.competition, phase=phase, reason="사유", created_by=organiser, closed_by=organiser,
        closed_at=NOW, state=RescoreBatch.State.APPLIED,
    )  # fmt: skip

    def kept(seconds: float, actor: User | None = organiser, note: str = RESCORED.ko) -> BoardSnapshot | None:
        BoardSnapshot.objects.all().delete()
        made = snapshot_of(phase, 1, note_ko=note, published_by=actor, published_at=NOW - timedelta(seconds=seconds))
        found = kept_before(batch)
        assert found in (None, made)
        return found

    assert kept(0)
    assert kept(300)
    for seconds in (-1, 301):
        assert not kept(seconds)
    assert not kept(1, note=SETTINGS.ko)
    assert not kept(1, actor=UserFactory.create())
    snapshot_of(phase, 2, note_ko=SETTINGS.ko, published_by=organiser)
    BoardSnapshot.objects.filter(number=1).update(published_by=organiser)
    found = kept_before(batch)
    assert found is not None
    assert found.number == 1
    for change in ({"state": RescoreBatch.State.CANCELLED}, {"closed_at": None}):
        RescoreBatch.objects.update(**change)
        assert kept_before(RescoreBatch.objects.get()) is None
        batch.save()
    batch.phase.board = Phase.Board.HIDDEN
    assert kept_before(batch) is None


def test_boards_that_are_read_in_turn_are_read_from_the_database_once(
    phase: Phase, django_assert_num_queries: Any
) -> None:
    """Whoever turns the days over makes no process read a board again; of large ones fewer are kept."""
    snapshots = [snapshot_of(phase, number) for number in range(1, 41)]
    with django_assert_num_queries(len(snapshots)):
        for snapshot in snapshots * 2:
            assert published.published_rows(snapshot) == ()
    assert published._boards.size <= published.ROWS_KEPT
