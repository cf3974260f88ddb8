"""The benchmark of web servers, in its quick form and with the servers that are there, tells what it is to tell."""

from __future__ import annotations

import math
import re
import socket
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.benchmarks import slow_clients
from tests.benchmarks.bench_servers import Bounds, Load, Seen, share_of, tables
from tests.benchmarks.large_bodies import Told
from tests.benchmarks.slow_clients import Crowd
from tests.paths import ROOT
from tests.system.new_site import new_site
from tests.waiting import wait_for


@pytest.mark.services
def test_the_sites_own_server_is_measured_with_and_without_nginx(short_path: Path) -> None:
    options = ["--quick", "--rounds", "1", "--site", new_site(short_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks", "servers", *options],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip

    assert done.returncode == 0, done.stderr
    turns = re.findall(r"^\| (.*waitress.*?) +\| +1 \| +[\d-]+ / [\d-]+", done.stdout, re.MULTILINE)
    assert turns == 2 * ["waitress, malpan.web_server", "nginx before waitress"]
    assert done.stdout.count("413 named, ") == 4


def test_who_is_lost_is_slower_than_all() -> None:
    seen = Seen([0.01] * 18 + [0.02, math.inf], 2.0)
    assert str(seen) == "10 / 20, 1 of 20 lost"
    assert seen.a_second == 9.5
    assert str(Seen([math.inf], 5.0)) == "- / -, 1 of 1 lost"
    assert share_of([3, 1, 2], 0.5) == 2


def test_bounds_are_said_in_words() -> None:
    row = Bounds("a", [20.4, math.inf, 143.0], [Told(413, True, 0.2), Told(0, False, 90.0)])
    assert tables([], [row]).splitlines()[-1].split(" | ")[1:] == [
        *("         20", "          -", "          143", "413 named, 0 MB taken", "no answer, 90 MB taken |"),
    ]


def test_there_are_as_many_slow_clients_as_said() -> None:
    crowds = Load(clients=200).slow({"file": "/f"})
    assert [len(kinds) for kinds in crowds] == [200, 200, 200]


def test_who_is_cut_off_comes_again() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, Ending(server) as came:
        port = server.getsockname()[1]
        with Crowd(port, [slow_clients.heads(0.05)] * 2) as crowd:
            wait_for(lambda: len(came) >= 6, "they come again")
        assert crowd.cut >= 4
        assert slow_clients.cut_after(port, slow_clients.heads(0.01), 10) < 10


def test_who_is_never_cut_off_has_patience() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        assert slow_clients.cut_after(server.getsockname()[1], slow_clients.heads(0.01), 0.1) == math.inf


class Ending:
    """Accepts on a socket and closes at once, until the socket is closed; the connections that came."""

    def __init__(self, server: socket.socket) -> None:
        self._server = server
        self._came: list[tuple] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> list[tuple]:
        self._thread.start()
        return self._came

    def __exit__(self, *_raised: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._thread.join(10)

    def _serve(self) -> None:
        while True:
            try:
                client, address = self._server.accept()
            except OSError:
                return
            client.close()
            self._came.append(address)
