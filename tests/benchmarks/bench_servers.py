"""What a visitor notices of slow clients on the site's web server and on others, each with the site's application.

One database with a board of ``--teams`` and a large file; each server in turn, ``--rounds`` times. /healthz/ is asked
alone, then beside ``--clients`` that send a header, or a body, a byte every three seconds, or read the file a byte a
second; who is cut off comes again. Eight readers ask for the board without them. A visitor gives up after five seconds
("lost"). Then all servers run at once, with nothing to do: when do they cut off a slow client (header and body as
before; an answer of which 8 KiB are read every three seconds), and what is said of a body that is too large, how much
of which is taken.

The site's own server is there; for the others: ``pip install --target FOLDER gunicorn granian 'uvicorn[standard]'``,
and ``--peers FOLDER``.
"""

from __future__ import annotations

import argparse
import math
import os
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException
from pathlib import Path

from tests.benchmarks import slow_clients
from tests.benchmarks.bench_queue import _prepare, _release
from tests.benchmarks.large_bodies import Told, sent
from tests.benchmarks.slow_clients import Crowd, Slow
from tests.benchmarks.tables import markdown_table, say
from tests.benchmarks.web_servers import HEALTH, SERVERS, Running, Size, WebServer, running, versions

GIVES_UP_SECONDS = 5.0
PAUSE_SECONDS = 0.02  # of who asks for /healthz/
READERS = 8  # of the board
SETTLE_SECONDS = 10.0  # at most: the first requests of all slow clients come at once
BOARD = "board"
PARTS = ("slow", "board", "bounds")


@dataclass(frozen=True)
class Load:
    """How much is asked, and for how long each time."""

    clients: int = 200
    seconds: float = 15.0
    teams: int = 300
    megabytes: int = 8  # of the file that slow readers ask for: twice what the system keeps for a connection
    patience: float = 160.0
    between_bytes: float = 3.0

    def slow(self, large: dict[str, str]) -> list[list[Slow]]:
        """The crowds: of one kind each."""
        pause = self.between_bytes
        return [
            [kind] * self.clients
            for kind in (
                slow_clients.heads(pause),
                slow_clients.bodies(pause),
                slow_clients.answers(large["file"], 1.0),
            )
        ]

    def alone(self, large: dict[str, str]) -> list[Slow]:
        """One of each kind; the reader takes so much each time that it is not silent."""
        pause = self.between_bytes
        return [slow_clients.heads(pause), slow_clients.bodies(pause), slow_clients.answers(large["file"], pause, 8192)]


@dataclass(frozen=True)
class Seen:
    """By visitors: the seconds of each request, infinite for one that was lost, and how long all took."""

    seconds: list[float]
    took: float

    @property
    def lost(self) -> int:
        return sum(map(math.isinf, self.seconds))

    @property
    def a_second(self) -> float:
        return (len(self.seconds) - self.lost) / self.took

    def __str__(self) -> str:
        times = " / ".join(milliseconds(share_of(self.seconds, share)) for share in (0.5, 0.95))
        return f"{times}, {self.lost} of {len(self.seconds)} lost" if self.lost else times


def share_of(values: Sequence[float], share: float) -> float:
    """The value that so many of ``values`` do not exceed."""
    return sorted(values)[math.ceil(share * len(values)) - 1]


def milliseconds(seconds: float) -> str:
    return "-" if math.isinf(seconds) else f"{1000 * seconds:.0f}"


@dataclass(frozen=True)
class Turn:
    """What was seen of one server in one round; the board only where that was asked for, as the rest."""

    name: str
    number: int
    load: float  # of the machine, before the turn
    slow: list[Seen]  # /healthz/ alone, then beside each crowd
    megabytes: float  # of memory, at most
    board: Seen | None
    cpu_ms: float  # of the server, for each board

    def cells_of_slow(self) -> list[str]:
        return [self.name, str(self.number), *map(str, self.slow), f"{self.megabytes:.0f}", f"{self.load:.0f}"]

    def cells_of_board(self) -> list[str]:
        numbers = [self.board.a_second if self.board else 0, self.cpu_ms, self.load]
        return [self.name, str(self.number), str(self.board), *(f"{each:.0f}" for each in numbers)]


