"""The public board of every day as it ended: kept once after midnight in Korea, in the chain, and shown by its date."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.test import Client

from malpan.competitions.models import Competition, Phase, Track
from malpan.core.times import KST
from malpan.leaderboard import standings
from malpan.leaderboard.day_boards import keep_day_boards
from malpan.leaderboard.errors import DayNotKept
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.published import day_asked, day_board
from malpan.leaderboard.selectors import board
from malpan.leaderboard.sureness import queueing
from malpan.leaderboard.verification import verify_competition
from malpan.submissions.models import ChainEntry
from malpan.teams.models import Team
from malpan.teams.services import disqualify_team
from tests.factories import PhaseFactory, TeamFactory, finished_submission, person_in
from tests.threads import at_once
from tests.web import html
from tests.web.test_chain_pages import body, chain_url, run_script

pytestmark = pytest.mark.django_db

MIDNIGHT = datetime(2026, 11, 26, 0, 0, tzinfo=KST)
NIGHT = MIDNIGHT + timedelta(seconds=5)
YESTERDAY = date(2026, 11, 25)
A_DAY = timedelta(days=1)


@pytest.fixture
def phase() -> Phase:
    """Three teams and a baseline; runs for three days before and after the midnight."""
    phase: Phase = PhaseFactory.create(
        starts_at=MIDNIGHT - timedelta(days=3),
        ends_at=MIDNIGHT + timedelta(days=3, hours=1),
        track__competition__is_published=True,
    )
    for name, score in (("가", 0.8), ("나", 0.6), ("다", 0.4), ("기준", 0.7)):
        team = TeamFactory.create(competition=phase.track.competition, name=name, is_baseline=name == "기준")
        finished_submission(phase, team, score, created_at=MIDNIGHT - timedelta(hours=9))
    standings.refresh(phase)
    return phase


def shown(phase: Phase, day: date) -> list[tuple[int | None, str, float]]:
    found = day_board(Phase.objects.get(pk=phase.pk), day)
    return [(row.rank, row.team_name, row.final_score) for row in found.rows]


def api(phase: Phase, **query: Any) -> Any:
    track = phase.track
    return Client().get(f"/api/v1/competitions/{track.competition.slug}/tracks/{track.slug}/board/", query)


OF_YESTERDAY = [(1, "가", 0.8), (None, "기준", 0.7), (2, "나", 0.6), (3, "다", 0.4)]


def test_the_board_of_a_day_stays_whatever_comes_after(phase: Phase) -> None:
    assert keep_day_boards(NIGHT) == 1
    third = phase.track.competition.teams.get(name="다")
    finished_submission(phase, third, 0.9, created_at=MIDNIGHT + timedelta(hours=2))
    first = phase.track.competition.teams.get(name="가")
    disqualify_team(team=first, actor=person_in(phase.track.competition, "owner"), note_ko="두 팀으로 참가")
    standings.refresh(phase)
    assert keep_day_boards(NIGHT + A_DAY) == 1
    assert shown(phase, YESTERDAY) == OF_YESTERDAY
    assert shown(phase, YESTERDAY + A_DAY) == [(1, "다", 0.9), (None, "기준", 0.7), (2, "나", 0.6)]
    assert board(phase, now=NIGHT + A_DAY).days == (YESTERDAY + A_DAY, YESTERDAY)
    assert day_board(Phase.objects.get(pk=phase.pk), YESTERDAY).left_since != (), "who reads it learns who left"


def test_it_is_kept_once(phase: Phase, django_assert_num_queries) -> None:
    assert keep_day_boards(NIGHT) == 1
    with django_assert_num_queries(1):
        assert keep_day_boards(NIGHT + timedelta(minutes=1)) == 0
    assert BoardSnapshot.objects.count() == 1


def test_every_phase_has_its_own_boards_numbered_from_the_first_day(phase: Phase) -> None:
    """Whatever was kept of another one, or of the same before a rescoring."""
    keep_day_boards(NIGHT)
    before = {"phase": phase, "kind": BoardSnapshot.Kind.PUBLIC, "rows": [], "recipe": phase.track.recipe}
    BoardSnapshot.objects.create(**before, number=7, sha256="0" * 64, published_at=NIGHT)
    other: Phase = PhaseFactory.create(
        starts_at=phase.starts_at, ends_at=phase.ends_at, track__competition__is_published=True
    )
    finished_submission(other, TeamFactory.create(competition=other.track.competition, name="딴 팀"), 0.3)
    standings.refresh(other)
    assert [keep_day_boards(NIGHT), keep_day_boards(NIGHT + A_DAY), keep_day_boards(NIGHT + 2 * A_DAY)] == [1, 2, 2]
    days = [YESTERDAY, YESTERDAY + A_DAY, YESTERDAY + 2 * A_DAY]
    assert sorted(day_board(phase, days[1]).days) == days
    for each, names in ((phase, ["가", "기준", "나", "다"]), (other, ["딴 팀"])):
        kept = each.snapshots.filter(kind=BoardSnapshot.Kind.DAY).order_by("number")
        assert [(board.number, board.day) for board in kept] == list(enumerate(days, 1))
        assert [[row["team"] for row in board.rows] for board in kept] == [names] * 3


@pytest.mark.django_db(transaction=True)
def test_two_housekeepers_keep_one_board(phase: Phase) -> None:
    assert sorted(at_once([lambda: keep_day_boards(NIGHT)] * 4)) == [0, 0, 0, 1]
    assert BoardSnapshot.objects.count() == ChainEntry.objects.filter(kind=ChainEntry.Kind.BOARD).count() == 1


def test_an_hour_late_is_too_late(phase: Phase, django_assert_num_queries) -> None:
    """A site that was down at midnight: the board of noon is not that of the day before."""
    with django_assert_num_queries(0):
        assert keep_day_boards(MIDNIGHT + timedelta(hours=1)) == 0
    with pytest.raises(DayNotKept):
        day_board(phase, YESTERDAY)


@pytest.mark.parametrize("change", ["hidden", "unpublished", "empty", "recipe gone", "before", "after"])
def test_no_board_is_kept_that_nobody_saw(phase: Phase, change: str) -> None:
    night = NIGHT
    if change == "hidden":
        Phase.objects.update(board=Phase.Board.HIDDEN)
    elif change == "unpublished":
        Competition.objects.update(is_published=False)
    elif change == "empty":
        Team.objects.update(disqualified_at=MIDNIGHT - A_DAY)
        standings.refresh(phase)
    elif change == "recipe gone":
        Track.objects.update(recipe="gone@1")
    else:
        night += timedelta(days=-3 if change == "before" else 5)
    assert keep_day_boards(night) == 0
    assert not BoardSnapshot.objects.exists()


def test_the_last_day_is_kept_too(phase: Phase) -> None:
    assert keep_day_boards(NIGHT + timedelta(days=4)) == 1
    assert shown(phase, YESTERDAY + timedelta(days=4)) == OF_YESTERDAY


def test_a_frozen_board_is_kept_as_visitors_saw_it(phase: Phase) -> None:
    Phase.objects.update(board=Phase.Board.FROZEN, frozen_at=MIDNIGHT - timedelta(hours=2))
    third = phase.track.competition.teams.get(name="다")
    finished_submission(phase, third, 0.9, created_at=MIDNIGHT - timedelta(hours=1))
    standings.refresh(phase)
    assert keep_day_boards(NIGHT) == 1
    assert shown(phase, YESTERDAY) == OF_YESTERDAY


def test_it_is_in_the_chain_and_verified(phase: Phase) -> None:
    keep_day_boards(NIGHT)
    entry = ChainEntry.objects.get(kind=ChainEntry.Kind.BOARD)
    kept = BoardSnapshot.objects.get()
    said = {name: entry.payload[name] for name in ("board", "day", "snapshot", "rows_sha256", "phase")}
    assert said == {
        "board": "day", "day": "2026-11-25", "snapshot": 1, "rows_sha256": kept.sha256, "phase": phase.slug,
    }  # fmt: skip
    of_boards = [each for each in verify_competition(phase.track.competition) if each.code.startswith("board")]
    assert of_boards == []
    BoardSnapshot.objects.update(day=YESTERDAY - A_DAY)
    assert {each.code for each in verify_competition(phase.track.competition)} >= {"board_missing", "board_gone"}


def test_nobody_computes_how_sure_the_boards_of_days_are(phase: Phase) -> None:
    """They are as many as days, and a worker has better to do."""
    keep_day_boards(NIGHT)
    assert list(queueing._due_snapshots()) == []


def test_it_is_read_by_page_and_api(phase: Phase) -> None:
    keep_day_boards(NIGHT)
    address = f"/competitions/{phase.track.competition.slug}/board/"
    page = html.parse(Client().get(address, {"day": "2026-11-25"}).content.decode())
    assert html.problems(page) == []
    text = page.text
    assert "2026-11-25 하루가 끝났을 때의 공개 순위표로, 2026-11-26 00:00:05 KST" in text
    assert "지금의 공개 순위표 보기" in text
    assert api(phase).json()["days"] == ["2026-11-25"]
    answer = api(phase, day="2026-11-25").json()
    assert answer["past"]["day"] == "2026-11-25"
    assert [row["team"] for row in answer["rows"]] == ["가", "기준", "나", "다"]


@pytest.mark.parametrize("asked", ["2026-11-20", "2026-13-45", "어제", "2026-11-25T00:00"])
def test_another_day_is_refused_in_plain_words(phase: Phase, asked: str) -> None:
    keep_day_boards(NIGHT)
    answer = Client().get(f"/competitions/{phase.track.competition.slug}/board/", {"day": asked})
    assert answer.status_code == 404
    assert "순위표는 남아 있지 않습니다" in answer.content.decode()
    assert api(phase, day=asked).status_code == 404


def test_no_day_is_no_day() -> None:
    assert day_asked(None) is None
    assert day_asked("") is None
    assert day_asked("2026-11-25") == YESTERDAY


def test_a_hidden_board_hides_its_days(phase: Phase) -> None:
    keep_day_boards(NIGHT)
    Phase.objects.update(board=Phase.Board.HIDDEN)
    assert api(phase).json()["days"] == []
    assert api(phase, day="2026-11-25").status_code == 404


def test_the_script_checks_the_board_of_a_day(phase: Phase, tmp_path: Path) -> None:
    """Whole, and not when a score was changed afterwards."""
    keep_day_boards(NIGHT)
    chain = body(Client().get(f"{chain_url(phase)}.json"))
    answer = api(phase, day="2026-11-25").json()
    sound = run_script(tmp_path, chain=chain, board=answer)
    assert "지난 공개 순위표 1판" in sound.stdout
    assert sound.returncode == 0, sound.stdout
    answer["rows"][0]["final_score"] += 0.1
    changed = run_script(tmp_path, chain=chain, board=answer)
    assert changed.returncode == 1, changed.stdout
    assert "지난 공개 순위표가 발표할 때의 기록과 다릅니다" in changed.stdout
