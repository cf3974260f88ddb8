"""A Prometheus of the tests: it asks a site, as OPERATIONS.md tells it to, and looks at the rules of deploy/."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

import requests

from tests.deploy.monitoring import program, write_configuration
from tests.system.stack import free_port, status_of
from tests.waiting import wait_for

INTERVALS = {"scrape_interval": "2s", "evaluation_interval": "1s"}
STOPS_WITHIN = 30


class Prometheus:
    """A server that runs within ``with``; all that it writes is below ``home``.

    ``targets``: the site's web processes, as ``host:port``. ``faster``: what the waits of the alerts are divided by.
    """

    def __init__(self, home: Path, token: str, targets: Sequence[str], *, faster: int) -> None:
        self._home = home
        self._configuration = write_configuration(home, token, targets=targets, faster=faster, **INTERVALS)
        self._port = free_port()

    def __enter__(self) -> Prometheus:
        words = (
            f"--config.file={self._configuration}",
            f"--storage.tsdb.path={self._home / 'samples'}",
            f"--web.listen-address=127.0.0.1:{self._port}",
        )
        with (self._home / "prometheus.log").open("wb") as log:
            self._process = subprocess.Popen(
                [program("prometheus"), *words], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        try:
            wait_for(self._is_ready_or_gone, "Prometheus is ready")
            assert self._process.poll() is None, (self._home / "prometheus.log").read_text()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None) -> None:
        self._stop()

    def values(self, expression: str) -> dict[str, float]:
        """What it answers now, by instance (empty where the answer has none)."""
        result = self._ask("query", query=expression)["result"]
        return {each["metric"].get("instance", ""): float(each["value"][1]) for each in result}

    def firing(self, name: str) -> list[dict[str, str]]:
        """The labels of the alerts of this name that fire: not of those that still wait."""
        alerts = [each for each in self._ask("alerts")["alerts"] if each["state"] == "firing"]
        return [each["labels"] for each in alerts if each["labels"]["alertname"] == name]

    def _ask(self, what: str, **values: str) -> Any:
        answer = requests.get(f"http://127.0.0.1:{self._port}/api/v1/{what}", params=values, timeout=30)
        answer.raise_for_status()
        return answer.json()["data"]

    def _is_ready_or_gone(self) -> bool:
        return status_of(self._port, "/-/ready") == 200 or self._process.poll() is not None

    def _stop(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(STOPS_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
