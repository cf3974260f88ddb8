"""A pass over the jobs of lost workers: each by itself, so that one that cannot be reclaimed stops no other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import DataError, OperationalError, connection, transaction
from django.utils import timezone
from psycopg.errors import DiskFull

from malpan.jobs import claim
from malpan.jobs.models import Job
from malpan.jobs.reconcile import Reconciled, reconcile
from tests import database
from tests.jobs.toys import Toy, add
from tests.threads import at_once

State = Job.State
SECOND = timedelta(seconds=1)
pytestmark = pytest.mark.django_db(transaction=True)


def two_lost() -> list[Job]:
    """The first was lost before the second."""
    jobs = add(2)
    for job, silence in zip(jobs, (2 * SECOND, SECOND), strict=True):
        claim.claim_next(worker="gone")
        Job.objects.filter(pk=job.pk).update(lease_expires_at=timezone.now() - silence)
    return jobs


def now_is(jobs: list[Job]) -> list[tuple[str, int]]:
    return list(Job.objects.filter(pk__in=[job.pk for job in jobs]).order_by("pk").values_list("state", "failures"))


def when_first_is_put_back(toy: Toy, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> list[int]:
    """``act`` is done while the first is put back. Returns the numbers of those that the handler was told of."""
    told: list[int] = []

    def put_back(job: Job) -> None:
        told.append(job.number)
        if job.number == 0:
            act()

    monkeypatch.setattr(toy, "put_back", put_back)
    return told


def raising(error: Exception) -> Callable[[], None]:
    def act() -> None:
        raise error

    return act


@pytest.mark.parametrize("error", [DataError("bad"), OperationalError("canceling statement due to lock timeout")])
def test_one_that_cannot_be_reclaimed_stands_in_nobody_s_way(toy, rings, monkeypatch, caplog, error):
    lost = two_lost()
    when_first_is_put_back(toy, monkeypatch, raising(error))

    assert reconcile() == Reconciled(reclaimed=1, rang=True)

    assert now_is(lost) == [(State.RUNNING, 0), (State.QUEUED, 1)]
    [said] = [record for record in caplog.records if record.exc_info]
    assert said.exc_info[1] is error
    assert str(lost[0].pk) in said.getMessage()


def test_a_database_that_goes_away_ends_the_pass(toy, monkeypatch, caplog):
    lost = two_lost()
    with database.away_for(0.5) as begin, monkeypatch.context() as patch:
        told = when_first_is_put_back(toy, patch, lambda: (begin(), Job.objects.exists()))
        with pytest.raises(OperationalError):
            reconcile()

    assert told == [0]
    assert not [record for record in caplog.records if record.exc_info]
    connection.close()
    assert reconcile().reclaimed == 2
    assert now_is(lost) == [(State.QUEUED, 1)] * 2


def test_a_database_without_room_ends_the_pass(toy, monkeypatch):
    lost = two_lost()
    full = OperationalError("could not extend file")
    full.__cause__ = DiskFull()
    told = when_first_is_put_back(toy, monkeypatch, raising(full))

    with pytest.raises(OperationalError):
        reconcile()

    assert (told, now_is(lost)) == ([0], [(State.RUNNING, 0)] * 2)


@pytest.mark.parametrize("state", [State.RUNNING, State.QUEUED])
def test_what_is_no_longer_lost_when_its_turn_comes_is_left_alone(toy, monkeypatch, state):
    lost = two_lost()
    lease = timezone.now() + 60 * SECOND if state == State.RUNNING else None
    others = Job.objects.filter(pk=lost[1].pk)
    when_first_is_put_back(
        toy, monkeypatch, lambda: at_once([lambda: others.update(state=state, lease_expires_at=lease)])
    )

    assert reconcile().reclaimed == 1

    assert now_is(lost) == [(State.QUEUED, 1), (state, 0)]


def test_what_somebody_else_has_locked_is_passed_over(toy, caplog):
    lost = two_lost()

    with transaction.atomic():
        Job.objects.select_for_update().get(pk=lost[0].pk)
        [beside] = at_once([reconcile])
    assert beside.reclaimed == 1
    assert now_is(lost) == [(State.RUNNING, 0), (State.QUEUED, 1)]
    assert not [each for each in caplog.records if each.exc_info], "nor waited for until the database had enough"


def test_what_a_new_row_of_somebody_else_refers_to_is_reclaimed(toy):
    """Its foreign key locks the job, which stays where it is."""
    lost = two_lost()

    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT FROM jobs_job WHERE id = %s FOR KEY SHARE", [lost[0].pk])
        [beside] = at_once([reconcile])
    assert beside.reclaimed == 2


def test_a_lost_job_of_a_kind_that_only_a_newer_version_knows_is_left_to_it(toy, rings, caplog):
    known, unknown = two_lost()
    Job.objects.filter(pk=unknown.pk).update(kind="of_a_later_version")

    assert reconcile().reclaimed == 1

    assert now_is([known, unknown]) == [(State.QUEUED, 1), (State.RUNNING, 0)]
    assert not [each for each in caplog.records if each.exc_info], "nor tried"
