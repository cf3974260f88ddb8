"""A worker whose own clock is minutes off: everything it writes is reckoned on the database's clock."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from unittest.mock import patch

import pytest
from django.conf import settings
from django.utils import timezone

from malpan.core.errors import StorageFull
from malpan.jobs import claim, outcome, queue, registry
from malpan.jobs.clock import database_now
from malpan.jobs.heartbeat import FORGOTTEN, beat
from malpan.jobs.lease import LeaseRenewer, renew_lease
from malpan.jobs.models import Job, Worker
from malpan.jobs.reconcile import reconcile
from tests.submissions.conftest import collect_rings

pytestmark = pytest.mark.django_db(transaction=True)
MOMENT = timedelta(seconds=5)


class Nothing(registry.Handler):
    crashed = StorageFull

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        return


@pytest.fixture(autouse=True, params=[-5, 5], ids=["behind", "ahead"])
def _clock_is_minutes_off(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(registry, "_handlers", {"toy": Nothing()})
    collect_rings(monkeypatch)
    real = timezone.now
    with patch.object(timezone, "now", lambda: real() + timedelta(minutes=request.param)):
        assert abs(timezone.now() - database_now()) > MOMENT
        queue.add(kind="toy", flow="f", lane=0, costs=[1])
        yield


def lease_left() -> timedelta:
    return Job.objects.get().lease_expires_at - database_now()


def test_a_lease_has_its_length_and_is_not_taken_back_before() -> None:
    job = claim.claim_next(worker="w")
    length = timedelta(seconds=settings.JOB_LEASE_SECONDS)
    assert abs(lease_left() - length) < MOMENT
    Job.objects.update(lease_expires_at=database_now() + MOMENT)
    assert renew_lease(job_id=job.pk, attempt=job.attempt, stage="", progress=0)
    assert abs(lease_left() - length) < MOMENT
    assert reconcile().reclaimed == 0


def test_a_lease_that_is_over_is_taken_back() -> None:
    claim.claim_next(worker="w")
    Job.objects.update(lease_expires_at=database_now() - timedelta(milliseconds=1))
    assert reconcile().reclaimed == 1


def test_a_pause_has_its_length() -> None:
    job = claim.claim_next(worker="w")
    outcome.fail(job_id=job.pk, attempt=job.attempt, error_code="x", pause=60)
    assert abs(Job.objects.get().not_before - database_now() - timedelta(seconds=60)) < MOMENT
    assert claim.claim_next(worker="w") is None
    Job.objects.update(not_before=database_now())
    assert claim.claim_next(worker="w") == job


@pytest.mark.parametrize("end", ["finished", "given up", "dropped"])
def test_a_job_ends_when_it_ends(end: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings, "JOB_MAX_FAILURES", 1)
    job = claim.claim_next(worker="w")
    if end == "finished":
        outcome.finish(job_id=job.pk, attempt=job.attempt)
    elif end == "given up":
        outcome.fail(job_id=job.pk, attempt=job.attempt, error_code="x")
    else:
        outcome.drop([job.pk], error_code="x")
    assert abs(Job.objects.get().finished_at - database_now()) < MOMENT


def test_a_worker_is_alive_as_others_count_it() -> None:
    Worker.objects.create(name="another", seen_at=database_now() - FORGOTTEN + timedelta(minutes=1))
    beat("w", {})
    assert abs(Worker.objects.get(name="w").seen_at - database_now()) < MOMENT
    assert Worker.objects.filter(name="another").exists()
