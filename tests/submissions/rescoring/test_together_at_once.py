"""Batches that are applied together beside others at work: all or none, once, and nobody waits in a circle."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection, transaction

from malpan.core.errors import DomainError
from malpan.core.locks import repeatable_read
from malpan.submissions.models import RescoreBatch, Submission
from malpan.submissions.rescoring import batches
from malpan.submissions.rescoring import services as rescoring
from tests.submissions.rescoring.contest_of_many import STRICT, Contest, apply, start, upload, work_off
from tests.submissions.rescoring.test_together import second_of, with_second_phase

pytestmark = pytest.mark.django_db(transaction=True)
State = RescoreBatch.State


@pytest.fixture
def contest(rings: list[str], neural: list[Any]) -> Contest:
    return with_second_phase()


def both(contest: Contest) -> list[RescoreBatch]:
    found = batches.together(start(contest, also=[second_of(contest)], recipe=STRICT))
    work_off()
    return found


def states() -> list[str]:
    return list(RescoreBatch.objects.order_by("pk").values_list("state", flat=True))


def alongside(act: Callable[[], Any], results: list[str]) -> threading.Thread:
    """``act`` in a thread with a connection of its own; what refused it, if anything did."""

    def run() -> None:
        try:
            act()
            results.append("")
        except DomainError as error:
            results.append(error.code)
        finally:
            connection.close()

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def ended(*threads: threading.Thread) -> None:
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()


def test_two_that_apply_from_either_page_apply_once(contest: Contest) -> None:
    first, second = both(contest)
    results: list[str] = []
    with transaction.atomic():
        RescoreBatch.objects.select_for_update(no_key=True).get(pk=second.pk)
        threads = [alongside(lambda each=each: apply(contest, each), results) for each in (first, second)]
        for thread in threads:
            thread.join(0.5)
            assert thread.is_alive()
        assert states() == [State.RUNNING, State.RUNNING]
    ended(*threads)
    assert sorted(results) == ["", "batch_closed"]
    assert states() == [State.APPLIED, State.APPLIED]


def test_one_applies_and_another_cancels_from_the_other_page(contest: Contest) -> None:
    first, second = both(contest)
    results: list[str] = []
    with transaction.atomic():
        RescoreBatch.objects.select_for_update(no_key=True).get(pk=second.pk)
        threads = [
            alongside(lambda: apply(contest, first), results),
            alongside(lambda: rescoring.cancel_batch(batch=second, actor=contest.organiser), results),
        ]
        for thread in threads:
            thread.join(0.5)
    ended(*threads)
    assert sorted(results) == ["", "batch_closed"]
    assert len(set(states())) == 1


def test_readers_see_all_phases_before_or_after(contest: Contest) -> None:
    found = both(contest)
    new = [each.pk for each in found]
    live = Submission.objects.filter(live_run__batch__in=new)
    seen: set[int] = set()
    is_over = threading.Event()

    def read() -> None:
        try:
            while not is_over.is_set():
                with repeatable_read():
                    seen.add(len(set(live.values_list("phase", flat=True))))
        finally:
            connection.close()

    reader = threading.Thread(target=read)
    reader.start()
    try:
        apply(contest, found[0])
    finally:
        is_over.set()
        reader.join(30)
    assert seen <= {0, 2}
    assert live.count() == 9


def test_uploads_into_either_phase_wait_and_are_scored_by_the_new_rule(contest: Contest) -> None:
    found = both(contest)
    other = Contest(second_of(contest), contest.teams, contest.users, contest.organiser)
    results: list[str] = []
    with transaction.atomic():
        apply(contest, found[1])
        threads = [alongside(lambda each=each: upload(each), results) for each in (contest, other)]
        for thread in threads:
            thread.join(0.5)
            assert thread.is_alive(), "it waits for the team"
    ended(*threads)
    assert results == ["", ""]
    late = Submission.objects.filter(file_name="late.json")
    assert [set(each.runs.values_list("recipe", flat=True)) for each in late] == [{STRICT}, {STRICT}]
