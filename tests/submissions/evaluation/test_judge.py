"""Runs with an LLM judge: a budget of all workers, an outage that is waited for, and nothing asked and paid twice."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.jobs.models import Job
from malpan.submissions.evaluation import judge_budget
from malpan.submissions.evaluation.judge_budget import SharedLedger
from malpan.submissions.models import JudgeUsage, MetricResult, QuotaEntry, ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from scoring.judging.budget import Limits, Usage
from scoring.judging.demo import DemoJudge
from tests.factories import PhaseFactory, TeamFactory, file_bytes, leader_of
from tests.paths import ROOT
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for
from tests.submissions.conftest import claim_run, execute, fresh, send
from tests.waiting import wait_for

ITEMS = 12
State = ScoringRun.State
pytestmark = pytest.mark.django_db(transaction=True)  # the lease is renewed on a connection of its own


def references() -> bytes:
    scores = {"content": 3.4, "organization": 2.75, "expression": 4.0, "average": 3.383}
    return file_bytes(
        [
            {
                "id": f"e{number}",
                "prompt_num": "1",
                "prompt": "채식의 날",
                "essay": f"{ESSAY} {number}",
                "score": scores,
            }
            for number in range(ITEMS)
        ]
    )


def predictions(mark: str = "", changed: int = 0) -> bytes:
    """Scores with reasons; those of the first ``changed`` essays end with ``mark``."""
    return file_bytes(
        [
            {
                "id": f"e{number}",
                **{
                    trait: {
                        "score": 3,
                        "rationale": f"{GOOD if number % 2 else STOCK} {mark if number < changed else ''}",
                    }
                    for trait in ("content", "organization", "expression")
                },
            }
            for number in range(ITEMS)
        ]
    )


@pytest.fixture
def server() -> Iterator[DemoJudge]:
    with demo_judge() as running:
        yield running


@pytest.fixture
def profile(tmp_path: Path, server: DemoJudge) -> Path:
    return profile_for(tmp_path / "judged.toml", server.url)


@pytest.fixture
def phase(profile: Path, rings: list[str]) -> Phase:
    made = PhaseFactory.create(track__recipe="essay-scoring@1", track__profile=str(profile))
    publish_reference_version(phase=made, data=references(), actor=None)
    return made


@pytest.fixture
def team(phase: Phase) -> Team:
    return TeamFactory.create(competition=phase.track.competition)


def sent(phase: Phase, team: Team, data: bytes | None = None) -> ScoringRun:
    return send(phase, team, predictions() if data is None else data).runs.get()


def judged_values(run: ScoringRun) -> dict[str, float]:
    return dict(MetricResult.objects.get(submission=run.submission_id, metric="llm_judge").values)


def test_a_second_file_asks_only_for_what_is_new(phase: Phase, team: Team, server: DemoJudge) -> None:
    first = execute(sent(phase, team))
    assert (first.state, first.error_code) == (State.FINISHED, "")
    assert first.scores["llm_judge"] == pytest.approx(sum(judged_values(first).values()) / ITEMS)
    assert sorted(server.stats.billed.values()) == [1] * ITEMS

    execute(sent(phase, team, predictions("조금 다르게.", changed=3)))
    assert sorted(server.stats.asked.values()) == [1] * (ITEMS + 3)
    usage = JudgeUsage.objects.get()
    assert (usage.requests, usage.tokens) == (ITEMS + 3, server.stats.tokens)


def test_no_score_of_people_or_of_the_answer_is_sent(
    phase: Phase, team: Team, server: DemoJudge, monkeypatch: Any
) -> None:
    from scoring.judging import demo

    bodies: list[str] = []
    whole = demo._Handler._answer
    monkeypatch.setattr(
        demo._Handler, "_answer", lambda self, q, body, j: (bodies.append(body.decode()), whole(self, q, body, j))[1]
    )
    execute(sent(phase, team))
    assert len(bodies) == ITEMS
    assert not [body for body in bodies if "3.383" in body or "2.75" in body or '\\"score\\"' in body]
    assert all("[과제]\\n채식의 날" in body and "조직: " in body for body in bodies)


# --- the budget -------------------------------------------------------------------------------------------------------
def test_a_budget_that_is_used_up_pauses_the_run_and_tells_the_organiser(
    phase: Phase, team: Team, server: DemoJudge, profile: Path, settings: Any, client: Any, admin_user: Any
) -> None:
    settings.ADMINS = [("운영자", "operator@example.org")]
    profile_for(profile, server.url, max_requests=5)
    run = execute(sent(phase, team))
    job = Job.objects.get(pk=run.job_id)
    assert (run.state, run.error_code, job.state, job.failures) == (State.QUEUED, "judge_budget_used_up", "queued", 0)
    assert job.not_before > timezone.now() + timedelta(seconds=judge_budget.BUDGET_PAUSE_SECONDS - 30)
    assert server.stats.asked.total() == 5
    assert not QuotaEntry.objects.exclude(kind=QuotaEntry.Kind.CHARGE).exists()
    [letter] = mail.outbox
    assert "max_requests" in letter.body

    for _again in range(5):  # waiting is no failure, however often it looks again, and is told once
        run = execute(run)
    assert (run.state, Job.objects.get(pk=run.job_id).failures, server.stats.asked.total()) == (State.QUEUED, 0, 5)
    assert len(mail.outbox) == 1

    client.force_login(admin_user)
    for name in ("manage_overview", "manage_runs"):
        page = client.get(reverse(name, args=[phase.track.competition.slug])).content.decode()
        assert "심사 모델의 예산을 다 써 채점 1건이 기다립니다" in page
        assert "요청 5회" in page

    profile_for(profile, server.url, max_requests=100)  # no restart is needed
    run = execute(run)
    assert (run.state, run.error_code) == (State.FINISHED, "")
    assert sorted(server.stats.asked.values()) == [1] * ITEMS
    page = client.get(reverse("manage_runs", args=[phase.track.competition.slug])).content.decode()
    assert "기다립니다" not in page


def test_the_participant_sees_that_it_waits_and_no_fault(
    phase: Phase, team: Team, server: DemoJudge, profile: Path, client: Any
) -> None:
    profile_for(profile, server.url, max_requests=1)
    run = execute(sent(phase, team))
    client.force_login(leader_of(team))
    page = client.get(reverse("submission", args=[run.submission.public_id])).content.decode()
    assert "대기" in page
    for text in ("judge", "심사 모델", "예산", "시스템 오류"):
        assert text not in page


def test_many_workers_together_never_exceed_the_budget() -> None:
    limits, given = Limits(requests=50, tokens=10_000), []
    lock = threading.Lock()

    def reserve(number: int) -> None:
        try:
            ledger = SharedLedger("shared")
            for _ in range(20):
                if ledger.reserve(limits, 100 + number):
                    with lock:
                        given.append(100 + number)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(reserve, range(8)))
    usage = SharedLedger("shared").usage()
    assert usage == Usage(len(given), sum(given)) == Usage(50, sum(given))
    ledger = SharedLedger("tokens")
    assert [ledger.reserve(Limits(tokens=250), 100) for _ in range(3)] == [True, True, False]
    ledger.settle(Usage(0, -60))
    assert ledger.reserve(Limits(tokens=250), 100)
    assert ledger.usage() == Usage(3, 240)


# --- an outage --------------------------------------------------------------------------------------------------------
def test_a_judge_that_is_away_is_waited_for_and_then_asked_for_the_rest(
    phase: Phase, team: Team, tmp_path: Path, profile: Path, client: Any, admin_user: Any
) -> None:
    run = sent(phase, team)
    with demo_judge(faults=("error",), rate=0.3, most=99, seed=4) as broken:
        profile_for(profile, broken.url, retries=0)
        run = execute(run)
        answered = Counter(broken.stats.billed)
    assert (run.state, run.error_code) == (State.QUEUED, "judge_away")
    assert Job.objects.get(pk=run.job_id).failures == 0
    assert 0 < answered.total() < ITEMS
    client.force_login(admin_user)
    page = client.get(reverse("manage_overview", args=[phase.track.competition.slug])).content.decode()
    assert "심사 모델 서버가 응답하지 않아 채점 1건이 기다립니다" in page
    with demo_judge() as back:
        profile_for(profile, back.url)
        run = execute(run)
        assert run.state == State.FINISHED
        assert sorted((answered + back.stats.billed).values()) == [1] * ITEMS


def test_a_judge_that_stays_away_is_a_fault_in_the_end(
    phase: Phase, team: Team, tmp_path: Path, profile: Path, settings: Any
) -> None:
    with demo_judge() as gone:
        profile_for(profile, gone.url, retries=0)
    run = execute(sent(phase, team))
    assert (run.state, run.error_code) == (State.QUEUED, "judge_away")
    Job.objects.update(waiting_since=timezone.now() - timedelta(seconds=settings.JUDGE_WAIT_SECONDS + 1))
    for failures in (1, 2):
        run = execute(run)
        assert (run.state, Job.objects.get(pk=run.job_id).failures) == (State.QUEUED, failures)
    run = execute(run)
    assert (run.state, run.error_code) == (State.FAILED, "judge_away")
    assert QuotaEntry.objects.filter(kind=QuotaEntry.Kind.REFUND).count() == 1


def test_a_judge_that_refuses_is_a_fault_at_once(phase: Phase, team: Team, profile: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("scoring.judging.demo.MAX_QUESTION_BYTES", 10)
    run = execute(sent(phase, team))
    assert (run.error_code, Job.objects.get(pk=run.job_id).failures) == ("judge_rejects", 1)


def test_a_missing_key_is_a_missing_model(
    phase: Phase, team: Team, profile: Path, server: DemoJudge, monkeypatch: Any
) -> None:
    monkeypatch.delenv("NO_SUCH_KEY", raising=False)
    profile_for(profile, server.url, api_key_env="NO_SUCH_KEY")
    assert execute(sent(phase, team)).error_code == "model_missing"


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
            wait_for(lambda: server.stats.billed.total() >= 4 or worker.poll() is not None, "four answers", seconds=120)
            assert worker.poll() is None
        finally:
            os.kill(worker.pid, signal.SIGKILL)
            worker.wait()
        before = Counter(server.stats.billed)
        assert 4 <= before.total() < ITEMS
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


def test_claims_of_a_waiting_run_are_no_tries(phase: Phase, team: Team, profile: Path, server: DemoJudge) -> None:
    profile_for(profile, server.url, max_requests=1)
    run = sent(phase, team)
    for _again in range(3):
        execute(run)
    job = claim_run(fresh(run))
    assert job is not None
    assert (job.attempt, job.tries) == (4, 1)
