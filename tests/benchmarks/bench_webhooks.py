"""How late events reach programs of which three in ten fail, and whether readers of pages notice the deliveries.

First ``--events`` go to ten programs on this machine, three of which answer each event wrongly one to five times; the
pauses before the next attempts are not waited for but moved forward, and count as delay. Then a reader asks a web
server of this site for the page of a competition, from a process of its own: in turns without deliveries, with
``PACE`` a second and with as many as go, in another process than the server's, as they do on a site; and beside a
process that only counts, which tells how much of a delay is that of the processors alone.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

from tests.benchmarks.bench_queue import _prepare, _release
from tests.benchmarks.tables import markdown_table
from tests.paths import ROOT
from tests.system.stack import free_port, status_of
from tests.waiting import wait_for

ROUNDS = 12
PACE = 10.0  # events a second: a thousand within 100 seconds


def show(arguments: Sequence[str]) -> None:
    """Run both parts and print their tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks webhooks", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000)
    parser.add_argument("--seconds", type=float, default=2.0, help="of reading, for each round of each case")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as folder:
        _prepare(Path(folder))
        try:
            from tests.benchmarks.webhook_load import COLUMNS, delivered

            print(markdown_table(COLUMNS, [delivered(options.events).cells()]), flush=True)
            print(f"\n{reading(options.seconds)}")
        finally:
            _release()


def reading(seconds: float) -> str:
    """The table of what the reader saw."""
    from tests.factories import PhaseFactory

    path = f"/competitions/{PhaseFactory.create().track.competition.slug}/"
    beside: dict[str, Callable[[], AbstractContextManager[list[str]]]] = {
        "without deliveries": _nothing,
        f"{PACE:.0f} deliveries a second": partial(_deliveries, PACE),
        "deliveries without pause": partial(_deliveries, None),
        "a process that counts": _counting,
    }
    times: dict[str, list[float]] = {name: [] for name in beside}
    sent: Counter[str] = Counter()
    with _web_server() as port, ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as reader:
        reader.submit(read, port, path, 2.0).result()
        for _round in range(ROUNDS):
            for name, load in beside.items():
                with load() as arrived:
                    times[name] += reader.submit(read, port, path, seconds).result()
                    sent[name] += len(arrived)
    least = statistics.median(times["without deliveries"])
    rows = [
        [name, f"{sent[name] / seconds / ROUNDS:.0f}", *_cells(each), f"{statistics.median(each) / least:.2f}"]
        for name, each in times.items()
    ]
    columns = ("beside", "arrived a second", "requests", "median, ms", "95 %, ms", "longest, ms", "ratio")
    return markdown_table(columns, rows)


def read(port: int, path: str, seconds: float) -> list[float]:
    """The seconds of each request of one reader."""
    times: list[float] = []
    until = time.monotonic() + seconds
    while (began := time.monotonic()) < until:
        connection = HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        assert answer.status == 200, answer.status
        times.append(time.monotonic() - began)
        time.sleep(0.01)
    return times


def _cells(times: Sequence[float]) -> list[str]:
    cuts = statistics.quantiles(times, n=100, method="inclusive")
    return [str(len(times)), *(f"{1000 * value:.1f}" for value in (statistics.median(times), cuts[94], max(times)))]


@contextmanager
def _web_server() -> Iterator[int]:
    port = free_port()
    server = subprocess.Popen(
        [sys.executable, "-m", "malpan.web_server"],
        cwd=ROOT,
        env=os.environ | {"PORT": str(port), "PYTHONWARNINGS": "ignore::UserWarning"},
    )
    try:
        wait_for(lambda: status_of(port, "/healthz/") is not None, "the web server answers", seconds=60)
        yield port
    finally:
        server.terminate()
        server.wait(30)


@contextmanager
def _nothing() -> Iterator[list[str]]:
    yield []


@contextmanager
def _counting() -> Iterator[list[str]]:
    counting = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield []
    finally:
        counting.kill()
        counting.wait()


@contextmanager
def _deliveries(pace: float | None) -> Iterator[list[str]]:
    """Deliveries of so many events a second, or without pause, to programs of which some fail; what has arrived."""
    from django.db import connection

    from malpan.notifications import webhooks
    from tests.benchmarks.webhook_load import post_events, receivers

    arrived: list[str] = []
    is_over = threading.Event()

    def take(key: str, _before: int) -> int:
        arrived.append(key)
        return 204

    def deliver() -> None:
        first = time.monotonic_ns()
        while not is_over.is_set():
            post_events(20, endpoints, first=first)
            first += 20
            began = time.monotonic()
            webhooks.deliver_due()
            is_over.wait(max(0.0, 20 / pace - (time.monotonic() - began)) if pace else 0.0)
        connection.close()

    with receivers(take) as endpoints:
        thread = threading.Thread(target=deliver)
        thread.start()
        try:
            yield arrived
        finally:
            is_over.set()
            thread.join()
