"""An order to apply a rescoring batch beside others at work: it is carried out once, by one, or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from malpan.core.models import AuditEntry
from malpan.leaderboard.rescore_orders import carry_out_due
from malpan.submissions.models import QuotaEntry, RescoreBatch, RescoreOrder, ScoringRun
from malpan.submissions.rescoring import orders
from malpan.submissions.rescoring import services as rescoring
from tests.submissions.rescoring.contest_of_many import Contest, few_teams, start, work_off

pytestmark = pytest.mark.django_db(transaction=True)
State = RescoreOrder.State


@pytest.fixture
def contest(rings: list[str], neural: list[Any]) -> Contest:
    return few_teams()


def state_of(order: RescoreOrder) -> str:
    order.refresh_from_db()
    return order.state


def alongside(act: Callable[[], int], results: list[int]) -> threading.Thread:
    """``act`` in a thread with a connection of its own."""

    def run() -> None:
        try:
            results.append(act())
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_two_housekeepers_at_once_apply_it_once(contest: Contest) -> None:
    batch = start(contest)
    order = orders.order_application(batch=batch, actor=contest.organiser, grants_slots=1)
    work_off()
    results: list[int] = []
    with transaction.atomic():
        RescoreBatch.objects.select_for_update(no_key=True).get(pk=batch.pk)
        threads = [alongside(carry_out_due, results) for _ in range(2)]
        for thread in threads:
            thread.join(0.5)
            assert thread.is_alive(), "both have found it due, and wait"
    for thread in threads:
        thread.join(30)
    assert sorted(results) == [0, 1]
    assert state_of(order) == State.APPLIED
    assert AuditEntry.objects.filter(action="rescoring.apply").count() == 1
    assert QuotaEntry.objects.filter(batch=batch).count() == len(contest.teams)
    assert not AuditEntry.objects.filter(action="rescoring.refuse_order").exists()


def test_an_order_that_is_withdrawn_while_the_housekeeper_comes_is_not_carried_out(contest: Contest) -> None:
    batch = start(contest)
    order = orders.order_application(batch=batch, actor=contest.organiser)
    work_off()
    results: list[int] = []
    with transaction.atomic():
        orders.withdraw_order(batch=batch, actor=contest.organiser)
        coming = alongside(carry_out_due, results)
        coming.join(0.5)
        assert coming.is_alive(), "it waits for the batch"
    coming.join(30)
    assert results == [0]
    assert (state_of(order), RescoreBatch.objects.get().is_open) == (State.WITHDRAWN, True)


def test_a_failed_run_that_is_retried_while_the_housekeeper_comes_keeps_the_order(contest: Contest) -> None:
    batch = start(contest)
    order = orders.order_application(batch=batch, actor=contest.organiser)
    work_off()
    failed = batch.runs.order_by("pk").first()
    assert failed is not None
    ScoringRun.objects.filter(pk=failed.pk).update(state=ScoringRun.State.FAILED, error_code="scoring_crashed")
    results: list[int] = []
    with transaction.atomic():
        rescoring.retry_failed(batch=batch, actor=contest.organiser)
        coming = alongside(carry_out_due, results)
        coming.join(0.5)
        assert coming.is_alive(), "it has found the failure, and waits"
    coming.join(30)
    assert (results, state_of(order)) == ([0], State.WAITING)
    work_off()
    assert carry_out_due() == 1
