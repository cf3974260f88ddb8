"""A whole site as an operator starts it: ``manage.py up`` with its own directory, services and port."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.paths import ROOT
from tests.waiting import wait_for

LEASE_SECONDS = 4
STALL_SECONDS = 5
REQUEST_SECONDS = 8
_NOT_INHERITED = {
    "DATABASE_URL",
    "REDIS_URL",
    "DJANGO_SETTINGS_MODULE",
    "DEBUG",
    "SECRET_KEY",
    "SITE_URL",
    "PYTHONPATH",
}


class Stack:
    """One site on ``var_dir``. It may be started, stopped or killed, and started again."""

    certificate = None  # it speaks plain HTTP

    def __init__(self, var_dir: Path, models_dir: Path) -> None:
        self.var_dir = var_dir
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **{name: value for name, value in os.environ.items() if name not in _NOT_INHERITED},
            "MALPAN_VAR": str(var_dir),
            "MALPAN_MODELS": str(models_dir),
            "PORT": str(self.port),
            "LOAD_DEMO": "off",
            "REJECTIONS_PER_TEAM": "1000",  # more bad files than a team has
            "JOB_LEASE_SECONDS": str(LEASE_SECONDS),
            "WEB_STALL_SECONDS": str(STALL_SECONDS),
            "WEB_REQUEST_SECONDS": str(REQUEST_SECONDS),
        }
        self._log_path = var_dir.with_name(var_dir.name + ".log")
        self.supervisor: psutil.Popen | None = None

    def start(self) -> None:
        """Start the supervisor; return when the site answers and is well."""
        with self._log_path.open("ab") as log:
            self.supervisor = psutil.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        wait_for(lambda: self.is_well() or not self.is_supervised(), f"site at {self.url}", seconds=90)
        assert self.is_supervised(), self.log

    def signal(self, number: signal.Signals) -> int:
        """Send ``number`` to the supervisor; its exit code."""
        assert self.supervisor is not None
        self.supervisor.send_signal(number)
        return self.supervisor.wait(60)

    def stop(self) -> None:
        """Stop everything; nothing of the site runs afterwards."""
        if self.is_supervised():
            self.signal(signal.SIGINT)
        wait_for(lambda: not self.processes(), f"nothing runs on {self.var_dir}", seconds=60)
        self._log_path.unlink(missing_ok=True)

    @property
    def log(self) -> str:
        """All that the site has printed."""
        return self._log_path.read_text(errors="replace") if self._log_path.exists() else ""

    def is_supervised(self) -> bool:
        return self.supervisor is not None and self.supervisor.poll() is None

    def is_well(self) -> bool:
        return status_of(self.port, "/healthz/?format=text") == 200

    def processes(self) -> list[psutil.Process]:
        """Every living process of this site, servers included, whoever its parent is."""
        return [process for process in psutil.process_iter() if _belongs(process, str(self.var_dir))]

    def program(self, *words: str) -> psutil.Process:
        """The child of the supervisor that has ``words`` in its command line."""
        assert self.supervisor is not None
        return wait_for(
            lambda: next((child for child in self.supervisor.children() if _has_words(child, words)), None),
            f"a program with {words}",
        )

    def programs(self, word: str) -> list[psutil.Process]:
        """Every child of the supervisor that has ``word`` in its command line."""
        assert self.supervisor is not None
        return [child for child in self.supervisor.children() if _has_words(child, (word,))]

    def pool_child(self) -> psutil.Process:
        """The process of the scoring worker that holds the models."""
        return wait_for(lambda: next(iter(self.program("scoring").children()), None), "the pool's child")

    def query(self, statement: str, *values: object) -> list[tuple]:
        """Ask the site's database directly; does not count as a user of the embedded server."""
        sockets = str(self.var_dir / "embedded" / "postgres")
        with psycopg.connect(host=sockets, port=5432, user="postgres", dbname="malpan", autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    def run_script(self, module: str, *arguments: str) -> Any:
        """Run ``module`` beside the site, as a management command runs; the JSON it prints last."""
        done = subprocess.run(
            [sys.executable, "-m", module, *arguments],
            cwd=ROOT, env=self.environment, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def status_of(port: int, path: str) -> int | None:
    """The HTTP status of ``path``, or ``None`` where nobody answers."""
    connection = HTTPConnection("127.0.0.1", port, timeout=10)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    except (OSError, HTTPException):
        return None
    finally:
        connection.close()


def _belongs(process: psutil.Process, var_dir: str) -> bool:
    try:
        if process.status() == psutil.STATUS_ZOMBIE or process.pid == os.getpid():
            return False
        return any(var_dir in part for part in process.cmdline()) or process.environ().get("MALPAN_VAR") == var_dir
    except psutil.Error:
        return False


def _has_words(process: psutil.Process, words: Iterable[str]) -> bool:
    try:
        command = process.cmdline()
    except psutil.Error:
        return False
    return all(word in command for word in words)
