"""One large file over two local workers, on a real site: exact, and in less time.

A site as ``manage.py up`` starts it (PostgreSQL, Redis, Celery) with the demo models, one thread a worker, no value
remembered from before. Files of a tenth, a half and all of ``--items`` go through two workers; the largest also through
one worker, and through two of which one is killed with SIGKILL twice, in the middle of a slice. "last part" is the time
from the end of the last slice to the result; "worker" is the highest resident memory of a process that scores. "exact"
compares the final score and every item's value with those of the first row with as many items, bit by bit.
"""

from __future__ import annotations

import argparse
import math
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.benchmarks.tables import markdown_table, say
from tests.system.stack import Stack
from tests.waiting import wait_for

SLICES, SLICES_IF_QUICK = 50, 18  # of the largest file
KILL_AT = (0.2, 0.5)  # of the slices done
SAMPLE_SECONDS = 0.05
LOOK_SECONDS = 0.5  # for processes: psutil reads all of the machine to find those that score
LIMIT_SECONDS = 1800.0
LEASE_SECONDS = 10


@dataclass(frozen=True)
class Row:
    """One run: seconds from its claim to its result, attempts that came to nothing, highest memory in MiB.

    ``last_seconds`` of them are after the end of its last slice.
    """

    items: int
    workers: int
    kills: int
    seconds: float
    last_seconds: float
    lost: int
    worker_mib: float
    digest: str  # of the final score and all item values


def show(arguments: Sequence[str]) -> None:
    """Run the benchmark and print its table."""
    options = _options(arguments)
    folder = Path(tempfile.mkdtemp(prefix="malpan-bench-"))
    try:
        measure = measured_quickly if options.quick else measured
        rows = measure(options.items, folder / "site", folder / "models")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table(rows))


