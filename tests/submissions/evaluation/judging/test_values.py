"""What a judge answered is kept for good: nothing answered is asked and paid again, whatever stops a scoring."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError, connection, transaction

from malpan.competitions.models import Phase
from malpan.jobs import outage
from malpan.jobs.models import Job
from malpan.submissions.evaluation import judge_values, pair_cache, results
from malpan.submissions.evaluation.judge_values import RunValues
from malpan.submissions.evaluation.runs import drop_runs, queue_run, queue_runs
from malpan.submissions.models import Judgement, MetricResult, PairValue, RescoreBatch, ScoringRun
from malpan.submissions.rescoring.batches import Selection
from malpan.submissions.rescoring.services import start_batch
from malpan.submissions.scoring_config import ScoringConfig
from malpan.teams.models import Team
from scoring.judging.demo import DemoJudge
from scoring.records import ItemScores, ScoreReport
from tests.factories import UserFactory
from tests.paths import ROOT
from tests.scoring.judging.toys import demo_judge, profile_for
from tests.submissions.conftest import execute, fresh
from tests.submissions.evaluation.judging.judged import ITEMS, judged_values, sent
from tests.waiting import wait_for

State = ScoringRun.State
pytestmark = pytest.mark.django_db(transaction=True)  # the lease is renewed on a connection of its own


def repeated(phase: Phase) -> RescoreBatch:
    return start_batch(phase=phase, selection=Selection(), reason="반복", actor=UserFactory.create(), repeats=2)


# --- the table --------------------------------------------------------------------------------------------------------
def test_the_table_is_logged_and_holds_no_text(phase: Phase, team: Team) -> None:
    execute(sent(phase, team))
    assert (Judgement.objects.count(), PairValue.objects.count()) == (ITEMS, 0)
    with connection.cursor() as cursor:
        cursor.execute("SELECT relpersistence FROM pg_class WHERE relname = 'submissions_judgement'")
        assert cursor.fetchone() == ("p",)
        cursor.execute("SELECT string_agg(t::text, '') FROM submissions_judgement t")
        assert not re.search("[가-힣]", cursor.fetchone()[0])


def test_it_is_used_where_the_cache_of_pairs_is_turned_off_and_is_not_pruned(
    phase: Phase, team: Team, server: DemoJudge, settings: Any
) -> None:
    settings.PAIR_VALUES_MAX_ROWS = 0
    execute(sent(phase, team))
    pair_cache.prune()
    MetricResult.objects.all().delete()
    execute(queue_run(submission=team.submissions.get()))
    assert sorted(server.stats.asked.values()) == [1] * ITEMS


def test_a_statement_that_fails_is_tried_again_and_later_ones_are_written_too(
    phase: Phase, team: Team, server: DemoJudge, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every other write fails the first time, as in a short outage; the same for reads."""
    monkeypatch.setattr(outage, "AGAIN_SECONDS", 0.01)
    calls = {"_insert": 0, "_select": 0}

    def flaky(name: str) -> None:
        whole = getattr(judge_values, name)

        def act(*arguments: Any) -> Any:
            calls[name] += 1
            if calls[name] % 2:
                raise OperationalError("the server closed the connection")
            return whole(*arguments)

        monkeypatch.setattr(judge_values, name, act)

    flaky("_insert")
    flaky("_select")
    assert execute(sent(phase, team)).state == State.FINISHED
    assert Judgement.objects.count() == ITEMS
    assert calls["_insert"] == 2 * ITEMS


