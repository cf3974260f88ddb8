"""Rescoring batches beside others at work: what waits for what, and that nothing is lost or stuck."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connection, transaction

from malpan.submissions.evaluation.runs import finish_run
from malpan.submissions.models import QuotaEntry, RescoreBatch, ScoringRun
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring import services as rescoring
from malpan.teams.services import lock_team
from tests.factories import TeamFactory, report
from tests.locks import waits_for
from tests.submissions.conftest import claim_run
from tests.submissions.rescoring.contest_of_many import STRICT, Contest, apply, few_teams, start, upload, work_off

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def contest(rings: list[str], neural: list[Any]) -> Contest:
    return few_teams()


def test_a_run_that_ends_while_its_batch_is_cancelled_waits_and_is_late(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    run = batch.runs.order_by("pk").first()
    assert run is not None
    claimed = claim_run(run)
    assert claimed is not None
    attempt = claimed.attempt
    results: list[bool] = []

    def finish() -> None:
        try:
            results.append(finish_run(run_id=run.pk, attempt=attempt, report=report(0.5)))
        finally:
            connection.close()

    with transaction.atomic():
        RescoreBatch.objects.select_for_update(no_key=True).get(pk=batch.pk)  # as cancelling does first
        ending = threading.Thread(target=finish)
        ending.start()
        ending.join(0.5)
        rescoring.cancel_batch(batch=batch, actor=contest.organiser)  # waits for the run's job: no deadlock
    ending.join(20)
    assert results == [False]
    assert ScoringRun.objects.get(pk=run.pk).state == ScoringRun.State.FAILED


def test_a_run_that_ends_while_its_batch_is_applied_is_not_lost(contest: Contest) -> None:
    batch = start(contest, recipe=STRICT)
    work_off()
    late = upload(contest)
    new = late.runs.get(batch=batch)
    claimed = claim_run(new)
    assert claimed is not None
    attempt = claimed.attempt

    def finish() -> None:
        try:
            finish_run(run_id=new.pk, attempt=attempt, report=report(0.5))
        finally:
            connection.close()

    with transaction.atomic():
        apply(contest, batch)
        ending = threading.Thread(target=finish)
        ending.start()
        ending.join(0.5)
        assert ending.is_alive(), "it waits for the batch"
    ending.join(20)
    late.refresh_from_db()
    assert late.live_run == new


def test_an_applied_batch_does_not_wait_for_a_team_that_waits_for_its_phase(contest: Contest) -> None:
    batch = start(contest)
    newcomer = TeamFactory.create(competition=contest.phase.track.competition)
    is_held, may_go = threading.Event(), threading.Event()

    def hold() -> None:
        with transaction.atomic():
            lock_team(newcomer)
            is_held.set()
            may_go.wait(30)
        connection.close()

    thread = threading.Thread(target=hold)
    thread.start()
    try:
        assert is_held.wait(30)
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute("SET LOCAL lock_timeout = '2s'")
            reset_count = quota.reset_all(phase=contest.phase, reason="규칙 변경", actor=contest.organiser, batch=batch)
    finally:
        may_go.set()
        thread.join()
    assert reset_count == QuotaEntry.objects.filter(batch=batch, kind="reset").count()
    assert QuotaEntry.objects.filter(batch=batch, team=newcomer).exists()


def test_an_application_waits_for_an_upload_of_any_team(contest: Contest) -> None:
    batch = start(contest)
    work_off()
    for team in contest.teams:
        with waits_for(team):
            apply(contest, batch)
