"""The rule changes in the middle of a contest: 24 teams, 120 submissions, uploads going on, a reader polling."""

from __future__ import annotations

import copy
import json
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection

from malpan.competitions.models import Notice, Phase, Track
from malpan.core.models import AuditEntry
from malpan.jobs import doorbell
from malpan.leaderboard.boards import Board
from malpan.leaderboard.rescore_preview import Preview, preview
from malpan.leaderboard.selectors import board
from malpan.submissions.intake import submit
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring import batches
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.apply import Announcement
from malpan.submissions.rescoring.batches import Selection, state_of
from malpan.submissions.rescoring.errors import BatchNotReady
from tests.snapshots import Snapshot
from tests.submissions.rescoring.contest_of_many import Contest, answers, fill, found, work_off
from tests.waiting import wait_for

pytestmark = pytest.mark.django_db(transaction=True)
TEAMS, EACH = 24, 5
NOTICE = Announcement(
    "채점 규칙 변경 안내", "이유를 쓰지 않은 문항은 0점입니다.", "Rule change", "A missing reason scores 0."
)


def shown(found: Board) -> tuple[Any, ...]:
    """Everything a reader sees of a board."""
    rows = tuple(
        (row.rank, row.team_id, row.team_name, tuple(sorted(row.scores.items())), row.final_score, row.submission_count)
        for row in found.rows
    )
    return found.recipe.id, found.signature_hash, found.excluded_count, rows


def as_json(phase: Phase) -> str:
    return json.dumps(shown(board(phase)), ensure_ascii=False)


def upload(contest: Contest, place: int, seed: int) -> Submission:
    return submit(
        phase=Phase.objects.select_related("track__competition").get(pk=contest.phase.pk),
        team=contest.teams[place],
        user=contest.users[place],
        file_name="late.json",
        upload=answers(seed, leaves_out_reasons=seed % 2 == 0),
    )


class Reader:
    """Somebody who reloads the board all the time; every distinct board seen, in order."""

    def __init__(self, phase_id: int) -> None:
        self.seen: list[tuple[Any, ...]] = []
        self.looks = 0
        self._phase_id = phase_id
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(1)

    def __enter__(self) -> Reader:
        self._reading = self._pool.submit(self._read)
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._reading.result(timeout=60)  # raises what the reader met
        self._pool.shutdown()

    def _read(self) -> None:
        try:
            while not self._stop.is_set():
                phase = Phase.objects.select_related("track__competition").get(pk=self._phase_id)
                now = shown(board(phase))
                self.looks += 1
                if not self.seen or self.seen[-1] != now:
                    self.seen.append(now)
        finally:
            connection.close()

    def look_again(self, times: int = 3) -> None:
        wanted = self.looks + times
        wait_for(lambda: self.looks >= wanted or self._reading.done(), "the reader looks", every=0.01)


@pytest.fixture(scope="module")
def kept() -> list[tuple[Contest, Snapshot]]:
    """The contest as the first test that needed it made it."""
    return []


@pytest.fixture
def contest(
    rings: list[str],
    neural: list[Any],
    kept: list[tuple[Contest, Snapshot]],
    tmp_path_factory: pytest.TempPathFactory,
) -> Contest:
    """24 teams with five scored submissions each: filled once, by the real runs, and put back for every other test."""
    if kept:
        kept[0][1].put_back()
    else:
        made = found(TEAMS, daily_limit=EACH + 5)
        fill(made, EACH)
        kept.append((made, Snapshot.take(tmp_path_factory.mktemp("kept") / "private")))
    return copy.deepcopy(kept[0][0])


def timed(what: str, call: Callable[[], Any]) -> Any:
    start = time.monotonic()
    result = call()
    print(f"{what}: {time.monotonic() - start:.2f} s")
    return result


