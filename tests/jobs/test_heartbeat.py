"""A worker says that it lives, from a thread, whatever its work and its database do."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.utils import timezone

from malpan import worker_process
from malpan.jobs import heartbeat, refusal
from malpan.jobs.clock import database_now
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


@pytest.mark.django_db
def test_who_says_nothing_for_longer_than_the_limit_is_silent_and_who_refuses_does_not_work(settings: Any) -> None:
    settings.SCORER_SILENCE_SECONDS = 20
    assert heartbeat.scorers().last_silence is None
    for name, seconds, why in (("a/0", 5, ""), ("b/0", 25, ""), ("c/0", 5, "its numbers differ")):
        heartbeat.beat(name, {}, why)
        Worker.objects.filter(name=name).update(seen_at=database_now() - timedelta(seconds=seconds))
    found = heartbeat.scorers()
    assert (found.working, [each.worker.name for each in found.silent]) == (1, ["b/0"])
    assert found.last_silence is not None
    assert found.last_silence < timedelta(seconds=10)
    assert heartbeat.is_anybody_working()
    Worker.objects.filter(name="a/0").delete()
    assert not heartbeat.is_anybody_working()


@pytest.mark.django_db(transaction=True)
def test_a_process_says_what_it_does_and_that_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "BEAT_SECONDS", 0.01)
    monkeypatch.setattr(heartbeat, "_has_ended", threading.Event())

    def numbers() -> dict[str, float]:
        return {}

    with heartbeat.doing(7):
        thread = heartbeat.keep_beating("scoring@a/0", numbers, about=lambda: {"profile": "demo"})
        rows = Worker.objects.filter(about={"profile": "demo", "job": 7})
        wait_for(rows.exists, "the job is reported")
    wait_for(Worker.objects.filter(about__job=None).exists, "the end of the job is reported")
    heartbeat.say_goodbye("scoring@a/0")
    thread.join(10)
    assert not thread.is_alive()
    assert not Worker.objects.exists()


@pytest.mark.django_db
def test_the_reason_of_one_that_refused_stays_after_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "_has_ended", threading.Event())
    heartbeat.beat("scoring@a/0", {}, "its numbers differ")
    heartbeat.say_goodbye("scoring@a/0")
    assert Worker.objects.get().refusal == "its numbers differ"


def test_one_that_refuses_is_stopped_although_the_database_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_args: object) -> None:
        raise OperationalError("the server closed the connection")

    for name, value in (("_name", ""), ("_stop", None), ("_reason", "")):
        monkeypatch.setattr(refusal, name, value)
    monkeypatch.setattr(refusal, "beat", away)
    stopped: list[str] = []
    refusal.prepare("scoring@a/0", lambda: stopped.append("scoring@a"))
    refusal.refuse("its numbers differ")
    assert (stopped, refusal.reason()) == (["scoring@a"], "its numbers differ")


def test_a_process_without_a_gpu_reports_its_pairs_and_its_memory() -> None:
    numbers = worker_process._numbers()
    assert set(numbers) == {"pairs_asked", "pairs_known", "memory_bytes"}
    assert numbers["memory_bytes"] > 2**20


def test_a_process_on_a_gpu_reports_its_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    memory = {3: (2 * 2**30, 80 * 2**30)}
    monkeypatch.setattr("torch.cuda.is_initialized", lambda: True)
    monkeypatch.setattr("torch.cuda.mem_get_info", memory.__getitem__)
    monkeypatch.setattr(worker_process, "_gpu", 3)
    numbers = worker_process._numbers()
    assert (numbers["gpu_used_bytes"], numbers["gpu_total_bytes"]) == (78 * 2**30, 80 * 2**30)
