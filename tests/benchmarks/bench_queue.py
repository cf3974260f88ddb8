"""The waits of teams in the queue, with and without the fair order: simulated, and measured with real workers.

The load: 40 teams send 5 files each within a minute, most of them contest files, some small, one twenty times as large,
while a rescoring batch of 400 runs; and one team that sends 100 files where the others send one.

simulated   a discrete-event simulation of the workers; the tags and claims are those of
``malpan.jobs``, made in the database in
            a transaction that is rolled back
measured    Celery workers on a real PostgreSQL and Redis, started here; scoring is a sleep as long as the file's cost,
            and time runs ``--speed-up`` times as fast

"first come, one line" is a plain list, "first come, batch behind" the list with priorities that the queue was before.
The odd team is the one that sends the huge file, or the flood; its waits are told apart.
A worker scores a contest file in 9 seconds; waits grow and shrink with that figure.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from heapq import heappop, heappush
from pathlib import Path

from tests.benchmarks.queue_loads import CONTEST_TOKENS, Load, Row, Upload, Wait, flood, row_of, rush, table

RATE = CONTEST_TOKENS / 9.0  # tokens a second of one worker


def show(arguments: Sequence[str]) -> None:
    """Run both parts and print their tables."""
    options = _options(arguments)
    if options.quick:
        loads, few, workers = [flood(3, 4, 0)], rush(3, 2, 3), (1,)
    else:
        loads, few, workers = [rush(40, 5, 400), flood(40, 100, 400)], rush(40, 5, 400), (1, 2)
    made = nullcontext(options.site) if options.site else tempfile.TemporaryDirectory(prefix="malpan-bench-")
    with made as folder:
        _prepare(Path(folder))
        print("simulated, seconds\n", table(simulated(loads, workers=workers)), sep="\n", flush=True)
        rows = measured(few, workers=workers[-1], speed_up=options.speed_up, folder=Path(folder))
        print(f"\nmeasured, seconds x {options.speed_up:g}\n", table(rows), sep="\n")
        _release()


def simulated(loads: Sequence[Load], workers: Sequence[int]) -> list[Row]:
    """Every load with every number of workers in every order. Needs a database; leaves nothing in it."""
    from tests.benchmarks.queue_orders import ORDERS

    return [
        row_of(load, count, order, simulate(load, count, order))
        for load in loads
        for count in workers
        for order in ORDERS
    ]


def measured(load: Load, *, workers: int, speed_up: float, folder: Path) -> list[Row]:
    """``load`` with real workers, in the order that was and in the fair one; in seconds of the load's own time."""
    from tests.benchmarks.queue_orders import ORDERS
    from tests.benchmarks.queue_site import measure

    faster = replace(load, uploads=[replace(upload, at=upload.at / speed_up) for upload in load.uploads])
    rows = []
    for order in list(ORDERS)[1:]:
        waits = measure(faster, workers=workers, order=order, rate=RATE * speed_up, folder=folder)
        slow = [Wait(upload, wait.seconds * speed_up) for upload, wait in zip(load.uploads, waits, strict=True)]
        rows.append(row_of(load, workers, order, slow))
    return rows


def simulate(load: Load, workers: int, order: str) -> list[Wait]:
    """The wait of each upload of ``load``, in its order."""
    from unittest.mock import patch

    from django.db import transaction

    from malpan.core.locks import own_rows
    from malpan.jobs import order as fair
    from tests.benchmarks.queue_orders import ORDERS

    with transaction.atomic(), own_rows(), patch.object(fair, "FAIR_ORDER", ORDERS[order]):
        waits = _Simulation(load, workers).run()
        transaction.set_rollback(True)
    return waits


class _Simulation:
    """Workers that claim from the database, in a time of their own."""

    def __init__(self, load: Load, workers: int) -> None:
        from tests.benchmarks.queue_site import Site

        self._load = load
        self._site = Site(load)
        self._idle = workers
        self._ends: list[tuple[float, int]] = []  # of claimed runs: when, and which
        self._arrived: dict[int, Upload] = {}
        self._waits: dict[int, Wait] = {}

    def run(self) -> list[Wait]:
        """Let everything happen until the last upload has its score."""
        self._site.start_batch()
        coming = list(enumerate(self._load.uploads))[::-1]
        self._claim(0.0)
        while len(self._waits) < len(self._load.uploads):
            if coming and (not self._ends or coming[-1][1].at <= self._ends[0][0]):
                place, upload = coming.pop()
                self._arrived[self._site.queue(place).job_id] = upload
                self._claim(upload.at)
            else:
                self._end(*heappop(self._ends))
        return [self._waits[pk] for pk in self._arrived]

    def _claim(self, now: float) -> None:
        """Every idle worker takes what is its turn."""
        from malpan.jobs.claim import claim_next

        while self._idle and (job := claim_next(worker="w")) is not None:
            self._idle -= 1
            heappush(self._ends, (now + job.cost / RATE, job.pk))

    def _end(self, now: float, pk: int) -> None:
        self._idle += 1
        if (upload := self._arrived.get(pk)) is not None:
            self._waits[pk] = Wait(upload, now - upload.at)
        self._claim(now)


def _prepare(folder: Path) -> None:
    """Servers of this benchmark's own, under ``folder``, and Django on them."""
    from malpan.local import embedded

    for name in ("DATABASE_URL", "REDIS_URL"):
        os.environ.pop(name, None)
    os.environ |= {"MALPAN_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "malpan.settings", "LOG_LEVEL": "ERROR"}
    embedded.provide(folder, durable=False)
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", verbosity=0)


def _release() -> None:
    """Stop the servers: their folder is about to go."""
    from django.db import connection

    from malpan.local import embedded

    connection.close()
    embedded.active().release()


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks queue", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few teams: whether it works, in seconds")
    parser.add_argument("--site", metavar="FOLDER", help="of a site that never ran, used up: else one is made")
    parser.add_argument("--speed-up", type=float, default=20.0, help="how much faster the measured part runs")
    return parser.parse_args(arguments)
