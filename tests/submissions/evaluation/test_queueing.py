"""Whose turn it is: teams alternate, the small pass the huge, rescoring waits, and nobody is served twice or never."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta
from threading import Barrier, Thread
from typing import Any

import pytest
from django.db import connection, transaction
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core.storage import store_private
from malpan.jobs import claim, doorbell, queue
from malpan.jobs.claim import claim_next
from malpan.jobs.models import Job
from malpan.jobs.order import assign_fair_tags
from malpan.jobs.tasks import work
from malpan.submissions.evaluation import runs
from malpan.submissions.evaluation.runs import known_costs
from malpan.submissions.models import RescoreBatch, ScoringRun
from malpan.submissions.scoring_config import scoring_config_of
from tests.factories import (
    PhaseFactory,
    ScoringRunFactory,
    SubmissionFactory,
    TeamFactory,
    UserFactory,
    prediction_bytes,
    publish,
)
from tests.submissions.conftest import fail_run
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
        submissions = [SubmissionFactory.create(phase=self.phase, team=team) for _cost in costs]
        return runs.queue_runs(
            submissions,
            scoring_config_of(self.phase),
            batch=self._batches[batch],
            costs={each.pk: cost for each, cost in zip(submissions, costs, strict=True)},
        )


@pytest.fixture
def line(db: None, rings: list[str]) -> Line:
    return Line()


def served(count: int | None = None) -> list[str]:
    """Whose runs are claimed next: the team's name, or the batch's reason."""
    names = []
    while count is None or len(names) < count:
        job = claim_next(worker="w")
        if job is None:
            break
        run = ScoringRun.objects.get(job=job)
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
    keys = [line.upload("가", cost).job_id for cost in (900, 1, 500)]

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
    fail_run(first, attempt=1, pause=60)

    assert served() == ["나", "가"]
    Job.objects.filter(pk=first.job_id).update(not_before=timezone.now() - timedelta(seconds=1))
    again = claim_next(worker="w")
    assert (again.pk, again.fair_tag, again.attempt, again.not_before) == (first.job_id, tag, 2, None)


@in_one_transaction
def test_tags_stand_far_from_the_end_of_their_column(line):
    Job.objects.filter(pk=line.upload("가", 1).job_id).update(fair_tag=2**62)
    claim_next(worker="w")

    assert line.upload("나", 20 * 1024 * 1024).job.fair_tag == 2**62 + 20 * 1024 * 1024


@in_one_transaction
def test_the_next_run_is_found_by_its_index(line):
    with connection.cursor() as cursor, transaction.atomic():
        cursor.execute("SET LOCAL enable_seqscan = off")
        cursor.execute("SET LOCAL enable_sort = off")
        rows = claim.due(timezone.now()).filter(kind__in=["run", "slice"])
        plan = rows.select_for_update(skip_locked=True, no_key=True, of=("self",))[:1].explain()

    assert "job_fair_order" in plan
    assert "Sort" not in plan


@in_one_transaction
def test_jobs_of_any_number_are_queued_by_three_queries(line, django_assert_num_queries):
    line.rescore("묶음", 1)
    flow = Job.objects.get().flow

    with django_assert_num_queries(5):  # with the savepoint around them
        made = queue.add(kind="run", flow=flow, lane=Job.Lane.RESCORING, costs=[5] * 400)

    assert [job.fair_tag for job in made] == list(range(6, 2006, 5))
    assert assign_fair_tags([5] * 400, 1) == [job.fair_tag for job in made]


# --- costs ------------------------------------------------------------------------------------------------------------
@in_one_transaction
def test_a_later_scoring_costs_what_the_newest_did(line, django_assert_num_queries):
    known, unknown = line.upload("가", 100).submission, SubmissionFactory.create(phase=line.phase, file_size=3000)
    ScoringRunFactory.create(submission=known, job__cost=300)
    ScoringRunFactory.create(submission=known, job__cost=0)

    with django_assert_num_queries(1):
        assert known_costs([known, unknown]) == {known.pk: 300, unknown.pk: 1000}


# --- many workers -----------------------------------------------------------------------------------------------------
@committed
def test_many_workers_claim_many_runs_each_exactly_once(line):
    keys = {line.upload(f"팀 {place % 16}", 10 + place).job_id for place in range(80)}

    claimed = at_once([lambda: [claim_next(worker="w") for _turn in range(4)] for _worker in range(20)])

    counts = Counter(job.pk for four in claimed for job in four)
    assert counts == dict.fromkeys(keys, 1)
    assert set(ScoringRun.objects.values_list("state", "job__state", "job__attempt")) == {(State.RUNNING,) * 2 + (1,)}
    assert claim_next(worker="w") is None


@committed
def test_the_last_run_is_waited_for_when_somebody_holds_it_for_a_moment(line):
    run = line.upload("가", 1)
    is_held, is_free = Barrier(2), Barrier(2)

    def hold() -> None:
        with transaction.atomic():
            Job.objects.select_for_update().get(pk=run.job_id)
            is_held.wait(30)
            is_free.wait(30)
        connection.close()

    holder = Thread(target=hold)
    holder.start()
    is_held.wait(30)
    [claimed, _none] = at_once([lambda: claim_next(worker="w"), lambda: is_free.wait(30)])
    holder.join()

    assert claimed.pk == run.job_id


@committed
def test_a_run_that_is_held_is_passed_over_for_another(line):
    first, second = line.upload("가", 1), line.upload("나", 1)
    with transaction.atomic():
        Job.objects.select_for_update().get(pk=first.job_id)
        [claimed] = at_once([lambda: claim_next(worker="w")])

    assert claimed.pk == second.job_id


# --- the doorbell -----------------------------------------------------------------------------------------------------
@committed
def test_any_ring_serves_whose_turn_it_is_and_one_too_many_does_nothing(line, fake_engine):
    huge, small = line.upload("큰 팀", 10_000), line.upload("작은 팀", 10)

    work()
    small.refresh_from_db()
    huge.refresh_from_db()
    assert (small.state, huge.state) == (State.FINISHED, State.QUEUED)

    for _ring in range(3):
        work()
    huge.refresh_from_db()
    assert (huge.state, len(fake_engine)) == (State.FINISHED, 2)


@committed
def test_who_takes_a_job_wakes_the_next_worker_while_more_waits(line, fake_engine, rings):
    line.rescore("묶음", 1, 1, 1)
    assert rings == [doorbell.TASK], "however many were queued"

    counts = []
    for _ring in range(3):
        rings.clear()
        work()
        counts.append(len(rings))

    assert counts == [1, 1, 0]