def test_the_rule_changes_mid_contest_and_a_reader_sees_the_old_board_or_the_new_one(
    contest: Contest, neural: list[Any], rings: list[str]
) -> None:
    phase, organiser = contest.phase, contest.organiser
    old = shown(timed("board", lambda: board(phase)))
    assert len(old[3]) == TEAMS
    asked_before = len(neural)

    batch = timed(
        "start",
        lambda: rescoring.start_batch(
            phase=phase, selection=Selection(), reason="빠진 이유는 0점", actor=organiser, recipe="rag-qa-strict@1"
        ),
    )
    assert batch.runs.count() == TEAMS * EACH
    assert rings[-1:] == [doorbell.TASK]
    assert shown(board(phase)) == old

    timed("half of the runs", lambda: work_off(TEAMS * EACH // 2))
    assert shown(board(phase)) == old
    newcomers = [upload(contest, place, 1000 + place) for place in range(5)]
    for newcomer in newcomers:
        assert sorted(newcomer.runs.values_list("recipe", flat=True)) == ["rag-qa-strict@1", "rag-qa@1"]
    asked_of_old = len(neural)
    assert asked_of_old == asked_before, "no neural metric ran for what was scored before"
    work_off()
    assert state_of(batch) == RescoreBatch.State.READY
    assert neural[asked_of_old:] == [], "the reasons of newcomers are those of others, scored before"

    before_apply = shown(board(phase))
    assert before_apply[0] == "rag-qa@1"
    expected = timed("preview", lambda: preview(batch))
    assert len(expected.rows) == TEAMS * EACH + len(newcomers)
    assert next(change for change in expected.changes if change.score == "exact_match").changed == 0
    assert all(change.maximum <= 0 for change in expected.changes if change.score == "bleurt")

    with Reader(phase.pk) as reader:
        reader.look_again()
        timed(
            "apply",
            lambda: rescoring.apply_batch(
                batch=batch, actor=organiser, resets_quota=True, announcement=NOTICE, leaves_other_phases=False
            ),
        )
        reader.look_again()
    phase = Phase.objects.select_related("track__competition").get(pk=phase.pk)
    after = shown(board(phase))
    assert reader.seen == [before_apply, after]
    assert after[:3] == ("rag-qa-strict@1", after[1], 0)

    _require_predicted(expected, before_apply, after, batch)
    assert Track.objects.get(pk=phase.track_id).recipe == "rag-qa-strict@1"
    assert Notice.objects.get().title_ko == NOTICE.title_ko
    assert all(quota.status(phase=phase, team=team).used_total == 0 for team in contest.teams)
    assert AuditEntry.objects.filter(action="rescoring.apply", competition_pk=batch.competition_id).count() == 1

    late = upload(contest, 7, 77)
    assert list(late.runs.values_list("recipe", flat=True)) == ["rag-qa-strict@1"]


def _require_predicted(expected: Preview, before: tuple[Any, ...], after: tuple[Any, ...], batch: RescoreBatch) -> None:
    """The preview said, team by team and submission by submission, what then came."""
    standing = {row[1]: (row[0], row[4]) for row in after[3]}
    assert {move.team_id: (move.after, move.score_after) for move in expected.moves} == standing
    ranks_before = {row[1]: row[0] for row in before[3]}
    assert {move.team_id: move.before for move in expected.moves} == ranks_before
    for move in expected.moves:
        lines = [line for line in (3, 10) if (ranks_before[move.team_id] <= line) != (move.after <= line)]
        assert list(move.crossed) == lines
    by_run = {run.submission_id: run for run in batch.runs.all()}
    for row in expected.rows:
        assert row.after == by_run[row.submission_id].scores


def test_cancel_leaves_every_score_and_rank_byte_identical(contest: Contest) -> None:
    phase = contest.phase
    old = as_json(phase)
    runs = json.dumps(list(ScoringRun.objects.order_by("pk").values()), default=str)
    pointers = list(Submission.objects.order_by("pk").values_list("pk", "live_run", "refunded_at"))
    batch = rescoring.start_batch(
        phase=phase, selection=Selection(), reason="시험", actor=contest.organiser, recipe="rag-qa-strict@1"
    )
    done = work_off(TEAMS * EACH // 3)

    rescoring.cancel_batch(batch=batch, actor=contest.organiser)
    work_off()

    assert as_json(phase) == old
    assert json.dumps(list(ScoringRun.objects.filter(batch=None).order_by("pk").values()), default=str) == runs
    assert list(Submission.objects.order_by("pk").values_list("pk", "live_run", "refunded_at")) == pointers
    assert batch.runs.filter(state=ScoringRun.State.QUEUED).count() == 0
    assert batch.runs.filter(state=ScoringRun.State.FINISHED).count() == done
    assert not Notice.objects.exists()
    assert batches.open_batch(phase) is None


def test_uploads_at_the_moment_of_applying_are_scored_by_the_rule_that_holds_for_them(
    contest: Contest, neural: list[Any]
) -> None:
    phase = contest.phase
    batch = rescoring.start_batch(
        phase=phase, selection=Selection(), reason="시험", actor=contest.organiser, recipe="rag-qa-strict@1"
    )
    work_off()
    start = threading.Barrier(9)

    def send(place: int) -> None:
        try:
            start.wait(timeout=30)
            for turn in range(4):
                upload(contest, place, 5000 + 10 * place + turn)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        sending = [pool.submit(send, place) for place in range(8)]
        start.wait(timeout=30)
        while True:
            try:
                rescoring.apply_batch(batch=batch, actor=contest.organiser, resets_quota=True)
                break
            except BatchNotReady:
                work_off()
        for each in sending:
            each.result()
    work_off()

    assert Submission.objects.count() == TEAMS * EACH + 32
    by_rule = set(Submission.objects.values_list("live_run__recipe", "live_run__state"))
    assert by_rule == {("rag-qa-strict@1", "finished")}
    assert board(Phase.objects.get(pk=phase.pk)).excluded_count == 0
