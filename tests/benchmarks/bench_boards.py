"""How long a board, its JSON and the chain take to read, and what reading costs the site, by readers at once.

A site as ``manage.py up`` starts it, with contests of ``--teams`` (each team with twelve scored submissions). Readers
ask one after another for ``--seconds``, each on a connection of its own. "CPU" is the processor time of web server and
database for a request. "Server" is the time between the server's having read a request and its answer, on the clock
(p50, p95) and of the thread's processor (CPU p95), as a ``stopwatch`` within it says; "first" is that of the first
request of the case, whose answer was not there yet; p50, p95 and p99 are of the
answers' times as the reader sees them. All run on the same machine. "changing": five times a second the score of some
team changes meanwhile. "uploading": a team uploads files one after another meanwhile, which are scored.
"""

from __future__ import annotations

import argparse
import gzip
import math
import random
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, replace
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote

import psutil
import requests

from tests.benchmarks.stopwatch import HEADER, Taken
from tests.benchmarks.tables import markdown_table, say
from tests.chaos.contest import SLUG, labels_file
from tests.system.stack import Stack

EACH = 12
CHAINED = 5_000  # scores that enter a chain in one transaction
READERS = (1, 8, 32)
CHANGES_A_SECOND = 5
WARM_SECONDS = 10.0


@dataclass(frozen=True)
class Answer:
    """Of one request: the status (0: none), the seconds until it was read, the body, and what the server took."""

    status: int
    seconds: float
    body: bytes = b""
    taken: Taken | None = None


@dataclass(frozen=True)
class Row:
    """One case: answers, their times in ms, processor time of the site in ms an answer, bytes of one, failures."""

    case: str
    readers: int
    answers: int
    failures: int
    queries: float
    cpu_ms: float
    server_cpu_p95_ms: float
    server_first_ms: float
    server_p50_ms: float
    server_p95_ms: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    bytes: int
    packed: int
    uploads: float | None = None  # a second


def show(arguments: Sequence[str]) -> None:
    """Run the benchmark and print its table."""
    options = _options(arguments)
    folder = Path(tempfile.mkdtemp(prefix="malpan-bench-"))
    try:
        print(table(measured(options.teams, options.seconds, folder / "site", folder / "models", options.only)))
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def measured(sizes: Sequence[int], seconds: float, site_folder: Path, models: Path, only: str = "") -> list[Row]:
    """The cases with ``only`` in their name, on one site made in ``site_folder``, a short path."""
    site = Stack(site_folder, models)
    site.environment["WEB_STALL_SECONDS"] = site.environment["WEB_REQUEST_SECONDS"] = "600"
    site.environment["DJANGO_SETTINGS_MODULE"] = "tests.benchmarks.timed_settings"
    site.environment["API_UPLOADS_PER_TEAM"] = "0"  # one team uploads without a pause
    site.environment["CHAIN_DOWNLOADS_PER_ADDRESS"] = site.environment["BOARD_DOWNLOADS_PER_ADDRESS"] = "0"
    site.start()
    rows = []
    try:
        token = next(iter(site.call("tests.chaos.contest", "make").values()))
        site.wait_for_models()
        with _uploading(site, token) as uploads:
            time.sleep(seconds)
        say(f"  {len(uploads) / seconds:.1f} uploads a second without readers")
        for teams in sizes:
            slug = f"teams-{teams}"
            site.call("tests.benchmarks.board_contest", "make", slug, teams, EACH)
            while site.call("tests.benchmarks.board_contest", "append_scores", slug, CHAINED):
                pass
            site.query("VACUUM (ANALYZE)")  # which PostgreSQL would begin by itself in the middle of a case
            board, chain = f"/competitions/{slug}/board/", f"/competitions/{slug}/chain/"
            cases = {
                f"board of {teams:,} teams": board,
                f"the same by another score, {teams:,} teams": f"{board}?sort=bleurt",
                f"a search by name, {teams:,} teams": f"{board}?q={quote('한글')}",
                f"JSON of the board, {teams:,} teams": f"/api/v1/competitions/{slug}/tracks/main/board/",
                f"CSV of the board, {teams:,} teams": f"{board}?as=csv",
                f"plots, {teams:,} teams": f"/competitions/{slug}/figures/",
                f"chain, {teams:,} teams": chain,
                f"JSON of the chain, {teams:,} teams": f"{chain[:-1]}.json",
            }
            _read(site.port, board, time.monotonic() + WARM_SECONDS)  # after a million new rows, as no contest has them
            for case, address in ((case, address) for case, address in cases.items() if only in case):
                for readers in READERS if address == board else (1,):
                    rows.append(_measured(site, case, address, readers, seconds))
            if only in (case := f"board of {teams:,} teams, changing"):
                with _changing(site, slug):
                    rows.append(_measured(site, case, board, 8, seconds))
            if only in (case := f"board of {teams:,} teams, uploading"):
                with _uploading(site, token) as uploads:
                    row = _measured(site, case, board, 8, seconds)
                rows.append(replace(row, uploads=len(uploads) / seconds))
    finally:
        site.stop()
    return rows