def test_a_database_that_stays_away_ends_the_asking(
    phase: Phase, team: Team, server: DemoJudge, profile: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is asked for that could not be kept."""
    profile_for(profile, server.url, concurrency=1)
    settings.JOB_LEASE_SECONDS = 0.2
    monkeypatch.setattr(outage, "AGAIN_SECONDS", 0.05)

    def away(*_: Any) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(judge_values, "_insert", away)
    values = RunValues((judge_values.ANY, 1), None, asker=1)
    with pytest.raises(outage.StillAway):
        values.put("llm_judge", "s", {("가", "나"): 0.6})
    with pytest.raises(outage.StillAway):
        execute(sent(phase, team))
    assert server.stats.asked.total() <= 2


# --- unparsable answers -----------------------------------------------------------------------------------------------
def test_an_unparsable_answer_is_kept_for_its_run_alone(phase: Phase, team: Team, profile: Path, settings: Any) -> None:
    run = sent(phase, team)
    with demo_judge(faults=("broken-json",), rate=0.75, most=99, seed=1) as broken:
        profile_for(profile, broken.url, max_requests=24, concurrency=1)
        run = execute(run)
        asked = broken.stats.as_dict()
        settled = {question for question, times in asked["asked"].items() if times == 3} | asked["answered"].keys()
        lost = settled - asked["answered"].keys()
        assert run.state == State.QUEUED
        assert lost
        assert asked["answered"]
        profile_for(profile, broken.url)
        run = execute(run)
        after = broken.stats.as_dict()
    assert run.state == State.FINISHED
    assert {question: after["asked"][question] for question in settled} == {q: asked["asked"][q] for q in settled}
    unparsable = [item for item, value in judged_values(run).items() if value == 0.0]
    assert len(unparsable) == ITEMS - len(after["answered"]) > 0
    [warning] = [each for each in run.warnings if each["code"] == "llm_judge_unparsable"]
    assert warning["params"]["count"] == len(unparsable)

    with demo_judge() as sound:  # by choice: scored again, only these are asked
        profile_for(profile, sound.url)
        again = execute(queue_run(submission=run.submission))
        assert sound.stats.asked.total() == len(unparsable)
    assert 0.0 not in judged_values(again).values()
    assert again.scores["llm_judge"] == pytest.approx(sum(judged_values(again).values()) / ITEMS)
    assert run.scores["llm_judge"] < again.scores["llm_judge"]


def test_an_answer_in_the_item_table_is_never_replaced(phase: Phase, team: Team, server: DemoJudge) -> None:
    """Not by another answer, of which no score was made, and not by none at all."""
    run = execute(sent(phase, team))
    row = MetricResult.objects.get(submission=run.submission_id, metric="llm_judge")
    truth = dict(row.values)
    assert 0.0 not in truth.values()
    MetricResult.objects.filter(pk=row.pk).update(values=truth | {"e0": 0.0, "e1": 0.2})
    items = tuple(ItemScores(item, {"llm_judge": value}) for item, value in (truth | {"e1": 1.0, "e2": 0.0}).items())
    with transaction.atomic():
        results.keep(
            run, ScoreReport(run.recipe, 0.0, {}, {}, (), items, {}, "", {"llm_judge": row.metric_signature}), None
        )
    assert judged_values(run) == truth | {"e1": 0.2}


# --- kill -9 ----------------------------------------------------------------------------------------------------------
WORKER = """
import django
django.setup()
from malpan.submissions.evaluation import canary
from malpan.submissions.models import ScoringRun
from malpan.jobs.tasks import work_next
work_next(worker="a process")
"""


def test_a_worker_that_is_killed_in_the_middle_costs_only_what_was_on_its_way(
    phase: Phase, team: Team, profile: Path, settings: Any
) -> None:
    """A real process, killed with SIGKILL; the server counts."""
    run = sent(phase, team)
    with demo_judge(delay=0.15) as server:
        profile_for(profile, server.url, concurrency=1, timeout=10)
        worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env=_environment(settings))
        try:
            wait_for(lambda: server.stats.answered.total() >= 4 or worker.poll() is not None, "four", seconds=120)
            assert worker.poll() is None
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
        assert 4 <= server.stats.answered.total() < ITEMS
        assert fresh(run).state == State.RUNNING
        Job.objects.filter(pk=run.job_id).update(state=Job.State.QUEUED, lease_expires_at=None)
        run = execute(run)
        stats = server.stats.as_dict()
    assert run.state == State.FINISHED
    twice = [question for question, times in stats["asked"].items() if times > 1]
    assert len(stats["asked"]) == ITEMS  # none lost
    assert len(twice) <= 1  # the one that was on its way when the worker died
    assert stats["requests"] == ITEMS + len(twice)


def _environment(settings: Any) -> dict[str, str]:
    """That of a worker process on the database and the files of this test."""
    name = connection.settings_dict["NAME"]
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": re.sub(r"/[^/?]+(?=\?|$)", f"/{name}", os.environ["DATABASE_URL"], count=1),
        "PRIVATE_ROOT": str(settings.PRIVATE_ROOT),
        "SECRET_KEY": settings.SECRET_KEY,
    }


def test_a_killed_repetition_asks_for_nothing_again_that_was_answered(
    phase: Phase, team: Team, profile: Path, settings: Any
) -> None:
    """As above, in the second of two repetitions. Each has its own answers; the first has all of them by then."""
    with demo_judge() as server:
        profile_for(profile, server.url)
        execute(sent(phase, team))
    batch = repeated(phase)
    first, second = batch.runs.order_by("pk")
    with demo_judge(delay=0.15) as server:
        profile_for(profile, server.url, concurrency=1, timeout=10)
        first = execute(first)
        assert (first.state, server.stats.answered.total()) == (State.FINISHED, ITEMS)  # asked anew, in spite of all
        worker = subprocess.Popen([sys.executable, "-c", WORKER], cwd=ROOT, env=_environment(settings))
        try:
            enough = ITEMS + 4
            wait_for(lambda: server.stats.answered.total() >= enough or worker.poll() is not None, "four", seconds=120)
            assert worker.poll() is None
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
        assert enough <= server.stats.answered.total() < 2 * ITEMS
        Job.objects.filter(pk=second.job_id).update(state=Job.State.QUEUED, lease_expires_at=None)
        second = execute(second)
        stats = server.stats.as_dict()
    assert second.state == State.FINISHED
    assert len(stats["asked"]) == ITEMS
    assert sorted(stats["asked"].values())[:-1] == [2] * (ITEMS - 1)
    assert stats["requests"] <= 2 * ITEMS + 1  # the one that was on its way when the worker died


def test_a_repetition_that_is_retried_goes_on_where_the_failed_one_stopped(
    phase: Phase, team: Team, profile: Path, server: DemoJudge
) -> None:
    execute(sent(phase, team))
    batch = repeated(phase)
    first, second = batch.runs.order_by("pk")
    execute(second)
    profile_for(profile, server.url, max_requests=2 * ITEMS + 5)
    first = execute(first)
    assert (first.state, server.stats.asked.total()) == (State.QUEUED, 2 * ITEMS + 5)
    drop_runs([first], error_code="cancelled")
    profile_for(profile, server.url)
    [again] = queue_runs(
        [first.submission], ScoringConfig(first.reference_version, first.recipe, first.profile), batch=batch
    )
    assert judge_values.scope_of(again) == first.pk
    assert execute(again).state == State.FINISHED
    assert server.stats.asked.total() == 3 * ITEMS


def _environment(settings: Any) -> dict[str, str]:
    """That of a worker process on the database and the files of this test."""
    name = connection.settings_dict["NAME"]
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "tests.settings",
        "DATABASE_URL": re.sub(r"/[^/?]+(?=\?|$)", f"/{name}", os.environ["DATABASE_URL"], count=1),
        "PRIVATE_ROOT": str(settings.PRIVATE_ROOT),
        "SECRET_KEY": settings.SECRET_KEY,
    }
