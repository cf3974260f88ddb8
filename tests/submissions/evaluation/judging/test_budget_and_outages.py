"""Runs with an LLM judge: a budget of all workers, an outage that is waited for, and nothing asked and paid twice."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from django.core import mail
from django.db import OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.urls import reverse
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.jobs import outage, outcome
from malpan.jobs.models import Job
from malpan.submissions.evaluation import computing, judge_budget
from malpan.submissions.evaluation.judge_budget import SharedLedger
from malpan.submissions.models import JudgeReservation, JudgeUsage, QuotaEntry, ScoringRun
from malpan.submissions.overview_selectors import model_waits_of
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.submissions.tasks import prune_pair_values
from malpan.teams.models import Team
from scoring.judging.budget import Limits, Usage
from scoring.judging.demo import DemoJudge
from tests.factories import leader_of
from tests.scoring.judging.toys import demo_judge, profile_for
from tests.submissions.conftest import claim_run, execute, fresh
from tests.submissions.evaluation.judging.judged import ITEMS, judged_values, predictions, references, sent
from tests.threads import at_once

State = ScoringRun.State
pytestmark = pytest.mark.django_db(transaction=True)  # the lease is renewed on a connection of its own


def test_a_second_file_asks_only_for_what_is_new(phase: Phase, team: Team, server: DemoJudge) -> None:
    first = execute(sent(phase, team))
    assert (first.state, first.error_code) == (State.FINISHED, "")
    assert first.scores["llm_judge"] == pytest.approx(sum(judged_values(first).values()) / ITEMS)
    assert sorted(server.stats.answered.values()) == [1] * ITEMS

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
                if ledger.reserve(limits, 100 + number) is not None:
                    with lock:
                        given.append(100 + number)
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(reserve, range(8)))
    usage = SharedLedger("shared").usage()
    assert usage == Usage(len(given), sum(given)) == Usage(50, sum(given))
    ledger = SharedLedger("tokens")
    first, second, third = (ledger.reserve(Limits(tokens=250), 100) for _ in range(3))
    assert first is not None
    assert second is not None
    assert third is None
    ledger.settle(first, Usage(1, 40))
    assert ledger.reserve(Limits(tokens=250), 100) is not None
    assert ledger.usage() == Usage(3, 240)
    ledger.settle(second, Usage())  # it was not done
    assert ledger.usage() == Usage(2, 140)
    assert JudgeReservation.objects.count() == 50 + 1  # those that nobody settled


def lost_answers(monkeypatch: pytest.MonkeyPatch, times: int) -> list[int]:
    """Let the answers to the next ``times`` commits of this thread get lost: they are carried out. Counts them."""
    lost: list[int] = []
    whole = BaseDatabaseWrapper.commit

    def commit(self: BaseDatabaseWrapper) -> None:
        whole(self)
        if len(lost) < times:
            lost.append(1)
            raise OperationalError("the connection was lost")

    monkeypatch.setattr(BaseDatabaseWrapper, "commit", commit)
    return lost


def test_a_commit_whose_answer_was_lost_is_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outage, "AGAIN_SECONDS", 0.01)
    ledger = SharedLedger("lost")
    assert ledger.reserve(Limits(), 1_000) is not None
    lost = lost_answers(monkeypatch, 1)
    made = ledger.reserve(Limits(requests=2), 100)
    assert (len(lost), made is not None, ledger.usage()) == (1, True, Usage(2, 1_100))
    lost = lost_answers(monkeypatch, 2)
    assert made is not None
    ledger.settle(made, Usage(1, 30))
    assert (len(lost), ledger.usage()) == (2, Usage(2, 1_030))  # the second time there was nothing left to do
    ledger.settle(made, Usage())
    assert ledger.usage() == Usage(2, 1_030)


def test_reservations_of_killed_workers_are_forgotten_and_stay_counted() -> None:
    ledger = SharedLedger("killed")
    assert ledger.reserve(Limits(), 10) is not None
    assert ledger.reserve(Limits(), 10) is not None
    oldest = JudgeReservation.objects.order_by("created_at").first()
    assert oldest is not None
    JudgeReservation.objects.filter(pk=oldest.pk).update(created_at=timezone.now() - timedelta(days=1, minutes=1))
    prune_pair_values()
    assert JudgeReservation.objects.count() == 1
    assert ledger.usage() == Usage(2, 20)


# --- an outage --------------------------------------------------------------------------------------------------------
def test_a_judge_that_is_away_is_waited_for_and_then_asked_for_the_rest(
    phase: Phase, team: Team, tmp_path: Path, profile: Path, client: Any, admin_user: Any
) -> None:
    run = sent(phase, team)
    with demo_judge(faults=("error",), rate=0.3, most=99, seed=4) as broken:
        profile_for(profile, broken.url, retries=0)
        run = execute(run)
        answered = Counter(broken.stats.answered)
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
        assert sorted((answered + back.stats.answered).values()) == [1] * ITEMS


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


def test_claims_of_a_waiting_run_are_no_tries(phase: Phase, team: Team, profile: Path, server: DemoJudge) -> None:
    profile_for(profile, server.url, max_requests=1)
    run = sent(phase, team)
    for _again in range(3):
        execute(run)
    job = claim_run(fresh(run))
    assert job is not None
    assert (job.attempt, job.tries) == (4, 1)


# --- one mail for all that wait for the same -------------------------------------------------------------------------
def test_many_waiting_runs_are_one_mail_until_none_waits(
    phase: Phase, team: Team, profile: Path, server: DemoJudge, settings: Any
) -> None:
    settings.ADMINS = [("운영자", "operator@example.org")]
    profile_for(profile, server.url, max_requests=ITEMS - 1)
    runs = [sent(phase, team, predictions(f"{number}번째", changed=ITEMS)) for number in range(3)]
    for run in (*runs, *runs):
        assert execute(run).error_code == "judge_budget_used_up"
    assert len(mail.outbox) == 1
    assert str(profile) in mail.outbox[0].body
    profile_for(profile, server.url, max_requests=2 * ITEMS - 1)
    assert execute(runs[0]).state == State.FINISHED
    assert execute(runs[2]).error_code == "judge_budget_used_up"  # the second still waits: nobody is told again
    assert len(mail.outbox) == 1

    profile_for(profile, server.url, max_requests=3 * ITEMS)
    assert [execute(run).state for run in runs[1:]] == [State.FINISHED] * 2
    again = sent(phase, team, predictions("다시", changed=ITEMS))
    assert execute(again).error_code == "judge_budget_used_up"
    assert len(mail.outbox) == 2


def test_another_cause_and_another_profile_are_told_by_themselves(
    phase: Phase, team: Team, profile: Path, server: DemoJudge, tmp_path: Path, settings: Any
) -> None:
    settings.ADMINS = [("운영자", "operator@example.org")]
    profile_for(profile, server.url, max_requests=1)
    run = execute(sent(phase, team))
    profile_for(profile, "http://127.0.0.1:9", retries=0)
    assert execute(run).error_code == "judge_away"
    assert len(mail.outbox) == 2
    other = profile_for(tmp_path / "other.toml", server.url, max_requests=2)
    phase.track.profile = str(other)
    phase.track.save()
    second = execute(sent(phase, team, predictions("둘", changed=ITEMS)))
    assert (second.profile, second.error_code) == (str(other), "judge_budget_used_up")
    assert len(mail.outbox) == 3


def test_two_workers_whose_runs_begin_to_wait_at_once_send_one_mail(
    phase: Phase, team: Team, profile: Path, settings: Any
) -> None:
    settings.ADMINS = [("운영자", "operator@example.org")]
    runs = [sent(phase, team, predictions(f"{number}", changed=1)) for number in range(4)]
    jobs = [claim_run(run) for run in runs]

    def wait(job: Job | None) -> None:
        assert job is not None
        outcome.wait(job_id=job.pk, attempt=job.attempt, error_code="judge_away", pause=30, at_most=None)

    at_once([partial(wait, job) for job in jobs])
    assert len(mail.outbox) == 1


def test_a_new_attempt_begins_without_the_cause_of_the_last(
    phase: Phase, team: Team, profile: Path, server: DemoJudge
) -> None:
    profile_for(profile, server.url, max_requests=1)
    run = execute(sent(phase, team))
    assert (run.state, run.error_code) == (State.QUEUED, "judge_budget_used_up")
    assert claim_run(run) is not None
    run = fresh(run)
    assert (run.state, run.error_code) == (State.RUNNING, "")
    assert model_waits_of(phase.track.competition) == ()


def test_a_judge_that_was_back_meanwhile_is_waited_for_anew(
    phase: Phase, team: Team, profile: Path, settings: Any
) -> None:
    long_ago = timezone.now() - timedelta(seconds=settings.JUDGE_WAIT_SECONDS + 1)
    run = sent(phase, team)
    with demo_judge(faults=("error",), rate=0.3, most=99, seed=4) as broken:
        profile_for(profile, broken.url, retries=0)
        run = execute(run)
        assert run.error_code == "judge_away"
        Job.objects.update(waiting_since=long_ago)
        profile_for(profile, broken.url, retries=0, concurrency=1)
        run = execute(run)
        job = Job.objects.get(pk=run.job_id)
        if broken.stats.answered.total() == ITEMS:
            pytest.fail("the faults must outlast the second attempt")
    assert (run.state, job.failures) == (State.QUEUED, 0)
    assert job.waiting_since is not None
    assert job.waiting_since > long_ago


def test_an_outage_after_progress_is_waited_for_anew(
    phase: Phase, team: Team, profile: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The judge answered everything about one split before it went away, and nothing about the other."""
    publish_reference_version(phase=phase, data=references(), actor=None, public_ids=[f"e{n}" for n in range(8)])
    long_ago = timezone.now() - timedelta(seconds=settings.JUDGE_WAIT_SECONDS + 1)
    profile_for(profile, "http://127.0.0.1:9", retries=0)
    run = execute(sent(phase, team))
    assert run.error_code == "judge_away"
    Job.objects.update(waiting_since=long_ago)
    with demo_judge() as back:
        profile_for(profile, back.url, retries=0)
        whole = computing._score_split

        def close_after_it(*arguments: Any) -> Any:
            try:
                return whole(*arguments)
            finally:
                back.close()

        with monkeypatch.context() as patch:
            patch.setattr(computing, "_score_split", close_after_it)
            run = execute(run)
        assert back.stats.answered.total() == 8
    job = Job.objects.get(pk=run.job_id)
    assert (run.state, run.error_code, job.failures) == (State.QUEUED, "judge_away", 0)
    assert job.waiting_since is not None
    assert job.waiting_since > long_ago + timedelta(seconds=settings.JUDGE_WAIT_SECONDS)
    with demo_judge() as back:
        profile_for(profile, back.url)
        run = execute(run)
        assert back.stats.answered.total() == ITEMS - 8
    assert run.state == State.FINISHED
    assert Job.objects.get(pk=run.job_id).waiting_since is None


def test_a_judge_that_comes_and_goes_is_told_once(phase: Phase, team: Team, profile: Path, settings: Any) -> None:
    settings.ADMINS = [("운영자", "operator@example.org")]
    run = sent(phase, team)
    with demo_judge(faults=("error",), rate=0.5, most=99, seed=4) as broken:
        profile_for(profile, broken.url, retries=0, concurrency=1)
        answered = []
        for _again in range(3):
            assert execute(run).error_code == "judge_away"
            answered.append(broken.stats.answered.total())
    assert answered[-1] > 0
    assert len(mail.outbox) == 1
