"""Web servers that are compared: how each is started on the site's application, and nginx as deploy/ has it in front.

The site runs on waitress; the others are looked for in ``PEERS``, a folder that ``pip install --target`` filled.
"""

from __future__ import annotations

import math
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PathDistribution, distributions, version
from pathlib import Path
from typing import Final

import psutil

from malpan.local.programs import PAGE_LIMITS
from tests.paths import ROOT, python_path
from tests.system.deployed import nginx
from tests.system.stack import free_port, status_of
from tests.waiting import wait_for

GRACE_SECONDS: Final = 60  # on busy cores
LOOKS_EVERY: Final = 0.5  # seconds, for processes of a server
HEALTH: Final = "/healthz/?format=text"
PYTHON: Final = (sys.executable, "-m")


@dataclass(frozen=True)
class Size:
    """Of a server: its processes and the threads of each, as far as it lets one say."""

    processes: int = 1
    threads: int = 8

    def __str__(self) -> str:
        return f"{self.processes} x {self.threads} threads"


@dataclass(frozen=True)
class WebServer:
    """One of those compared; ``command`` is that of a whole server on a port, with all its processes."""

    name: str
    package: str
    command: Callable[[Size, int], list[str]]
    settings: Mapping[str, str] = field(default_factory=dict)
    has_nginx: bool = False


def _waitress(_size: Size, _port: int) -> list[str]:
    return [*PYTHON, "malpan.web_server"]


def _gunicorn(size: Size, port: int) -> list[str]:
    return [
        *PYTHON, "gunicorn", "malpan.wsgi:application", "--worker-class", "gthread", "--log-level", "error",
        "--workers", str(size.processes), "--threads", str(size.threads), "--bind", f"127.0.0.1:{port}",
    ]  # fmt: skip


def _granian(size: Size, port: int) -> list[str]:
    return [
        *PYTHON, "granian", "malpan.wsgi:application", "--interface", "wsgi", "--log-level", "error",
        "--workers", str(size.processes), "--blocking-threads", str(size.threads), "--port", str(port),
    ]  # fmt: skip


def _uvicorn(size: Size, port: int) -> list[str]:
    """Django makes a thread for each request that it has read; a number of them cannot be said."""
    return [
        *PYTHON, "uvicorn", "django.core.asgi:get_asgi_application", "--factory", "--lifespan", "off",
        "--no-access-log", "--log-level", "error", "--workers", str(size.processes), "--port", str(port),
    ]  # fmt: skip


# a thread that ends with its request leaves the connection that it would have kept: Django says to keep none
_NO_KEPT_CONNECTIONS: Final = {"CONN_MAX_AGE": "0"}

SERVERS: Final = (
    WebServer("waitress, malpan.web_server", "waitress", _waitress),
    WebServer("gunicorn gthread", "gunicorn", _gunicorn),
    WebServer("granian WSGI", "granian", _granian),
    WebServer("uvicorn, Django's ASGI", "uvicorn", _uvicorn, _NO_KEPT_CONNECTIONS),
    WebServer("nginx before gunicorn", "gunicorn", _gunicorn, has_nginx=True),
    WebServer("nginx before waitress", "waitress", _waitress, has_nginx=True),
)


def versions(peers: Path | None) -> dict[str, str]:
    """Of every package that is there of those that a server needs."""
    found = {"waitress": version("waitress")}
    for each in distributions(path=[str(peers)]) if peers else ():
        assert isinstance(each, PathDistribution)
        if each.name in {server.package for server in SERVERS}:
            found[each.name] = each.version
    return found


