"""What the API answers to who abuses it, and what that costs the web processes.

The site's own web server with a contest in an own database. A JSON body of ``--keys`` keys, and the largest one that is
read at all; a file of ``--megabytes``, its length declared or in chunks; and ``--requests`` requests of one token, as
fast as ``--clients`` connections send them, while a visitor asks /healthz/. Of each: the answers, the seconds until the
last, the processor time and the most memory (RSS) of the web processes, all together, and what the visitor noticed.
"""

from __future__ import annotations

import argparse
import http.client
import json
import math
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.benchmarks.bench_queue import _prepare, _release
from tests.benchmarks.bench_servers import _ask, milliseconds, share_of
from tests.benchmarks.large_bodies import sent
from tests.benchmarks.tables import markdown_table, say
from tests.benchmarks.web_servers import HEALTH, SERVERS, Running, Size, running
from tests.chaos.contest import SLUG

WHOAMI: Final = "/api/v1/whoami/"
QUESTIONS: Final = f"/api/v1/competitions/{SLUG}/questions/"
SAMPLED_EVERY: Final = 0.02  # seconds, of memory
PATIENCE: Final = 120.0
READ_BYTES: Final = 2 * 1024 * 1024 - 64  # of the largest JSON that is read


@dataclass(frozen=True)
class Seen:
    """Of one abuse. ``waits``: the visitor's, in seconds; infinite for a request that was lost."""

    name: str
    answers: str
    seconds: float
    cpu: float
    before: float  # megabytes, as the next
    most: float
    waits: list[float]

    def cells(self) -> list[str]:
        lost = sum(map(math.isinf, self.waits))
        visitor = " / ".join(milliseconds(share_of(self.waits, share)) for share in (0.5, 0.95))
        numbers = (f"{self.seconds:.1f}", f"{self.cpu:.1f}", f"{self.before:.0f}", f"{self.most:.0f}")
        return [self.name, self.answers, *numbers, f"{visitor}, {lost} of {len(self.waits)} lost"]


COLUMNS: Final = ("abuse", "answers", "seconds", "CPU s", "MB before", "MB at most", "visitor, p50 / p95 ms")


def show(arguments: Sequence[str]) -> None:
    """Run the benchmark and print its table."""
    options = _options(arguments)
    server = next(each for each in SERVERS if each.package == "waitress" and not each.has_nginx)
    size = Size(options.processes, options.threads)
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        _prepare(options.site or folder / "site")
        try:
            from tests.chaos import contest

            token = next(iter(contest.make().values()))
            with running(server, size, folder / "web", None) as site:
                rows = [_beside_a_visitor(site, name, abuse) for name, abuse in _abuses(site, token, options)]
        finally:
            _release()
    print(f"{size}\n\n{markdown_table(COLUMNS, [row.cells() for row in rows])}")


def _abuses(site: Running, token: str, options: argparse.Namespace) -> list[tuple[str, Callable[[], str]]]:
    many, read = _keys(options.keys), _keys(READ_BYTES // len(_key(0)))
    return [
        ("nothing", lambda: _pause(0.5 if options.quick else 2.0)),
        (f"JSON of {options.keys:,} keys ({len(many) / 2**20:.0f} MB)", lambda: _posted(site.port, token, many)),
        (f"JSON of {len(read) / 2**20:.1f} MB", lambda: _posted(site.port, token, read)),
        *(
            (
                f"{options.megabytes:,} MB {'in chunks' if in_chunks else 'declared'}",
                lambda in_chunks=in_chunks: str(
                    sent(site.port, token, in_chunks=in_chunks, megabytes=options.megabytes)
                ),
            )
            for in_chunks in (False, True)
        ),
        (
            f"{options.requests:,} requests of a token",
            lambda: _asked(site.port, token, options.requests, options.clients),
        ),
    ]


def _pause(seconds: float) -> str:
    """What the visitor notices without any."""
    time.sleep(seconds)
    return "–"


def _key(number: int) -> str:
    return f'"k{number:07}":1,'


def _keys(count: int) -> bytes:
    """A JSON object of so many keys."""
    return ("{" + "".join(map(_key, range(count)))[:-1] + "}").encode()


def _posted(port: int, token: str, body: bytes) -> str:
    """The status and the code of the answer to one JSON body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    try:
        connection.request("POST", QUESTIONS, body, headers)
        response = connection.getresponse()
        content = response.read()
    except OSError as error:  # it was refused while it was sent, and the rest of it was not taken
        return type(error).__name__
    finally:
        connection.close()
    return f"{response.status} {json.loads(content).get('code', '')}, {len(content) / 1024:.0f} KB"


def _asked(port: int, token: str, count: int, clients: int) -> str:
    """How many of ``count`` requests were answered with which status."""
    with ThreadPoolExecutor(clients) as pool:
        found = list(pool.map(lambda share: _asked_by_one(port, token, share), _shares(count, clients)))
    total: Counter[str] = sum(found, Counter())
    return ", ".join(f"{status}: {number:,}" for status, number in sorted(total.items()))


def _shares(count: int, clients: int) -> list[int]:
    return [count // clients + (number < count % clients) for number in range(clients)]


def _asked_by_one(port: int, token: str, count: int) -> Counter[str]:
    """Over one connection, which is opened anew where the server closed it."""
    found: Counter[str] = Counter()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    for _number in range(count):
        try:
            connection.request("GET", WHOAMI, headers={"Authorization": f"Bearer {token}"})
            response = connection.getresponse()
            response.read()
            waits = response.status == 429 and not response.getheader("Retry-After")
            found["429 without Retry-After" if waits else str(response.status)] += 1
        except (OSError, http.client.HTTPException):
            connection.close()
            found["no answer"] += 1
    connection.close()
    return found


def _beside_a_visitor(site: Running, name: str, abuse: Callable[[], str]) -> Seen:
    """``abuse`` while somebody asks /healthz/, and what the web processes took."""
    over, waits, sizes = threading.Event(), list[float](), [site.megabytes()]

    def ask() -> None:
        while not over.is_set() or not waits:
            waits.append(_ask(site.port, HEALTH))
            time.sleep(SAMPLED_EVERY)

    def weigh() -> None:
        while not over.wait(SAMPLED_EVERY):
            sizes.append(site.megabytes())

    cpu, began = site.cpu_seconds(), time.monotonic()
    with ThreadPoolExecutor(2) as pool:
        beside = [pool.submit(ask), pool.submit(weigh)]
        try:
            answers = abuse()
        finally:
            seconds = time.monotonic() - began
            over.set()
        for each in beside:
            each.result()
    found = Seen(name, answers, seconds, site.cpu_seconds() - cpu, sizes[0], max(sizes), waits)
    say(" | ".join(found.cells()))
    return found


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks api_abuse", description=__doc__)
    parser.add_argument("--keys", type=int, default=1_000_000)
    parser.add_argument("--megabytes", type=int, default=1024)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--clients", type=int, default=8, help="connections of the token")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--threads", type=int, default=8, help="of each web process")
    parser.add_argument("--quick", action="store_true", help="little of each: whether it works")
    parser.add_argument(
        "--site", type=Path, metavar="FOLDER", help="of a site that never ran, used up: else one is made"
    )
    if parser.parse_args(arguments).quick:
        parser.set_defaults(keys=200_000, megabytes=60, requests=700)
    return parser.parse_args(arguments)
