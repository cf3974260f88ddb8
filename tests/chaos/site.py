"""The site that is disturbed: two scoring workers, two web processes, short leases; started again as systemd would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections import defaultdict
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import psutil
import psycopg

from tests.chaos.contest import LARGE_RUN_ITEMS, SLICE_ITEMS
from tests.paths import ROOT, python_path
from tests.system.disks import Disk, NoDisk, mounted
from tests.system.stack import LEASE_SECONDS, Stack

DISK_BYTES = 2 * 2**30  # for an hour; more would take long to fill
SERVERS = {"postgres": "-D", "redis-server": "--unixsocket"}  # with an option that only the server itself has
CLOCK = Path(__file__).with_name("clock")
SETTINGS = {
    "SCORING_THREADS": "1",
    "JOB_LEASE_SECONDS": str(LEASE_SECONDS),
    "LARGE_RUN_ITEMS": str(LARGE_RUN_ITEMS),
    "SLICE_ITEMS": str(SLICE_ITEMS),
    "API_UPLOADS_PER_TEAM": "0",
}


class ChaosSite(Stack):
    """A site whose supervisor is started again whenever it ends, until ``stop``.

    Nothing of the chaos is a user of the embedded servers: they stop with the supervisor, as they would.
    """

    def __init__(self, var_dir: Path, models_dir: Path, room: int = DISK_BYTES) -> None:
        """``room``: bytes of its file system, where it has one of its own."""
        super().__init__(var_dir, models_dir)
        self._room = room
        self.environment |= SETTINGS | {"SCORING_WORKERS": "2", "WEB_WORKERS": "2"}
        self.disk: Disk | None = None
        self._own = ExitStack()
        self._stopping = threading.Event()
        self._keeper = threading.Thread(target=self._keep_up, daemon=True)

    def start_and_keep(self) -> None:
        """Start it, on a file system of its own where that can be had."""
        with suppress(NoDisk):
            self.disk = self._own.enter_context(mounted(self.var_dir, self._room))
        self.start()
        self._keeper.start()

    def stop(self) -> None:
        self._stopping.set()
        if self._keeper.is_alive():
            self._keeper.join(120)
        shutil.copy(self._log_path, self._log_path.with_suffix(".kept"))  # for whoever looks for a cause
        super().stop()
        self._own.close()

    def outside(self, *command: str) -> str:
        """What a Python command prints, run on the site's database without keeping its servers alive."""
        done = subprocess.run(
            [sys.executable, *command],
            cwd=ROOT, env=self.environment | self.addresses(), capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def addresses(self) -> dict[str, str]:
        """The settings and addresses of the services, as the site's programs have them."""
        given = self.program("beat").environ()
        names = ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")
        return {"DJANGO_SETTINGS_MODULE": "malpan.settings", **{name: given[name] for name in names}}

    def make_contest(self) -> dict[str, str]:
        """The tokens of its teams."""
        return json.loads(self.outside("-m", "tests.chaos.contest").splitlines()[-1])

    def make_campaign(self) -> dict[str, Any]:
        """Its number and a session of each of its judges (``tests.chaos.campaign``)."""
        return json.loads(self.outside("-m", "tests.chaos.campaign").splitlines()[-1])

    def ask(self, statement: str, *values: object) -> list[tuple] | None:
        """As ``query``; ``None`` where the database does not answer."""
        try:
            return self.query(statement, *values)
        except psycopg.OperationalError:
            return None

    # --- who is there -------------------------------------------------------------------------------------------------
    def roles(self) -> dict[str, list[psutil.Process]]:
        """The processes of each role: what the supervisor started, the pool's children, the servers. Of all processes
        of the machine the words are read of those alone that may be one: this is asked many times in a second.
        """
        supervisor = self.supervisor.pid if self.is_supervised() else None
        programs: list[psutil.Process] = []
        below: dict[int, list[psutil.Process]] = defaultdict(list)
        servers: dict[str, list[psutil.Process]] = defaultdict(list)
        for process in psutil.process_iter():
            with suppress(psutil.Error), process.oneshot():
                parent, name = process.ppid(), process.name()
                if parent == supervisor:
                    programs.append(process)
                elif process.status() != psutil.STATUS_ZOMBIE:
                    below[parent].append(process)
                if name in SERVERS and self._is_server(process, SERVERS[name]):
                    servers[name].append(process)
        workers = _with_word(programs, "scoring")
        return {
            "supervisor": [self.supervisor] if supervisor is not None else [],
            "web": _with_word(programs, "malpan.web_server"),
            "worker": workers,
            "child": [child for worker in workers for child in below[worker.pid]],
            "chores": _with_word(programs, "housekeeping"),
            "beat": _with_word(programs, "beat"),
            "postgres": servers["postgres"],
            "redis": servers["redis-server"],
        }

    def is_complete(self) -> bool:
        """Whether every program of the site runs."""
        wanted = {"web": 2, "worker": 2, "child": 2}
        return all(len(found) >= wanted.get(role, 1) for role, found in self.roles().items())

    def start_worker_with_clock(self, seconds: float, name: str) -> psutil.Popen:
        """One more scoring worker, started as the supervisor starts them, whose clock is off by ``seconds``."""
        model = self.program("scoring")
        command = [f"{name}@%h" if "@%h" in word else word for word in model.cmdline()]
        path = f"{CLOCK}{os.pathsep}{python_path()}"
        environment = model.environ() | {"PYTHONPATH": path, "CHAOS_CLOCK_SECONDS": str(seconds)}
        with self._log_path.open("ab") as log:
            return psutil.Popen(
                command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True,
            )  # fmt: skip

    @property
    def redis_socket(self) -> str:
        return str(self.var_dir / "embedded" / "redis" / "redis.sock")

    def _is_server(self, process: psutil.Process, option: str) -> bool:
        words = process.cmdline()
        return option in words and str(self.var_dir) in " ".join(words)

    def _keep_up(self) -> None:
        while not self._stopping.wait(0.1):
            if not self.is_supervised():
                try:
                    self.start()
                except AssertionError as error:  # tried again, as systemd does
                    print(f"the site did not start: {error}", file=sys.stderr)


def _with_word(programs: list[psutil.Process], word: str) -> list[psutil.Process]:
    found = []
    for program in programs:
        with suppress(psutil.Error):
            if word in program.cmdline():
                found.append(program)
    return found
