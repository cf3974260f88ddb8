"""Somebody else who computes the standings of a phase. For tests that commit."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event

from django.db import connection, transaction

from malpan.competitions.models import Phase
from malpan.leaderboard import standings


@contextmanager
def somebody_computing(phase: Phase) -> Iterator[Event]:
    """Another process has brought the standings up to date and commits them once the event is set."""

    def compute() -> None:
        try:
            with transaction.atomic():
                assert standings.refresh(phase)
                computed.set()
                assert may_commit.wait(20)
        finally:
            connection.close()

    computed, may_commit = Event(), Event()
    with ThreadPoolExecutor(1) as pool:
        computing = pool.submit(compute)
        assert computed.wait(20)
        try:
            yield may_commit
        finally:
            may_commit.set()
        computing.result()
