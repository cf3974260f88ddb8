"""Figures are computed by a worker, once for the same votes; what is published is of exactly the present votes."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from malpan.arena import computing
from malpan.arena.closing import close_campaign
from malpan.arena.computations import AGAIN_AFTER, JOB, KEPT, computation_of, is_under_way, keep_answer
from malpan.arena.errors import ComputationFailed, ComputationNotFound, ResultChanged, StillComputing
from malpan.arena.exclusions import make_exclusion
from malpan.arena.models import Computation
from malpan.arena.planning import Need, least_judgements, plan_panel
from malpan.arena.publishing import computed_result, publish_result
from malpan.arena.quality import current_result, live_quality, open_scores
from malpan.arena.results import question_of
from malpan.arena.votes_file import votes_of
from malpan.jobs import claim, outcome, queue
from malpan.jobs.errors import WorkerLost
from malpan.jobs.models import Job
from malpan.jobs.reconcile import reclaim_expired
from malpan.jobs.registry import NotMine
from malpan.jobs.tasks import work_next
from malpan.operation.site_page import facts
from scoring.arena.result import compute
from scoring.arena.votes import read_votes
from tests.arena.answers import answered, do, quality_of, rested, work_off
from tests.arena.panels import Panel, open_panel
from tests.factories import CompetitionFactory

pytestmark = pytest.mark.django_db
PLAN = {
    "votes": 20,
    "judges": 2,
    "tie_percent": 10,
    "systems": 3,
    "spread": 0.5,
    "order_effect": 0.0,
    "items": 10,
    "protocol": "pairwise",
    "group": 4,
}


@pytest.fixture
def panel() -> Panel:
    """Half of a queue is judged: the lower label is better."""
    panel = open_panel(judges=3, item_count=6, calibration_count=0)
    for judge in panel.judges:
        for _number in range(3):
            judge_better(panel, judge)
    return panel


def judge_better(panel: Panel, judge) -> None:
    row = panel.next(judge)
    better = row.systems[0] < row.systems[1]
    if row.bad_index is not None:
        better = row.bad_index == 1
    panel.judge(row, {"choice": "first" if better else "second", "reasons": []})


def closed(panel: Panel) -> Panel:
    panel.campaign = close_campaign(campaign=panel.campaign, actor=panel.organiser, accepts_open=True)
    return panel


def claimed() -> Job:
    job = Job.objects.get(kind=JOB, state="queued")
    claim.take(job, "worker")
    return job


def test_a_request_computes_nothing_and_the_same_votes_are_computed_once(panel, monkeypatch):
    closed(panel)
    monkeypatch.setattr(computing, "compute_answer", lambda _row: pytest.fail("in a request"))
    for _reader in range(3):
        with pytest.raises(StillComputing):
            computed_result(campaign=panel.campaign)
    monkeypatch.undo()

    assert work_off() == 1

    found = computed_result(campaign=panel.campaign)
    assert found.result_bytes == compute(read_votes(found.votes_bytes)).bytes()
    assert work_off() == 0
    assert Computation.objects.count() == 1


def test_only_the_result_of_exactly_the_present_votes_is_published(panel):
    closed(panel)
    seen = answered(computed_result, campaign=panel.campaign)
    make_exclusion(campaign=panel.campaign, actor=panel.organiser, judge=panel.judges[0], reason="까닭")
    publish = {"campaign": panel.campaign, "actor": panel.organiser}

    with pytest.raises(StillComputing):
        publish_result(**publish, result_sha256=seen.result_sha256)
    with pytest.raises(StillComputing):
        computed_result(campaign=panel.campaign)
    work_off()
    with pytest.raises(ResultChanged):
        publish_result(**publish, result_sha256=seen.result_sha256)

    fresh = computed_result(campaign=panel.campaign)
    made = publish_result(**publish, result_sha256=fresh.result_sha256)
    assert (made.votes_sha256, made.result_sha256) == (fresh.votes_sha256, fresh.result_sha256)
    assert fresh.votes_sha256 != seen.votes_sha256


def test_an_answer_is_of_the_votes_that_were_asked_about_whatever_came_meanwhile(panel):
    before = votes_of(panel.campaign)
    assert live_quality(panel.campaign).waiting is not None
    job = claimed()
    judge_better(panel, panel.judges[0])

    do(job)

    [row] = Computation.objects.all()
    assert bytes(row.answer) == compute(before).bytes()
    assert bytes(row.given) == b""


def test_while_judges_work_the_last_figures_are_shown_and_one_computation_is_under_way(panel):
    open_scores(campaign=panel.campaign, actor=panel.organiser, reason="까닭")
    first = quality_of(panel.campaign)
    assert (first.of, first.waiting) == (None, None)
    rested()

    for _number in range(2):
        judge_better(panel, panel.judges[0])
        later = live_quality(panel.campaign)
        assert [each.figures for each in later.judges] == [each.figures for each in first.judges]
        assert later.done > first.done
        assert later.of is not None
        assert later.waiting is not None
    assert current_result(campaign=panel.campaign, actor=panel.organiser).waiting == later.waiting
    assert work_off() == 1

    fresh = quality_of(panel.campaign)
    assert fresh.judges[0].figures.votes + fresh.judges[0].figures.controls + fresh.judges[0].figures.repeats == 5


def test_figures_of_an_open_campaign_rest_twenty_times_as_long_as_they_took(panel):
    quality_of(panel.campaign)
    now = timezone.now()
    row = Computation.objects.get()
    for answered_ago, is_asked in ((3, False), (100, False), (206, True)):
        judge_better(panel, panel.judges[0])
        started = now - timedelta(seconds=answered_ago + 10)
        Job.objects.filter(pk=row.job_id).update(started_at=started)
        Computation.objects.filter(pk=row.pk).update(answered_at=started + timedelta(seconds=10))

        found = live_quality(panel.campaign)

        assert found.of is not None
        assert (found.waiting is not None, Computation.objects.count() == 2) == (is_asked, is_asked)


def test_figures_are_taken_before_all_waiting_submissions_and_a_plan_has_its_turn(panel):
    [waiting] = queue.add(kind=JOB, flow="team:1", lane=Job.Lane.LIVE, costs=[5_000])
    with pytest.raises(StillComputing):
        plan_panel(competition=panel.campaign.track.competition, **PLAN | {"votes": 3000})
    closed(panel)
    with pytest.raises(StillComputing):
        computed_result(campaign=panel.campaign)

    order = [job.pk for job in claim.due(timezone.now())]

    result, plan = (Computation.objects.get(kind=kind).job_id for kind in ("result", "plan"))
    assert order == [result, waiting.pk, plan]


def test_a_closed_campaign_shows_no_former_figures(panel):
    quality_of(panel.campaign)
    judge_better(panel, panel.judges[0])
    closed(panel)

    found = live_quality(panel.campaign)

    assert (found.agreement, found.of) == (None, None)
    assert found.waiting is not None


def test_a_killed_attempt_is_done_again_and_its_late_answer_is_refused(panel):
    closed(panel)
    with pytest.raises(StillComputing):
        computed_result(campaign=panel.campaign)
    killed = claimed()
    Job.objects.filter(pk=killed.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert reclaim_expired(timezone.now()) == 1

    assert work_off() == 1
    row = Computation.objects.get()
    answer, moment = bytes(row.answer), row.answered_at
    do(killed)
    assert not keep_answer(row=row, answer=b"late", job=killed)

    row.refresh_from_db()
    assert (bytes(row.answer), row.answered_at) == (answer, moment)
    assert Job.objects.get(pk=killed.pk).state == "finished"
    assert Job.objects.get(pk=killed.pk).attempt == killed.attempt + 1


def test_what_was_given_up_is_told_and_asked_for_again_a_minute_later(panel, settings):
    closed(panel)
    with pytest.raises(StillComputing):
        computed_result(campaign=panel.campaign)
    for _attempt in range(settings.JOB_MAX_FAILURES):
        job = claimed()
        outcome.fail(job_id=job.pk, attempt=job.attempt, error_code=WorkerLost.code)
    row = Computation.objects.get()

    with pytest.raises(ComputationFailed):
        computed_result(campaign=panel.campaign)
    assert live_quality(panel.campaign).has_failed
    assert not is_under_way(computation_of(row.competition, row.pk))

    Job.objects.update(finished_at=timezone.now() - AGAIN_AFTER)
    assert answered(computed_result, campaign=panel.campaign).result_bytes
    assert Job.objects.filter(kind=JOB).count() == 2


def test_a_worker_of_another_version_leaves_it(panel):
    closed(panel)
    with pytest.raises(StillComputing):
        computed_result(campaign=panel.campaign)
    Computation.objects.update(instrument="0.0.1")

    with pytest.raises(NotMine):
        do(claimed())


@pytest.mark.django_db(transaction=True)
def test_what_no_worker_s_version_can_compute_is_told_to_operators(panel):
    closed(panel)
    with pytest.raises(StillComputing):
        computed_result(campaign=panel.campaign)
    Computation.objects.update(instrument="0.0.1")

    for _meeting in range(2):
        Job.objects.filter(kind=JOB).update(not_before=None)
        work_next(worker="old")

    [held] = facts.held()
    assert (held.code, held.jobs) == ("version_missing", 1)


def test_a_job_whose_computation_is_gone_ends(panel):
    live_quality(panel.campaign)
    Computation.objects.all().delete()

    assert work_off() == 1

    assert Job.objects.get(kind=JOB).state == "finished"


def test_old_answers_are_let_go_of_and_the_votes_of_an_answer_at_once(panel):
    question = question_of(panel.campaign, votes_of(panel.campaign))
    for number in range(KEPT + 3):
        Computation.objects.create(
            competition=question.competition, campaign=panel.campaign, kind="result", given_sha256=f"{number:064x}",
            instrument="1", given=b"", answer=b"{}", asked_at=panel.now - timedelta(days=number + 1),
            answered_at=panel.now,
        )  # fmt: skip

    quality_of(panel.campaign)

    kept = Computation.objects.all()
    assert len(kept) == KEPT
    assert question.given not in {bytes(row.given) for row in kept}
    assert live_quality(panel.campaign).of is None


def test_a_plan_is_simulated_once_for_the_same_question():
    competition = CompetitionFactory.create()
    with pytest.raises(StillComputing):
        plan_panel(competition=competition, **PLAN)
    assert work_off() == 1

    rows = plan_panel(competition=competition, **PLAN)

    assert [row["votes_per_judge"] for row in rows] == [20, 40]
    assert json.dumps(rows) == json.dumps(plan_panel(competition=competition, **PLAN))
    assert work_off() == 0
    with pytest.raises(StillComputing):
        plan_panel(competition=CompetitionFactory.create(), **PLAN)


def test_a_computation_is_seen_in_its_own_competition():
    competition = CompetitionFactory.create()
    with pytest.raises(StillComputing) as caught:
        plan_panel(competition=competition, **PLAN)
    pk = caught.value.params["computation"]

    assert is_under_way(computation_of(competition, pk))
    with pytest.raises(ComputationNotFound):
        computation_of(CompetitionFactory.create(), pk)
    work_off()
    with CaptureQueriesContext(connection) as queries:
        assert not is_under_way(computation_of(competition, pk))
    assert len(queries) == 1


def test_the_least_number_of_judgements_is_between_rows_as_widths_shrink() -> None:
    """Widths of 4/√n: half of them is 0.16 where n is 156.25."""
    rows = [{"votes_per_judge": n // 4, "judgements": n, "width": 4 / n**0.5} for n in (100, 200, 400)]
    assert least_judgements(rows, 0.16) == Need(157, 40, is_bound=False)
    assert least_judgements(rows, 0.1) == Need(400, 100, is_bound=False)
    assert least_judgements(rows, 0.2) == Need(100, 25, is_bound=True)
    assert least_judgements(rows, 0.09) is None
    assert least_judgements([rows[0] | {"width": None}, *rows[1:]], 0.15) == Need(200, 50, is_bound=True)
    assert least_judgements([], 1.0) is None