class Running:
    """A server that answers on ``port``; whoever has it sees what its processes take."""

    def __init__(self, port: int, processes: list[psutil.Popen]) -> None:
        self.port = port
        self._processes = processes
        self._known: list[psutil.Process] = []
        self._looked = -math.inf

    def megabytes(self) -> float:
        """Of memory, all processes together, with nginx's where it has one."""
        return sum(each.memory_info().rss for each in self._all()) / 2**20

    def cpu_seconds(self) -> float:
        """That the processes have taken so far."""
        times = [each.cpu_times() for each in self._all()]
        return sum(each.user + each.system for each in times)

    def _all(self) -> list[psutil.Process]:
        """To find the children, psutil reads every process of the machine: who asks often has those of just before."""
        if time.monotonic() > self._looked + LOOKS_EVERY:
            self._known = [each for one in self._processes for each in (one, *one.children(recursive=True))]
            self._looked = time.monotonic()
        return [each for each in self._known if each.is_running()]


@contextmanager
def running(server: WebServer, size: Size, folder: Path, peers: Path | None) -> Iterator[Running]:
    """``server`` on services and settings of this process's environment; its files are in ``folder``, a new one."""
    folder.mkdir()
    folder.chmod(0o711)  # nginx's processes are another user where its master is root
    port = free_port()
    with ExitStack() as started:
        processes = _started(server, size, port, folder, peers)
        started.callback(_stop, processes)
        if server.has_nginx:
            web_port, port = port, free_port()
            _answers(web_port, server)
            processes.append(_start_nginx(folder, port, web_port))
        _answers(port, server)
        yield Running(port, processes)


def _answers(port: int, server: WebServer) -> None:
    wait_for(lambda: status_of(port, HEALTH) == 200, f"{server.name} answers", seconds=90)


def _started(server: WebServer, size: Size, port: int, folder: Path, peers: Path | None) -> list[psutil.Popen]:
    counts = folder / "counts"
    counts.mkdir()
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([python_path(), *([str(peers)] if peers else [])]),
        "PGOPTIONS": PAGE_LIMITS,
        "PROMETHEUS_MULTIPROC_DIR": str(counts),
        "WEB_THREADS": str(size.threads),
        "PYTHONWARNINGS": "ignore",
        **server.settings,
    }
    if server.package != "waitress":
        return [_start(server.command(size, port), environment)]
    with socket.create_server(("127.0.0.1", port), backlog=1024) as listener:
        listener.set_inheritable(True)
        environment["MALPAN_LISTEN_FD"] = str(listener.fileno())
        command = server.command(size, port)
        return [_start(command, environment, listener.fileno()) for _process in range(size.processes)]


def _start(command: list[str], environment: Mapping[str, str], *descriptors: int) -> psutil.Popen:
    return psutil.Popen(
        command, cwd=ROOT, env=dict(environment), stdin=subprocess.DEVNULL, stdout=sys.stderr, pass_fds=descriptors,
        start_new_session=True,
    )  # fmt: skip


def _stop(processes: list[psutil.Popen]) -> None:
    below = [each for one in processes for each in one.children(recursive=True)]
    for process in reversed(processes):
        process.terminate()
    for process in processes:
        try:
            process.wait(GRACE_SECONDS)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(GRACE_SECONDS)
    for process in below:
        if process.is_running():
            process.kill()


def _start_nginx(folder: Path, port: int, web_port: int) -> psutil.Popen:
    """With deploy/nginx.conf, but without TLS, which the others are asked without."""
    text = (ROOT / "deploy" / "nginx.conf").read_text()
    for name in ("run", "log", "bodies"):
        (folder / name).mkdir()
    for old, new in {
        "server web:8000 ": f"server 127.0.0.1:{web_port} ",
        "listen 443 ssl http2 ": f"listen 127.0.0.1:{port} ",
        "listen 80 ": f"listen 127.0.0.1:{free_port()} ",
        "/run/": f"{folder}/run/",
        "/var/log/nginx": str(folder / "log"),
        "/var/lib/nginx": str(folder / "bodies"),
    }.items():
        assert old in text, f"deploy/nginx.conf has no {old!r}"
        text = text.replace(old, new)
    (folder / "nginx.conf").write_text(re.sub(r"^\s+ssl_.*\n", "", text, flags=re.MULTILINE))
    return _start([nginx(), "-e", "stderr", "-c", str(folder / "nginx.conf"), "-g", "daemon off;"], os.environ)
