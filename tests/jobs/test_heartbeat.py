"""A worker says that it lives, from a thread, whatever its work and its database do."""

from __future__ import annotations

import threading
from datetime import timedelta

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from malpan import worker_process
from malpan.jobs import heartbeat
from malpan.jobs.models import Worker
from tests.waiting import wait_for


class _Over(BaseException):
    """Ends a thread that would beat for ever."""


@pytest.mark.django_db
def test_one_row_a_process_however_often_it_beats() -> None:
    for count in (1, 2):
        heartbeat.beat("scoring@a/0", {"pairs_asked": count})
    heartbeat.beat("scoring@a/1", {})
    assert list(Worker.objects.values_list("name", "numbers")) == [
        ("scoring@a/0", {"pairs_asked": 2}),
        ("scoring@a/1", {}),
    ]


@pytest.mark.django_db
def test_a_process_that_is_long_gone_is_forgotten() -> None:
    heartbeat.beat("scoring@gone/0", {})
    Worker.objects.update(seen_at=timezone.now() - timedelta(days=2))
    heartbeat.beat("scoring@a/0", {})
    assert [worker.name for worker in Worker.objects.all()] == ["scoring@a/0"]


@pytest.mark.django_db(transaction=True)
def test_it_goes_on_after_the_database_was_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(threading, "excepthook", lambda _args: None)
    calls = []

    def numbers() -> dict[str, float]:
        calls.append(1)
        if len(calls) == 1:
            raise OperationalError
        if len(calls) > 3:
            connection.close()
            raise _Over
        return {"beats": len(calls)}

    heartbeat.keep_beating("scoring@a/0", numbers).join(10)
    assert wait_for(lambda: Worker.objects.filter(numbers__beats=3).first(), "the third beat").name == "scoring@a/0"


def test_a_process_without_a_gpu_reports_the_pairs_alone() -> None:
    assert set(worker_process._numbers()) == {"pairs_asked", "pairs_known"}


def test_a_process_on_a_gpu_reports_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = {3: (2 * 2**30, 80 * 2**30)}
    monkeypatch.setattr("torch.cuda.is_initialized", lambda: True)
    monkeypatch.setattr("torch.cuda.mem_get_info", memory.__getitem__)
    monkeypatch.setattr(worker_process, "_gpu", 3)
    numbers = worker_process._numbers()
    assert (numbers["gpu_used_bytes"], numbers["gpu_total_bytes"]) == (78 * 2**30, 80 * 2**30)
