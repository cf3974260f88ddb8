"""The site as its units start it, behind nginx, whose programs are replaced one by one by those of other code."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TypeAlias

import psutil
import psycopg

from tests.chaos.site import SETTINGS
from tests.system.deployed import Deployed
from tests.system.stack import status_of
from tests.waiting import wait_for

WORKERS = 2
START_SECONDS = 60.0

Done: TypeAlias = dict[str, dict[str, list[tuple[float, int]]]]  # code, kind of job: when, and of which run's job


class UnitSite(Deployed):
    """Two web processes, two workers, chores and beat, each a process by itself as ``manage.py run`` starts it.

    ``replaced``: the units of other code by now, each with when its process ended and when the next one served.
    """

    disk = None  # of its own

    def __init__(self, home: Path, models_dir: Path, root: Path) -> None:
        super().__init__(home, models_dir, root=root, workers=WORKERS, **SETTINGS)
        self.var_dir = home / "var"
        self.replaced: dict[str, tuple[float, float]] = {}

    def start_and_keep(self) -> None:
        self.start()
        os.environ["REQUESTS_CA_BUNDLE"] = self.certificate

    def stop(self) -> None:
        logs = self.home.with_name("logs")  # for whoever looks for a cause
        logs.mkdir()
        for path in self.home.glob("*.log"):
            shutil.copy(path, logs)
        super().stop()

    def make_contest(self) -> dict[str, str]:
        """The tokens of its teams."""
        return json.loads(self.outside("-m", "tests.chaos.contest").splitlines()[-1])

    def outside(self, *command: str) -> str:
        """What a Python command of the newest code of the site prints, run on its database."""
        environment = self._environment("malpan-migrate.service") | {"DJANGO_SETTINGS_MODULE": "malpan.settings"}
        done = subprocess.run(
            [sys.executable, *command],
            cwd=self.root, env=environment, capture_output=True, text=True, check=False, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def ask(self, statement: str, *values: object) -> list[tuple] | None:
        """As ``query``; ``None`` where the database does not answer."""
        try:
            return self.query(statement, *values)
        except psycopg.OperationalError:
            return None

    def is_complete(self) -> bool:
        """Whether every program runs, and each worker has the process that scores."""
        return all(process.poll() is None for process in self._running.values()) and all(
            self.has_child(number) for number in range(WORKERS)
        )

    def has_child(self, number: int) -> bool:
        """Whether the worker has the process that scores."""
        try:
            return bool(self._running[_worker(number)].children())
        except (KeyError, psutil.Error):
            return False

    def replace(self, unit: str, instance: str = "") -> None:
        """Stop a program and start that of the code at ``root``, as ``systemctl restart`` does, until it serves."""
        name = unit.replace("@", f"@{instance}")
        self.stop_unit(name)
        ended = time.time()
        process = self.start_unit(unit, instance)

        def serves() -> bool:
            assert process.poll() is None, self.log[-3000:]
            if "web" in unit:
                return status_of(int(instance), "/healthz/") == 200
            return self.has_child(int(instance)) if "worker" in unit else True

        wait_for(serves, f"{name} of other code", seconds=START_SECONDS)
        self.replaced[name] = ended, time.time()

    def scored(self) -> Done:
        """The scoring done until now; other jobs, such as the intervals of a board, follow from it."""
        rows = self.query(
            "SELECT m.at, m.worker, m.kind, COALESCE(j.parent_id, j.id) FROM chaos_move m JOIN jobs_job j"
            " ON m.job = j.id WHERE m.state = 'finished' AND m.kind IN ('run', 'slice') ORDER BY m.at"
        )
        done: Done = {code: {"run": [], "slice": []} for code in ("old", "new")}
        for at, worker, kind, job in rows:
            done[self._code_of(worker, at)][kind].append((at, job))
        return done

    def _code_of(self, worker: str, at: float) -> str:
        number = 1 if worker.startswith("scoring-1@") else 0
        ended, _serves = self.replaced.get(_worker(number), (float("inf"), 0.0))
        return "new" if at > ended else "old"


def _worker(number: int) -> str:
    return f"malpan-worker@{number}.service"
