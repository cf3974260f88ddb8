"""Whose turn it is: teams alternate, the small pass the huge, rescoring waits, and nobody is served twice or never."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError

from malpan.competitions.models import Phase
from malpan.core.storage import store_private
from malpan.submissions.evaluation import queueing, runs
from malpan.submissions.evaluation.queueing import claim_next, give_turns, known_costs
from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.tasks import score_next
from tests.factories import (
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    prediction_bytes,
    publish,
)
from tests.threads import at_once

State = ScoringRun.State
in_one_transaction = pytest.mark.django_db
committed = pytest.mark.django_db(transaction=True)


class Line:
    """Runs of named teams and batches, queued as uploads and batches queue them."""

    def __init__(self) -> None:
        self.phase: Phase = PhaseFactory.create()
        publish(self.phase)
        self._teams: dict[str, Any] = {}
        self._batches: dict[str, RescoreBatch] = {}

    def upload(self, team: str, cost: int) -> ScoringRun:
        if team not in self._teams:
            self._teams[team] = TeamFactory.create(competition=self.phase.track.competition, name=team)
        stored = store_private(prediction_bytes())
        submission = SubmissionFactory.create(
            phase=self.phase, team=self._teams[team], file_sha256=stored.sha256, file_size=stored.size
        )
        return runs.queue_run(submission=submission, cost=cost)

    def rescore(self, batch: str, *costs: int) -> list[ScoringRun]:
        if batch not in self._batches:
            self._batches[batch] = RescoreBatch.objects.create(
                competition=self.phase.track.competition,
                phase=self.phase,
                reason=batch,
                repeats=2,  # of such batches there may be several
                created_by=UserFactory.create(),
            )
        team = TeamFactory.create(competition=self.phase.track.competition)
        made = [
            ScoringRunFactory.build(
                submission=SubmissionFactory.create(phase=self.phase, team=team),
                batch=self._batches[batch],
                cost=cost,
            )
            for cost in costs
        ]
        give_turns(made)
        return ScoringRun.objects.bulk_create(made)


@pytest.fixture
def line(db: None, sent: list[int]) -> Line:
    return Line()


def served(count: int | None = None) -> list[str]:
    """Whose runs are claimed next: the team's name, or the batch's reason."""
    names = []
    while count is None or len(names) < count:
        run = claim_next(worker="w")
        if run is None:
            break
        names.append(run.batch.reason if run.batch else run.submission.team.name)
    return names


# --- the order --------------------------------------------------------------------------------------------------------
@in_one_transaction
def test_teams_take_turns_whoever_came_first(line):
    for name in ("가", "나", "다"):
        for _upload in range(3):
            line.upload(name, 100)

    assert served() == ["가", "나", "다"] * 3


@in_one_transaction
def test_a_flood_of_one_team_does_not_keep_another_from_its_turn(line):
    for _upload in range(20):
        line.upload("홍수", 100)
    assert served(5) == ["홍수"] * 5

    line.upload("늦은 팀", 100)

    assert served(2) == ["홍수", "늦은 팀"]  # the flood's next run has the same tag, and is older


@in_one_transaction
def test_a_small_run_passes_a_huge_one(line):
    line.upload("큰 팀", 1_000_000)
    line.upload("작은 팀", 100)
    line.upload("작은 팀", 100)

    assert served() == ["작은 팀", "작은 팀", "큰 팀"]


@in_one_transaction
def test_a_huge_run_is_reached_after_the_others_have_had_as_much(line):
    line.upload("큰 팀", 1000)
    order = []
    for _upload in range(30):  # two others never stop
        line.upload("나", 100)
        line.upload("다", 100)
        order += served(2)

    # its tag is 1000; the others reach that with their tenth run each
    assert order.index("큰 팀") == 18


@in_one_transaction
def test_a_team_that_was_away_saves_up_no_turns(line):
    for _upload in range(10):
        line.upload("늘", 100)
    assert served(8) == ["늘"] * 8

    for _upload in range(3):
        line.upload("온 팀", 100)

    assert served() == ["늘", "온 팀", "늘", "온 팀", "온 팀"]


@in_one_transaction
def test_a_team_is_served_in_the_order_of_its_uploads(line):
    keys = [line.upload("가", cost).pk for cost in (900, 1, 500)]

    assert [claim_next(worker="w").pk for _run in keys] == keys


@in_one_transaction
def test_rescoring_waits_for_every_live_run_and_batches_take_turns(line):
    line.rescore("묶음 1", *[10] * 4)
    line.rescore("묶음 2", 10, 10)
    line.upload("가", 1_000_000)

    assert served(1) == ["가"]
    assert served(2) == ["묶음 1", "묶음 2"]
    line.upload("가", 1_000_000)
    assert served() == ["가", "묶음 1", "묶음 2", "묶음 1", "묶음 1"]


@in_one_transaction
def test_a_batch_that_starts_later_begins_where_the_other_is(line):
    line.rescore("묶음 1", *[10] * 6)
    assert served(3) == ["묶음 1"] * 3

    line.rescore("묶음 2", 10, 10)

    assert served() == ["묶음 1", "묶음 2", "묶음 1", "묶음 2", "묶음 1"]


@in_one_transaction
def test_a_run_that_is_tried_again_keeps_its_tag_and_waits_for_its_pause(line):
    first = line.upload("가", 100)
    line.upload("가", 100)
    line.upload("나", 100)
    tag = claim_next(worker="w").fair_tag
    runs.fail_run(run_id=first.pk, attempt=1, error_code="scoring_crashed", pause=60)

    assert served() == ["나", "가"]
    ScoringRun.objects.filter(pk=first.pk).update(not_before=timezone.now() - timedelta(seconds=1))
    again = claim_next(worker="w")
    assert (again.pk, again.fair_tag, again.attempt, again.not_before) == (first.pk, tag, 2, None)


@in_one_transaction
def test_tags_stand_far_from_the_end_of_their_column(line):
    ScoringRun.objects.filter(pk=line.upload("가", 1).pk).update(fair_tag=2**62)
    claim_next(worker="w")

    assert line.upload("나", 20 * 1024 * 1024).fair_tag == 2**62 + 20 * 1024 * 1024


@in_one_transaction
def test_the_next_run_is_found_by_its_index(line):
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        plan = queueing.waiting(timezone.now()).select_for_update(skip_locked=True, no_key=True)[:1].explain()

    assert "run_fair_order" in plan
    assert "Sort" not in plan


@in_one_transaction
def test_a_batch_of_any_size_gets_its_tags_by_three_queries(line, django_assert_num_queries):
    batch = line.rescore("묶음", 1)[0].batch
    submission = Submission.objects.first()
    many = [ScoringRunFactory.build(submission=submission, batch=batch, cost=5) for _run in range(400)]

    with django_assert_num_queries(3):
        give_turns(many)

    assert [run.fair_tag for run in many] == list(range(6, 2006, 5))


# --- costs ------------------------------------------------------------------------------------------------------------
@in_one_transaction
def test_a_later_scoring_costs_what_the_newest_did(line, django_assert_num_queries):
    known, unknown = line.upload("가", 100).submission, SubmissionFactory.create(phase=line.phase, file_size=3000)
    ScoringRunFactory.create(submission=known, cost=300)
    ScoringRunFactory.create(submission=known, cost=0)

    with django_assert_num_queries(1):
        assert known_costs([known, unknown]) == {known.pk: 300, unknown.pk: 1000}


# --- many workers -----------------------------------------------------------------------------------------------------
@committed
def test_fifty_workers_claim_two_hundred_runs_each_exactly_once(line):
    keys = {line.upload(f"팀 {place % 40}", 10 + place).pk for place in range(200)}

    claimed = at_once([lambda: [claim_next(worker="w") for _turn in range(4)] for _worker in range(50)])

    counts = Counter(run.pk for four in claimed for run in four)
    assert counts == dict.fromkeys(keys, 1)
    assert set(ScoringRun.objects.values_list("state", "attempt")) == {(State.RUNNING, 1)}
    assert claim_next(worker="w") is None


@committed
def test_the_last_run_is_waited_for_when_somebody_holds_it_for_a_moment(line):
    run = line.upload("가", 1)
    is_held, is_free = Barrier(2), Barrier(2)

    def hold() -> None:
        with transaction.atomic():
            ScoringRun.objects.select_for_update().get(pk=run.pk)
            is_held.wait(30)
            is_free.wait(30)
        connection.close()

    holder = Thread(target=hold)
    holder.start()
    is_held.wait(30)
    [claimed, _none] = at_once([lambda: claim_next(worker="w"), lambda: is_free.wait(30)])
    holder.join()

    assert claimed.pk == run.pk


@committed
def test_a_run_that_is_held_is_passed_over_for_another(line):
    first, second = line.upload("가", 1), line.upload("나", 1)
    with transaction.atomic():
        ScoringRun.objects.select_for_update().get(pk=first.pk)
        [claimed] = at_once([lambda: claim_next(worker="w")])

    assert claimed.pk == second.pk


# --- messages ---------------------------------------------------------------------------------------------------------
@committed
def test_any_message_serves_whose_turn_it_is_and_one_too_many_does_nothing(line, fake_engine):
    huge, small = line.upload("큰 팀", 10_000), line.upload("작은 팀", 10)

    score_next()
    small.refresh_from_db()
    huge.refresh_from_db()
    assert (small.state, huge.state) == (State.FINISHED, State.QUEUED)

    for _message in range(3):
        score_next()
    huge.refresh_from_db()
    assert (huge.state, len(fake_engine)) == (State.FINISHED, 2)


@in_one_transaction
def test_what_the_broker_did_not_take_is_marked_for_the_reconciler(line, monkeypatch):
    keys = [line.upload("가", 1).pk for _upload in range(3)]
    taken: list[int] = []

    def take_one(**_options: Any) -> None:
        if taken:
            raise OperationalError("connection refused")
        taken.append(1)

    monkeypatch.setattr(score_next, "apply_async", take_one)

    assert queueing.send_runs(keys) == 1
    assert list(ScoringRun.objects.filter(sent_at=None).order_by("pk").values_list("pk", flat=True)) == keys[1:]