def _measured(site: Stack, case: str, address: str, readers: int, seconds: float) -> Row:
    first = _get(site.port, address)
    before, end = _cpu_seconds(site), time.monotonic() + seconds
    with ThreadPoolExecutor(readers) as pool:
        answers = [each for one in pool.map(lambda _n: _read(site.port, address, end), range(readers)) for each in one]
    cpu = sum(taken - before.get(pid, taken) for pid, taken in _cpu_seconds(site).items())
    cuts = _cuts([1000 * answer.seconds for answer in answers])
    taken = [answer.taken for answer in answers if answer.taken is not None]
    server = _cuts([each.wall_ms for each in taken])
    row = Row(
        case=case,
        readers=readers,
        answers=len(answers),
        failures=sum(answer.status != 200 for answer in answers),
        queries=statistics.median(each.queries for each in taken),
        cpu_ms=1000 * cpu / len(answers),
        server_cpu_p95_ms=_cuts([each.cpu_ms for each in taken])[94],
        server_first_ms=first.taken.wall_ms if first.taken else math.nan,
        server_p50_ms=server[49],
        server_p95_ms=server[94],
        p50_ms=cuts[49],
        p95_ms=cuts[94],
        p99_ms=cuts[98],
        bytes=len(first.body),
        packed=len(gzip.compress(first.body, 6)),
    )
    say(f"  {row}")
    return row


def _cuts(values: Sequence[float]) -> list[float]:
    """The hundredths of ``values``."""
    return statistics.quantiles(values, n=100, method="inclusive") if len(values) > 1 else [*values] * 99


def _read(port: int, address: str, end: float) -> list[Answer]:
    """The answers until ``end``, without their bodies; at least one."""
    found: list[Answer] = []
    while not found or time.monotonic() < end:
        found.append(replace(_get(port, address), body=b""))
    return found


def _get(port: int, address: str) -> Answer:
    started = time.monotonic()
    connection = HTTPConnection("127.0.0.1", port, timeout=300)
    try:
        connection.request("GET", address, headers={"Accept-Language": "ko"})
        response = connection.getresponse()
        body = response.read()
        taken = Taken.of_header(response.headers[HEADER])
        return Answer(response.status, time.monotonic() - started, body, taken)
    except OSError:
        return Answer(0, time.monotonic() - started)
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


@contextmanager
def _uploading(site: Stack, token: str) -> Iterator[list[int]]:
    """A team uploads files one after another meanwhile; the list grows with each that is taken."""
    address = f"{site.url}/api/v1/competitions/{SLUG}/tracks/labels/submissions/"
    over, taken, dice = threading.Event(), list[int](), random.Random(0)

    def upload() -> None:
        with requests.Session() as session:
            session.headers["Authorization"] = f"Bearer {token}"
            while not over.is_set():
                response = session.post(address, files={"file": ("labels.json", labels_file(dice))}, timeout=60)
                response.raise_for_status()
                taken.append(response.status_code)

    with ThreadPoolExecutor(1) as pool:
        uploading = pool.submit(upload)
        try:
            yield taken
        finally:
            over.set()
            uploading.result()


def table(rows: Sequence[Row]) -> str:
    """The cases as a Markdown table."""
    names = (
        *("case", "readers", "answers", "errors", "queries", "CPU, ms", "server CPU p95"),
        *("server first", "server p50", "server p95"),
        *("p50, ms", "p95, ms", "p99, ms", "KB", "KB packed", "uploads/s"),
    )
    return markdown_table(names, list(map(_cells, rows)))


def _cells(row: Row) -> list[str]:
    times = (
        *(row.cpu_ms, row.server_cpu_p95_ms, row.server_first_ms, row.server_p50_ms, row.server_p95_ms),
        *(row.p50_ms, row.p95_ms, row.p99_ms),
    )
    return [
        row.case,
        *map(str, (row.readers, row.answers, row.failures)),
        f"{row.queries:.0f}",
        *(f"{value:.1f}" for value in times),
        *(f"{size / 1000:.0f}" for size in (row.bytes, row.packed)),
        "" if row.uploads is None else f"{row.uploads:.1f}",
    ]


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks boards")
    parser.add_argument("--teams", type=int, nargs="+", default=[300, 10_000], help="of each contest")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each case")
    parser.add_argument("--only", default="", help="cases with this in their name, such as chain")
    return parser.parse_args(arguments)