@dataclass(frozen=True)
class Bounds:
    """Of a server: when it cuts off one slow client of each kind, and what it says of large bodies."""

    name: str
    cut: list[float]
    told: list[Told]

    def cells(self) -> list[str]:
        cut = ["-" if math.isinf(each) else f"{each:.0f}" for each in self.cut]
        return [self.name, *cut, *map(str, self.told)]


def show(arguments: Sequence[str]) -> None:
    """Run the benchmark and print its tables."""
    options = _options(arguments)
    size, load = Size(options.processes, options.threads), Load(options.clients, options.seconds, options.teams)
    if options.quick:
        load = Load(6, 0.3, 3, 1, 4.0, 0.2)
    found = versions(options.peers)
    servers = [each for each in SERVERS if each.package in found and options.only in each.name]
    turns: list[Turn] = []
    bounded: list[Bounds] = []
    with tempfile.TemporaryDirectory(prefix="malpan-bench-") as name:
        folder = Path(name)
        folder.chmod(0o711)
        _prepare(options.site or folder / "site")
        try:
            large, token = _made(load)
            with ExitStack() as started:
                at_once = partial(_all, servers, size, folder, options.peers, started)
                sites = at_once() if options.quick else []  # starting one takes longest; else each has its turns alone
                for number in range(1, options.rounds + 1):
                    for place, server in enumerate(servers if {"slow", "board"} & set(options.parts) else ()):
                        own = running(server, size, folder / f"{number}-{place}", options.peers)
                        site = nullcontext(sites[place]) if sites else own
                        turns.append(turn(server.name, number, site, load, large, options.parts))
                if "bounds" in options.parts:
                    bounded = bounds(servers, sites or at_once(), load, large, token)
        finally:
            _release()
    print(f"{size}; {', '.join(f'{name} {number}' for name, number in found.items())}\n\n{tables(turns, bounded)}")


def _all(
    servers: Sequence[WebServer], size: Size, folder: Path, peers: Path | None, started: ExitStack
) -> list[Running]:
    """All of ``servers``, running until ``started`` is closed."""
    return [
        started.enter_context(running(server, size, folder / f"all-{number}", peers))
        for number, server in enumerate(servers)
    ]


def turn(
    name: str, number: int, starting: AbstractContextManager[Running], load: Load, large: dict[str, str],
    parts: Sequence[str],
) -> Turn:  # fmt: skip
    """What visitors see of a server in one turn."""
    before, slow, most, board, cpu_ms = os.getloadavg()[0], list[Seen](), 0.0, None, 0.0
    with starting as site:
        _ask_for(site.port, large["board"], min(1.0, load.seconds))  # first requests load what later ones have
        if "slow" in parts:
            slow, most = _beside_slow_clients(site, load, large)
        if "board" in parts:
            cpu = site.cpu_seconds()
            board = _by_readers(site.port, large["board"], load.seconds)
            cpu_ms = 1000 * (site.cpu_seconds() - cpu) / len(board.seconds)
    found = Turn(name, number, before, slow, most, board, cpu_ms)
    say(f"{' | '.join(found.cells_of_slow())} || {' | '.join(found.cells_of_board()[2:])}")
    return found


def _beside_slow_clients(site: Running, load: Load, large: dict[str, str]) -> tuple[list[Seen], float]:
    """/healthz/ alone and beside each crowd; the most memory that was taken."""
    found, most = [_ask_for(site.port, HEALTH, load.seconds)], site.megabytes()
    for kinds in load.slow(large):
        with Crowd(site.port, kinds) as crowd, ThreadPoolExecutor(1) as pool:
            _recovered(site, SETTLE_SECONDS)
            asking = pool.submit(_ask_for, site.port, HEALTH, load.seconds)
            while not asking.done():
                most = max(most, site.megabytes())
                time.sleep(0.5)
            found.append(asking.result())
        say(f"  {kinds[0].name}: {found[-1]}; {crowd.cut} cut off")
        _recovered(site, 3 * SETTLE_SECONDS)
    return found, most


