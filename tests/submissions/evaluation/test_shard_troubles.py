"""A large run meets faults, cancellations and other teams: the trouble of one shard is its own as long as it can be."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from django.core import mail
from django.db import connection, transaction
from django.utils import timezone

from malpan.core.storage import works
from malpan.submissions.evaluation import actions, runs, shards, work
from malpan.submissions.evaluation.reconciling import UNSENT_GRACE, reconcile
from malpan.submissions.models import RunShard, ScoringRun, Submission
from malpan.submissions.rescoring import services as rescoring
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.tasks import score_next
from malpan.submissions.withdrawal import withdraw
from scoring.running import sharding
from tests.factories import CANARY, TeamFactory, UserFactory, leader_of
from tests.submissions.conftest import send
from tests.submissions.evaluation.large_runs import SHARDS, answers, asked, large_run, planned_run, states, work_off
from tests.waiting import wait_for

__all__ = ["asked"]
pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("asked")]
State = RunShard.State
RunState = ScoringRun.State
EVERYTHING = Selection()


# --- faults -----------------------------------------------------------------------------------------------------------
def test_shard_that_fails_for_good_fails_its_run_which_is_refunded(settings, monkeypatch, caplog):
    settings.ADMINS = [("운영자", "operator@example.com")]
    run = planned_run()

    def crash(*_args: Any, **_options: Any) -> Any:
        raise RuntimeError(f"near {CANARY}")

    monkeypatch.setattr(sharding, "score_shard", crash)
    seen = []
    for _attempt in range(3):
        RunShard.objects.update(not_before=None)
        shard = run.shards.get(number=0)
        RunShard.objects.exclude(pk=shard.pk).update(fair_tag=10**9)
        work.do_next(worker="w")
        shard.refresh_from_db()
        seen.append((shard.state, shard.attempt, shard.error_code))
        run.refresh_from_db()

    assert seen == [
        (State.QUEUED, 1, "scoring_crashed"), (State.QUEUED, 2, "scoring_crashed"), (State.FAILED, 3, "scoring_crashed")
    ]  # fmt: skip
    assert (run.state, run.attempt, run.error_code) == (RunState.FAILED, 1, "scoring_crashed")
    assert Submission.objects.get(pk=run.submission_id).refunded_at is not None
    assert len(mail.outbox) == 1
    assert work.claim_next(worker="w") is None  # its other shards are nobody's work any more
    reconcile()
    assert (states(run), works()) == ({State.FAILED: SHARDS}, [])
    assert CANARY not in caplog.text


def test_fault_of_one_shard_is_tried_again_after_a_pause_and_costs_the_others_nothing(monkeypatch):
    run = planned_run()
    real = sharding.score_shard
    tried: list[int] = []

    def crash_once(*args: Any, **options: Any) -> Any:
        tried.append(1)
        if len(tried) == 1:
            raise MemoryError
        return real(*args, **options)

    monkeypatch.setattr(sharding, "score_shard", crash_once)
    work_off()
    assert states(run) == {State.FINISHED: SHARDS - 1, State.QUEUED: 1}

    RunShard.objects.update(not_before=None)
    work_off()

    run.refresh_from_db()
    assert (run.state, run.error_code) == (RunState.FINISHED, "")
    assert sorted(run.shards.values_list("attempt", flat=True)) == [1] * SHARDS + [2]


# --- taken back by people ---------------------------------------------------------------------------------------------
def test_cancelled_run_stops_its_shards_and_leaves_no_file():
    run = planned_run()
    held = shards.claim_next(worker="w")

    actions.cancel_run(run=run, actor=UserFactory.create(is_superuser=True))

    assert work.claim_next(worker="w") is None
    assert not shards.finish_shard(shard=held, values={name: [0.5] * 3 for name in held.signatures})
    reconcile()
    run.refresh_from_db()
    assert (run.state, run.error_code, works()) == (RunState.FAILED, "cancelled_by_organiser", [])


def test_cancelled_run_that_had_nothing_but_a_gathering_leaves_no_open_shard():
    run = large_run()
    work_off()
    again = runs.queue_run(submission=run.submission)
    work.do_next(worker="planner")
    assert (states(again), works()) == ({State.QUEUED: 1}, [])

    actions.cancel_run(run=again, actor=UserFactory.create(is_superuser=True))
    reconcile()

    assert states(again) == {State.FAILED: 1}


def test_withdrawn_submission_is_scored_to_the_end_as_in_one_piece(settings):
    run = planned_run()

    withdraw(submission=run.submission, actor=leader_of(run.submission.team))
    work_off()

    run.refresh_from_db()
    assert run.state == RunState.FINISHED


def test_cancelled_batch_drops_its_shards():
    run = large_run()
    work_off()
    organiser = UserFactory.create(is_superuser=True)
    batch = rescoring.start_batch(
        phase=run.submission.phase, actor=organiser, reason="잡음", repeats=2, selection=EVERYTHING
    )
    work.do_next(worker="planner")
    assert RunShard.objects.filter(run__batch=batch, state=State.QUEUED).count() == SHARDS

    rescoring.cancel_batch(batch=batch, actor=organiser)

    assert work.claim_next(worker="w") is None
    assert set(batch.runs.values_list("state", flat=True)) == {RunState.FAILED}
    reconcile()
    assert works() == []


# --- the fair order ---------------------------------------------------------------------------------------------------
def test_small_run_of_another_team_passes_between_the_shards_of_a_huge_one():
    run = planned_run()
    work.do_next(worker="w")
    other = TeamFactory.create(competition=run.submission.phase.track.competition)
    phase = run.submission.phase
    virtual_time = ScoringRun.objects.get(pk=run.pk).fair_tag
    small = send(phase, other, answers(mark="다른 ")).runs.get()
    ScoringRun.objects.filter(pk=small.pk).update(fair_tag=virtual_time + 1)  # as of a file of one token

    pieces = [work.claim_next(worker="w") for _piece in range(SHARDS)]

    assert [type(piece) for piece in pieces] == [ScoringRun] + [RunShard] * (SHARDS - 1)
    assert pieces[0] == small


def test_next_run_of_the_team_stands_behind_its_shards():
    run = planned_run()
    last = max(run.shards.values_list("fair_tag", flat=True))

    following = send(run.submission.phase, run.submission.team, answers(mark="둘째 ")).runs.get()

    assert following.fair_tag > last


def test_live_run_goes_before_the_shards_of_a_rescoring():
    run = large_run()
    work_off()
    phase, organiser = run.submission.phase, UserFactory.create(is_superuser=True)
    rescoring.start_batch(phase=phase, actor=organiser, reason="잡음", repeats=2, selection=EVERYTHING)
    for _repeat in range(2):
        work.do_next(worker="planner")
    assert isinstance(work.claim_next(worker="w"), RunShard)

    other = TeamFactory.create(competition=phase.track.competition)
    live = send(phase, other, answers(mark="새 ")).runs.filter(batch=None).get()

    assert work.claim_next(worker="w") == live


# --- claims that meet others ------------------------------------------------------------------------------------------
def test_the_last_shard_is_waited_for_when_somebody_holds_it_for_a_moment():
    run = planned_run()
    last = run.shards.last()
    run.shards.exclude(pk=last.pk).delete()

    with ThreadPoolExecutor() as pool, transaction.atomic():
        RunShard.objects.select_for_update().get(pk=last.pk)
        claimed = pool.submit(apart, partial(shards.claim_next, worker="w"))
        wait_for(somebody_waits_for_us, "the claim waits")
        RunShard.objects.filter(pk=last.pk).update(sent_at=timezone.now())
    assert claimed.result() == last


def test_claim_waits_for_nobody_who_has_the_run_while_it_holds_a_shard():
    run = planned_run()

    with ThreadPoolExecutor() as pool, transaction.atomic():
        ScoringRun.objects.select_for_update(no_key=True).get(pk=run.pk)
        claimed = pool.submit(apart, partial(shards.claim_next, worker="w"))
        wait_for(somebody_waits_for_us, "the claim moves the clock")
        RunShard.objects.filter(run=run).update(worker="a new plan")  # as a deletion: a deadlock, were one held
    assert claimed.result().run_id == run.pk


def test_reconciler_waits_for_nobody_who_has_a_run_with_shards():
    run = planned_run()
    ScoringRun.objects.update(lease_expires_at=timezone.now())

    with ThreadPoolExecutor() as pool, transaction.atomic():
        ScoringRun.objects.select_for_update(no_key=True).get(pk=run.pk)
        pool.submit(apart, reconcile).result(timeout=10)


def apart(call: Callable[[], Any]) -> Any:
    """What ``call`` gives, on a connection of its own."""
    try:
        return call()
    finally:
        connection.close()


def somebody_waits_for_us() -> bool:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY(pg_blocking_pids(pid)))"
        )
        return cursor.fetchone()[0]


# --- messages and files -----------------------------------------------------------------------------------------------
def test_every_piece_has_its_message_and_no_message_holds_anything(monkeypatch, caplog):
    caplog.set_level("DEBUG")
    calls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    monkeypatch.setattr(score_next, "apply_async", lambda *args, **options: calls.append((args, options)))
    run = planned_run()
    assert len(calls) == 1 + SHARDS  # the run's own, and one for each shard
    work_off()

    assert len(calls) == 2 + SHARDS
    assert all(call == ((), {"countdown": None, "retry": False}) for call in calls)
    stored = json.dumps(list(RunShard.objects.values()), default=str, ensure_ascii=False)
    assert CANARY not in stored + caplog.text
    assert run.shards.count() == SHARDS + 1


def test_files_lie_in_private_storage_and_files_and_values_go_with_the_run(settings):
    run = planned_run()
    folder = settings.PRIVATE_ROOT / "work" / shards.work_of(run.pk)
    texts = b"".join(path.read_bytes() for path in folder.iterdir())
    assert len(list(folder.iterdir())) == SHARDS
    assert CANARY.encode() in texts
    work.do_next(worker="w")
    assert run.shards.exclude(values=None).count() == 1

    work_off()

    assert not folder.exists()
    assert not run.shards.exclude(values=None).exists()


def test_shard_whose_message_was_lost_is_sent_again(monkeypatch):
    calls: list[int] = []
    run = planned_run()
    monkeypatch.setattr(score_next, "apply_async", lambda **_options: calls.append(1))
    RunShard.objects.update(sent_at=None)

    assert reconcile(now=timezone.now() + 2 * UNSENT_GRACE).sent == SHARDS
    assert (len(calls), run.shards.filter(sent_at=None).count()) == (SHARDS, 0)
