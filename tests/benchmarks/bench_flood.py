"""What a reader of the board notices while others flood the site.

A site as ``manage.py up`` starts it, with a board of ``--teams``. First eight connections of as many teams send
malformed files of 100,000 items through the API without pause, from a process of their own, while one reader asks for
the board: with the limits on rejected files as shipped, and with these limits off; in each case with senders that take
their part of the machine's processors as the site does, and with senders at the lowest priority, which take what the
site leaves, as on machines of their own; and once through the page, as logged-in members. Then 200 clients send a byte
of a request at a time while /healthz/ is asked. Times are those that the reader sees.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import resource
import shutil
import socket
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from http.client import HTTPConnection
from pathlib import Path

import psutil
import requests

from tests.benchmarks.tables import markdown_table, say
from tests.chaos.contest import SLUG
from tests.sessions import CSRF, cookies_of
from tests.system.stack import Stack

LIMITS_OFF = {"REJECTIONS_PER_TEAM": "0", "REJECTIONS_PER_ADDRESS": "0", "API_UPLOADS_PER_TEAM": "0"}
AS_SHIPPED = (*LIMITS_OFF, "WEB_STALL_SECONDS", "WEB_REQUEST_SECONDS")
LEAST_PRIORITY = 19
PAUSE_SECONDS = 0.02  # of the reader


@dataclass(frozen=True)
class Load:
    """How much is sent, and for how long."""

    items: int = 100_000
    floods: int = 8
    slow: int = 200
    seconds: float = 20.0
    teams: int = 300


@dataclass(frozen=True)
class Reading:
    """What the reader saw in one case; ``share`` is that of the processors that the site took, ``senders`` theirs."""

    case: str
    seconds: list[float]
    failures: int
    share: float
    senders: float = 0.0

    def cells(self) -> list[str]:
        cuts = statistics.quantiles(self.seconds, n=100, method="inclusive")
        times = [f"{1000 * value:.0f}" for value in (cuts[49], cuts[94], max(self.seconds))]
        shares = [f"{100 * share:.0f} %" for share in (self.share, self.senders)]
        return [self.case, str(len(self.seconds)), str(self.failures), *times, *shares]


@dataclass(frozen=True)
class Sender:
    """A member of a team: a program with a ``token``, or a browser with a ``session``."""

    token: str = ""
    session: str = ""

    def send(self, connection: requests.Session, url: str, body: bytes) -> str:
        """Send the file; the status, and its code or where the browser is led."""
        file = {"file": ("answers.json", body, "application/json")}
        if self.token:
            address = f"{url}/api/v1/competitions/{SLUG}/tracks/answers/submissions/"
            response = connection.post(
                address, files=file, headers={"Authorization": f"Bearer {self.token}"}, timeout=120
            )
            return f"{response.status_code} {response.json()['error']['code']}"
        response = connection.post(
            f"{url}/competitions/{SLUG}/submit/",
            files=file,
            data={"track": "answers", "csrfmiddlewaretoken": CSRF},
            cookies=cookies_of(self.session),
            headers={"Referer": url},
            allow_redirects=False,
            timeout=120,
        )
        leads_to = "the errors" if "rejection=" in response.headers.get("Location", "") else ""
        return f"{response.status_code} page {leads_to}".strip()


def show(arguments: Sequence[str]) -> None:
    """Run the benchmark and print its tables."""
    options = _options(arguments)
    load = Load(seconds=options.seconds, teams=options.teams)
    folder = Path(tempfile.mkdtemp(prefix="malpan-bench-"))
    readings: list[Reading] = []
    answers: dict[str, Counter[str]] = {}
    try:
        for limits, settings in (("limits as shipped", {}), ("limits off", LIMITS_OFF)):
            with _running(folder / limits.split()[-1], folder / "models", settings) as site:
                found, answers[limits] = flooded(site, load)
                readings += [_renamed(each, limits) for each in found]
                if not settings:
                    slow = slowly_asked(site, load)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print(table([*readings, *slow], answers))


def flooded(site: Stack, load: Load) -> tuple[list[Reading], Counter[str]]:
    """The board of the running ``site`` quiet and under the flood, and what the flood was answered."""
    site.call("tests.benchmarks.board_contest", "make", "board", load.teams, 3)
    tokens = list(site.call("tests.chaos.contest", "make").values())[: load.floods]
    site.query("ANALYZE")
    address = "/competitions/board/board/"
    for _warm in range(10):
        _ask(site.port, address)
    readings, answers = [_read(site, "board, quiet", address, load.seconds / 2)], Counter[str]()
    members = site.call("tests.chaos.contest", "sessions")[: load.floods]
    for name, senders, niceness in (
        ("board, flooded", [Sender(token=token) for token in tokens], 0),
        ("board, flooded by others", [Sender(token=token) for token in tokens], LEAST_PRIORITY),
        ("board, flooded through the page", [Sender(session=session) for session in members], 0),
    ):
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
            sending = pool.submit(flood, site.url, senders, load.items, load.seconds + 2.0, niceness)
            _wait_for_the_first(site)
            busy = _read(site, name, address, load.seconds)
            told, share = sending.result()
        readings.append(replace(busy, senders=share))
        answers += told
    return readings, answers


def flood(url: str, senders: Sequence[Sender], items: int, seconds: float, niceness: int) -> tuple[Counter[str], float]:
    """Send files without pause, one connection for each of ``senders``, in a process of its own.

    The answers by status and code, and the share of all processors that the sending took.
    """
    os.nice(niceness)
    rows = [{"id": f"x{number}", "output": {"answer": 7}, "extra": [1, 2]} for number in range(items)]
    body = json.dumps(rows).encode()
    began, cpu = time.monotonic(), _own_cpu_seconds()
    send = partial(_send_until, url, body, began + seconds)
    with ThreadPoolExecutor(len(senders)) as pool:
        answers = sum(pool.map(send, senders), Counter[str]())
    return answers, (_own_cpu_seconds() - cpu) / (time.monotonic() - began) / (os.cpu_count() or 1)


def _own_cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def slowly_asked(site: Stack, load: Load) -> list[Reading]:
    """/healthz/ of the running ``site``, alone and beside clients that send a byte at a time."""
    alone = _read(site, "/healthz/, quiet", "/healthz/", load.seconds / 2)
    over = threading.Event()
    with ExitStack() as opened:
        clients = [
            opened.enter_context(socket.create_connection(("127.0.0.1", site.port), timeout=30))
            for _client in range(load.slow)
        ]
        for client in clients:
            client.sendall(b"GET /healthz/ HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(_drip, clients, over)
            try:
                beside = _read(site, f"/healthz/ beside {load.slow} slow clients", "/healthz/", load.seconds / 2)
            finally:
                over.set()
            say(f"  {sending.result()} bytes by slow clients")
    return [alone, beside]


def table(readings: Sequence[Reading], answers: dict[str, Counter[str]]) -> str:
    """All cases as a Markdown table, and another of what the floods were answered."""
    names = ("case", "asked", "errors", "p50, ms", "p95, ms", "max, ms", "site", "senders")
    codes = sorted({code for counts in answers.values() for code in counts})
    told = [[code, *(str(counts[code]) for counts in answers.values())] for code in codes]
    return "\n\n".join(
        [
            markdown_table(names, [each.cells() for each in readings]),
            markdown_table(("the flood was answered", *answers), told),
        ]
    )


@contextmanager
def _running(folder: Path, models: Path, settings: dict[str, str]) -> Iterator[Stack]:
    site = Stack(folder, models)
    for name in AS_SHIPPED:
        site.environment.pop(name, None)
    site.environment |= settings
    site.start()
    try:
        yield site
    finally:
        site.stop()


def _renamed(reading: Reading, limits: str) -> Reading:
    return replace(reading, case=f"{reading.case}, {limits}")


def _send_until(url: str, body: bytes, until: float, sender: Sender) -> Counter[str]:
    answers: Counter[str] = Counter()
    with requests.Session() as connection:
        while time.monotonic() < until:
            try:
                answers[sender.send(connection, url, body)] += 1
            except (requests.RequestException, ValueError) as error:
                answers[type(error).__name__] += 1
    return answers


def _wait_for_the_first(site: Stack) -> None:
    """Return when the web server has taken in most of a file: its processes have worked for half a second."""
    begun = _cpu_seconds(site)
    deadline = time.monotonic() + 30.0
    while _cpu_seconds(site) < begun + 0.5 and time.monotonic() < deadline:
        time.sleep(0.05)


def _drip(clients: Sequence[socket.socket], over: threading.Event) -> int:
    """Send a byte of each client again and again; how many were sent. Those whose time is over are dropped."""
    sent, served = 0, list(clients)
    while not over.wait(0.1):
        for client in list(served):
            try:
                client.sendall(b"a")
            except OSError:
                served.remove(client)
            else:
                sent += 1
    return sent


def _read(site: Stack, case: str, address: str, seconds: float) -> Reading:
    """Ask for ``address`` again and again."""
    found = []
    cpu, began = _cpu_seconds(site), time.monotonic()
    while len(found) < 2 or time.monotonic() < began + seconds:
        found.append(_ask(site.port, address))
        time.sleep(PAUSE_SECONDS)
    share = (_cpu_seconds(site) - cpu) / (time.monotonic() - began) / (os.cpu_count() or 1)
    reading = Reading(case, [taken for _status, taken in found], sum(status != 200 for status, _t in found), share)
    say(f"  {' | '.join(reading.cells())}")
    return reading


def _ask(port: int, address: str) -> tuple[int, float]:
    """Status and seconds of the answer; 0 for none."""
    began = time.monotonic()
    connection = HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("GET", address, headers={"Accept-Language": "ko"})
        response = connection.getresponse()
        response.read()
        return response.status, time.monotonic() - began
    except OSError:
        return 0, time.monotonic() - began
    finally:
        connection.close()


def _cpu_seconds(site: Stack) -> float:
    """Of all processes of the site, and of those below them that have ended."""
    processes = {below for each in site.processes() for below in (each, *_below(each))}
    total = 0.0
    for process in processes:
        try:
            times = process.cpu_times()
        except psutil.NoSuchProcess:
            continue
        total += times.user + times.system + times.children_user + times.children_system
    return total


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _options(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks flood", description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of the board under each flood; half of it quiet")
    parser.add_argument("--teams", type=int, default=300, help="on the board")
    return parser.parse_args(arguments)