def bounds(
    servers: Sequence[WebServer], sites: Sequence[Running], load: Load, large: dict[str, str], token: str
) -> list[Bounds]:
    """When each of ``servers``, all running, cuts off who is slow, and what it says of bodies that are too large."""
    told = [[sent(site.port, token, in_chunks=way) for way in (False, True)] for site in sites]
    alone = load.alone(large)
    with ThreadPoolExecutor(len(sites) * len(alone)) as pool:
        cut = [
            [pool.submit(slow_clients.cut_after, site.port, kind, load.patience) for kind in alone] for site in sites
        ]
        return [
            Bounds(server.name, [each.result() for each in of_one], said)
            for server, of_one, said in zip(servers, cut, told, strict=True)
        ]


def tables(turns: Sequence[Turn], bounded: Sequence[Bounds]) -> str:
    """All that was asked for. Times are p50 / p95 in ms; slow clients are cut off after seconds."""
    names = [kinds[0].name for kinds in Load(clients=1).slow({"file": ""})]
    slow = ("server", "round", "/healthz/ alone", *names, "MB", "load")
    board = ("server", "round", f"board, {READERS} readers", "a second", "CPU, ms", "load")
    ends = ("server", "head cut, s", "body cut, s", "answer cut, s", "90 MB declared", "90 MB in chunks")
    found = (
        (slow, [turn.cells_of_slow() for turn in turns if turn.slow]),
        (board, [turn.cells_of_board() for turn in turns if turn.board]),
        (ends, [each.cells() for each in bounded]),
    )
    return "\n\n".join(markdown_table(columns, rows) for columns, rows in found if rows)


def _made(load: Load) -> tuple[dict[str, str], str]:
    """In the database: the board and large files, by their addresses, and a token for uploads."""
    from django.db import connection

    from tests.benchmarks import board_contest
    from tests.chaos import contest
    from tests.system import make_contest

    board_contest.make(BOARD, load.teams, 3)
    large = make_contest.add_large_answers(BOARD, load.megabytes)
    token = next(iter(contest.make().values()))
    with connection.cursor() as cursor:
        cursor.execute("ANALYZE")
    return large, token


def _recovered(site: Running, seconds: float) -> None:
    """Return when the server answers at once, or after so long."""
    began = time.monotonic()
    while _ask(site.port, HEALTH) > 1.0 and time.monotonic() < began + seconds:
        time.sleep(0.1)
    say(f"    settled after {time.monotonic() - began:.1f} s")


def _by_readers(port: int, path: str, seconds: float) -> Seen:
    began = time.monotonic()
    with ThreadPoolExecutor(READERS) as pool:
        found = list(pool.map(lambda _reader: _ask_for(port, path, seconds, pause=0.0), range(READERS)))
    return Seen([each for one in found for each in one.seconds], time.monotonic() - began)


def _ask_for(port: int, path: str, seconds: float, *, pause: float = PAUSE_SECONDS) -> Seen:
    """Ask again and again for so long."""
    began, found = time.monotonic(), list[float]()
    while not found or time.monotonic() < began + seconds:
        found.append(_ask(port, path))
        time.sleep(pause)
    return Seen(found, time.monotonic() - began)


def _ask(port: int, path: str) -> float:
    """Seconds until the whole answer is there; infinite for none, or another than that all is well."""
    began = time.monotonic()
    connection = HTTPConnection("127.0.0.1", port, timeout=GIVES_UP_SECONDS)
    try:
        connection.request("GET", path, headers={"Accept-Language": "ko"})
        response = connection.getresponse()
        response.read()
        return time.monotonic() - began if response.status == 200 else math.inf
    except (OSError, HTTPException):
        return math.inf
    finally:
        connection.close()


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks servers", description=__doc__)
    parser.add_argument("--peers", type=Path, help="folder with gunicorn, granian and uvicorn")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--only", default="", help="servers with this in their name, such as waitress")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--threads", type=int, default=8, help="of each process")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=Load.seconds, help="of each case")
    parser.add_argument("--clients", type=int, default=Load.clients, help="that are slow")
    parser.add_argument("--teams", type=int, default=Load.teams, help="on the board")
    parser.add_argument("--quick", action="store_true", help="a few clients and seconds: whether it works")
    parser.add_argument(
        "--site", type=Path, metavar="FOLDER", help="of a site that never ran, used up: else one is made"
    )
    return parser.parse_args(arguments)
