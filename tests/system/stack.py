"""A whole site as an operator starts it: ``manage.py up`` with its own directory, services and port."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.paths import ROOT, python_path
from tests.waiting import wait_for

LEASE_SECONDS = 4
SILENCE_SECONDS = 8  # shorter and busy cores alone would be an alarm
METRICS_TOKEN = "token-of-the-tests"
STALL_SECONDS = 5
REQUEST_SECONDS = 8
CALL_SECONDS = 600  # of a function called beside the site, which may wait for scores
LARGE_RUN_ITEMS, SLICE_ITEMS = 150, 30  # only the test of large runs has a file of more items
_NOT_INHERITED = {
    "DATABASE_URL",
    "REDIS_URL",
    "DJANGO_SETTINGS_MODULE",
    "DEBUG",
    "SECRET_KEY",
    "SITE_URL",
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
            "PYTHONPATH": python_path(),
            "EMAIL_VERIFICATION": "none",  # who signs up is logged in at once
            "MALPAN_VAR": str(var_dir),
            "MALPAN_MODELS": str(models_dir),
            "PORT": str(self.port),
            "LOAD_DEMO": "off",
            "SCORING_THREADS": "1",  # two that wait for each other on busy cores take five times the time of one
            "METRICS_TOKEN": METRICS_TOKEN,
            "REJECTIONS_PER_TEAM": "1000",  # more bad files than a team has
            "API_UPLOADS_PER_TEAM": "1000",  # more files in a minute than a person sends
            "JOB_LEASE_SECONDS": str(LEASE_SECONDS),
            "SCORER_SILENCE_SECONDS": str(SILENCE_SECONDS),
            "LARGE_RUN_ITEMS": str(LARGE_RUN_ITEMS),
            "SLICE_ITEMS": str(SLICE_ITEMS),
            "WEB_STALL_SECONDS": str(STALL_SECONDS),
            "WEB_REQUEST_SECONDS": str(REQUEST_SECONDS),
        }
        self._log_path = var_dir.with_name(var_dir.name + ".log")
        self.supervisor: psutil.Popen | None = None
        self._calls: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Start the supervisor; return when the site answers and is well."""
        with self._log_path.open("ab") as log:
            self.supervisor = psutil.Popen(
                [sys.executable, "manage.py", "up"],
                cwd=ROOT, env=self.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip
        wait_for(lambda: self.is_well() or not self.is_supervised(), f"site at {self.url}", seconds=240)
        assert self.is_supervised(), self.log

    def signal(self, number: signal.Signals) -> int:
        """Send ``number`` to the supervisor; its exit code."""
        assert self.supervisor is not None
        self.supervisor.send_signal(number)
        return self.supervisor.wait(120)

    def stop(self) -> None:
        """Stop everything; nothing of the site runs afterwards."""
        self._end_calls()
        if self.is_supervised():
            self.signal(signal.SIGINT)
        wait_for(lambda: not self.processes(), f"nothing runs on {self.var_dir}")
        self._log_path.unlink(missing_ok=True)

    def stop_at(self, number: signal.Signals) -> None:
        """Stop everything with ``number``: nothing is left when the supervisor has ended, servers included."""
        self._end_calls()
        assert {"postgres", "redis-server"} <= {process.name() for process in self.processes()}
        assert self.signal(number) == 0
        assert self.processes() == []

    def kill_supervisor(self) -> None:
        """Kill it; return when nothing of the site runs."""
        self._end_calls()  # that process uses the servers, too
        self.signal(signal.SIGKILL)
        wait_for(lambda: not self.processes(), "the killed supervisor's children end")

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

    def wait_for_models(self, workers: int = 1) -> None:
        """Return when the models were loaded so many times."""
        wait_for(lambda: self.log.count("models of demo loaded on") >= workers, "the workers are ready", seconds=300)

    def pool_child(self, worker: str = "scoring") -> psutil.Process:
        """The process of the scoring worker that holds the models; there is none while the worker starts."""
        return wait_for(lambda: next(filter(_is_alive, self.program(f"{worker}@%h").children()), None), "a child")

    def kill_in_slice(self, worker: str = "scoring", lost: frozenset = frozenset()) -> frozenset:
        """Kill the scoring process of ``worker`` in the middle of a slice: of one more than those in ``lost``.

        Returns all that were lost, (id, attempt): the rows say "running" until their leases are over.
        """
        held = (
            "SELECT id, attempt FROM jobs_job WHERE kind = 'slice' AND state = 'running' AND worker LIKE %s"
            " FOR UPDATE SKIP LOCKED"  # one that is just being finished is locked
        )

        def newly_held() -> set:
            return set(connection.execute(held, [f"{worker}@%"]).fetchall()) - lost

        child = self.pool_child(worker)
        with self._connected(autocommit=True) as connection:  # one for all: a hundred a second take a processor
            while True:  # until it was not between two slices
                wait_for(newly_held, f"{worker} has a slice", seconds=120, every=0.01)
                child.suspend()  # it is looked at before it dies: its worker may notice only when the lease is over
                if rows := newly_held():
                    child.kill()
                    return lost | rows
                child.resume()

    def query(self, statement: str, *values: object) -> list[tuple]:
        """Ask the site's database directly; does not count as a user of the embedded server."""
        with self._connected(autocommit=True) as connection:
            cursor = connection.execute(statement, values)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def held(self, table: str, row: int) -> Iterator[None]:
        """Somebody else's transaction that holds the row with this primary key: who needs it stands still meanwhile."""
        with self._connected() as connection:
            connection.execute(f"SELECT FROM {table} WHERE id = %s FOR UPDATE", [row])
            yield
            connection.rollback()

    def _connected(self, **options: Any) -> psycopg.Connection:
        sockets = str(self.var_dir / "embedded" / "postgres")
        return psycopg.connect(host=sockets, port=5432, user="postgres", dbname="malpan", **options)

    def call(self, module: str, function: str, *arguments: Any) -> Any:
        """What ``function`` returns, called beside the site by one process of its own (``tests.system.site_calls``)."""
        if self._calls is None:
            self._calls = subprocess.Popen(
                [sys.executable, "-m", "tests.system.site_calls"],
                cwd=ROOT, env=self.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            )  # fmt: skip
        asked, answered = self._calls.stdin, self._calls.stdout
        asked.write(json.dumps([module, function, arguments]) + "\n")
        assert select.select([answered], [], [], CALL_SECONDS)[0], f"{function} takes too long"
        answer = answered.readline()
        if not answer:
            self._end_calls()
            raise AssertionError(f"{function} failed, see above")
        return json.loads(answer)

    def _end_calls(self) -> None:
        if self._calls is not None:
            self._calls.communicate()  # it ends with its input
            self._calls = None


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


def _is_alive(process: psutil.Process) -> bool:
    """Whether it is there and did not end: a celery worker looks after its dead children every five seconds."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _has_words(process: psutil.Process, words: Iterable[str]) -> bool:
    try:
        command = process.cmdline()
    except psutil.Error:
        return False
    return all(word in command for word in words)
