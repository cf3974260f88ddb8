"""How long a board, its JSON and the chain take to read, and what reading costs the site, by readers at once.

A site as ``manage.py up`` starts it, with contests of ``--teams`` (each team with twelve scored submissions). Readers
ask one after another for ``--seconds``, each on a connection of its own. "CPU" is the processor time of web server and
database for a request; p50, p95 and p99 are of the answers' times as the reader sees them, on a machine that runs the
readers as well. "changing": five times a second the score of some team changes meanwhile.
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

import psutil

from tests.benchmarks.tables import markdown_table, say
from tests.system.stack import Stack

EACH = 12
READERS = (1, 8, 32)
CHANGES_A_SECOND = 5


@dataclass(frozen=True)
class Row:
    """One case: answers, their times in ms, processor time of the site in ms an answer, bytes of one, failures."""

    case: str
    readers: int
    changing: bool
    answers: int
    failures: int
    cpu_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    bytes: int
    packed: int


def show(arguments: Sequence[str]) -> None:
    """Run the benchmark and print its table."""
    options = _options(arguments)
    folder = Path(tempfile.mkdtemp(prefix="malpan-bench-"))
    try:
        print(table(measured(options.teams, options.seconds, folder / "site", folder / "models")))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measured(sizes: Sequence[int], seconds: float, site_folder: Path, models: Path) -> list[Row]:
    """All cases on one site made in ``site_folder``, a short path."""
    site = Stack(site_folder, models)
    site.environment["WEB_STALL_SECONDS"] = site.environment["WEB_REQUEST_SECONDS"] = "600"
    site.start()
    rows = []
    try:
        for teams in sizes:
            slug = f"teams-{teams}"
            site.call("tests.benchmarks.board_contest", "make", slug, teams, EACH)
            site.query("ANALYZE")
            board, chain = f"/competitions/{slug}/board/", f"/competitions/{slug}/chain/"
            cases = {
                f"board of {teams:,} teams": board,
                f"the same by another score, {teams:,} teams": f"{board}?sort=bleurt",
                f"JSON of the board, {teams:,} teams": f"/api/v1/competitions/{slug}/tracks/main/board/",
                f"chain, {teams:,} teams": chain,
            }
            for case, address in cases.items():
                for readers in READERS if address == board else (1,):
                    rows.append(_measured(site, case, address, readers, seconds))
            with _changing(site, slug):
                rows.append(_measured(site, f"board of {teams:,} teams", board, 8, seconds, changing=True))
    finally:
        site.stop()
    return rows


def _measured(site: Stack, case: str, address: str, readers: int, seconds: float, *, changing: bool = False) -> Row:
    body = _get(site.port, address)[1]
    before, end = _cpu_seconds(site), time.monotonic() + seconds
    with ThreadPoolExecutor(readers) as pool:
        answers = [each for one in pool.map(lambda _n: _read(site.port, address, end), range(readers)) for each in one]
    cpu = sum(taken - before.get(pid, taken) for pid, taken in _cpu_seconds(site).items())
    times = sorted(taken for _status, taken in answers)
    cuts = statistics.quantiles(times, n=100, method="inclusive") if len(times) > 1 else times * 99
    row = Row(
        case=case,
        readers=readers,
        changing=changing,
        answers=len(answers),
        failures=sum(status != 200 for status, _taken in answers),
        cpu_ms=1000 * cpu / len(answers),
        p50_ms=1000 * cuts[49],
        p95_ms=1000 * cuts[94],
        p99_ms=1000 * cuts[98],
        bytes=len(body),
        packed=len(gzip.compress(body, 6)),
    )
    say(f"  {row}")
    return row


def _read(port: int, address: str, end: float) -> list[tuple[int, float]]:
    """Status and seconds of each answer until ``end``; at least one."""
    found = []
    while not found or time.monotonic() < end:
        started = time.monotonic()
        status, _body = _get(port, address)
        found.append((status, time.monotonic() - started))
    return found


def _get(port: int, address: str) -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request("GET", address, headers={"Accept-Language": "ko"})
        response = connection.getresponse()
        return response.status, response.read()
    except OSError:
        return 0, b""
    finally:
        connection.close()


def _cpu_seconds(site: Stack) -> dict[int, float]:
    """Of every process of the web server and of the database that lives now, by its number."""
    seconds = {}
    for process in site.processes():
        try:
            words = " ".join(process.cmdline())
            if "malpan.web_server" in words or "/bin/postgres" in words:
                for each in (process, *process.children()):  # the database has a process for each connection
                    times = each.cpu_times()
                    seconds[each.pid] = times.user + times.system
        except psutil.NoSuchProcess:
            continue
    return seconds


@contextmanager
def _changing(site: Stack, slug: str) -> Iterator[None]:
    """Scores of teams of the contest change meanwhile, as a worker's finished runs change them."""
    over = threading.Event()

    def change() -> None:
        statement = (
            "UPDATE submissions_scoringrun SET final_score = random() WHERE id = (SELECT s.live_run_id FROM"
            " submissions_submission s JOIN teams_team t ON t.id = s.team_id JOIN competitions_competition c"
            " ON c.id = t.competition_id WHERE c.slug = %s ORDER BY random() LIMIT 1)"
        )
        while not over.wait(1 / CHANGES_A_SECOND):
            site.query(statement, slug)

    with ThreadPoolExecutor(1) as pool:
        changing = pool.submit(change)
        try:
            yield
        finally:
            over.set()
            changing.result()


def table(rows: Sequence[Row]) -> str:
    """The cases as a Markdown table."""
    names = ("case", "readers", "answers", "errors", "CPU, ms", "p50, ms", "p95, ms", "p99, ms", "KB", "KB packed")
    return markdown_table(names, list(map(_cells, rows)))


def _cells(row: Row) -> list[str]:
    return [
        f"{row.case}{', changing' if row.changing else ''}",
        str(row.readers),
        str(row.answers),
        str(row.failures),
        f"{row.cpu_ms:.1f}",
        f"{row.p50_ms:.1f}",
        f"{row.p95_ms:.1f}",
        f"{row.p99_ms:.1f}",
        f"{row.bytes / 1000:.0f}",
        f"{row.packed / 1000:.0f}",
    ]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks boards")
    parser.add_argument("--teams", type=int, nargs="+", default=[300, 10_000], help="of each contest")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each case")
    return parser.parse_args(arguments)