def measured(items: int, site_folder: Path, models: Path) -> list[Row]:
    """All runs, on one site made in ``site_folder``, a short path; the demo models lie or are made in ``models``."""
    site = _site(site_folder, models, items, SLICES)
    with _serving(site, 2):
        rows = [_run(site, size, 2) for size in (items // 10, items // 2, items)]
        rows.append(_run(site, items, 2, kills=len(KILL_AT)))
    with _serving(site, 1):
        rows.append(_run(site, items, 1))
    return rows


def measured_quickly(items: int, site_folder: Path, models: Path) -> list[Row]:
    """Two workers, and two of which one is killed: on one site, as starting it takes longest."""
    site = _site(site_folder, models, items, SLICES_IF_QUICK)
    with _serving(site, 2):
        return [_run(site, items, 2), _run(site, items, 2, kills=1)]


def _site(site_folder: Path, models: Path, items: int, slices: int) -> Stack:
    """A site, not started, that computes ``items`` in so many slices."""
    site = Stack(site_folder, models)
    site.environment |= {
        "LARGE_RUN_ITEMS": str(items // 20),
        "SLICE_ITEMS": str(items // slices),
        "JOB_LEASE_SECONDS": str(LEASE_SECONDS),
        "WEB_STALL_SECONDS": "60",
        "WEB_WORKERS": "1",
    }
    return site


def table(rows: Sequence[Row]) -> str:
    """The runs as a Markdown table."""
    first = {}
    for row in rows:
        first.setdefault(row.items, row.digest)
    names = ("file", "workers", "kills", "s", "last part, s", "attempts lost", "worker, MiB", "exact")
    return markdown_table(
        names,
        [
            [
                f"{row.items:,} items",
                str(row.workers),
                str(row.kills),
                f"{row.seconds:.1f}",
                f"{row.last_seconds:.1f}",
                str(row.lost),
                f"{row.worker_mib:.0f}",
                "yes" if row.digest == first[row.items] else "NO",
            ]
            for row in rows
        ],
    )


@contextmanager
def _serving(site: Stack, workers: int) -> Iterator[None]:
    """The site with so many scoring workers, all of them ready; stopped at the end."""
    site.environment["SCORING_WORKERS"] = str(workers)
    site.start()
    try:
        site.wait_for_models(workers)
        yield
    finally:
        site.stop()


def _run(site: Stack, items: int, workers: int, kills: int = 0) -> Row:
    """Submit the file of ``items`` as a new team and wait for its score; nothing is known of it from before."""
    site.query("TRUNCATE submissions_pairvalue")
    name = f"{workers}-{kills}"
    if not site.query("SELECT 1 FROM competitions_competition WHERE slug = %s", f"items-{items}"):
        site.call("tests.benchmarks.shard_contest", "make", f"items-{items}", items)
    pk = site.call("tests.benchmarks.shard_contest", "submit", f"items-{items}", name, items)["run"]
    with _Memory(site) as memory:
        killed: frozenset = frozenset()
        for share in KILL_AT[:kills]:
            killed = _kill_at(site, pk, share, killed)
        wait_for(lambda: _state(site, pk) in ("finished", "failed"), "the run ends", seconds=LIMIT_SECONDS, every=0.2)
    assert _state(site, pk) == "finished", site.log[-4000:]
    [(seconds, last_seconds, lost)] = site.query(
        "SELECT extract(epoch FROM r.finished_at - r.started_at)::float,"
        " extract(epoch FROM r.finished_at - max(j.finished_at))::float, sum(j.attempt - 1)::int"
        " FROM submissions_scoringrun r JOIN jobs_job j ON j.parent_id = r.job_id WHERE r.id = %s GROUP BY r.id",
        pk,
    )
    row = Row(items, workers, kills, seconds, last_seconds, lost, memory.worker_mib, _digest(site, pk))
    say(f"  {row}")
    return row


def _kill_at(site: Stack, pk: int, share: float, lost: frozenset) -> frozenset:
    """Kill the second worker's scoring process in the middle of a slice, once ``share`` of the slices are done."""
    slices = "FROM jobs_job WHERE parent_id = (SELECT job_id FROM submissions_scoringrun WHERE id = %s)"
    done = f"SELECT coalesce(avg((state = 'finished')::int), 0) {slices}"
    wait_for(lambda: site.query(done, pk)[0][0] >= share, f"{share:.0%} are done", seconds=LIMIT_SECONDS, every=0.05)
    return site.kill_in_slice("scoring-1", lost)


def _state(site: Stack, pk: int) -> str:
    return site.query("SELECT state FROM submissions_scoringrun WHERE id = %s", pk)[0][0]


def _digest(site: Stack, pk: int) -> str:
    """One hash of the final score and of every item value of the run's submission, as stored."""
    return site.query(
        "SELECT md5(r.final_score::text || string_agg(m.metric || m.values::text, '' ORDER BY m.metric))"
        " FROM submissions_scoringrun r JOIN submissions_metricresult m ON m.submission_id = r.submission_id"
        " WHERE r.id = %s GROUP BY r.final_score",
        pk,
    )[0][0]


class _Memory:
    """The highest resident memory, in MiB, of the processes that score, inside a ``with``."""

    def __init__(self, site: Stack) -> None:
        self.worker_mib = 0.0
        self._site = site
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> _Memory:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        scoring, looked = list[psutil.Process](), -math.inf
        while not self._stop.wait(SAMPLE_SECONDS):
            if time.monotonic() > looked + LOOK_SECONDS:
                scoring, looked = self._scoring(), time.monotonic()
            self._note_memory(scoring)

    def _scoring(self) -> list[psutil.Process]:
        found = []
        with suppress(psutil.Error):
            for program in self._site.supervisor.children():
                if "scoring" in program.cmdline():
                    found += program.children(recursive=True)
        return found

    def _note_memory(self, processes: Sequence[psutil.Process]) -> None:
        for process in processes:
            with suppress(psutil.Error):
                mib = process.memory_info().rss / 2**20
                self.worker_mib = max(self.worker_mib, mib)


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks shards", description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=100_000, help="of the largest file (default: 100,000)")
    parser.add_argument(
        "--quick", action="store_true", help="with one kill, against one worker: only to see that it works"
    )
    return parser.parse_args(arguments)
