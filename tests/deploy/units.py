"""What the units of deploy/systemd say: their lines, the drop-in of all of them before those of each."""

from __future__ import annotations

import shlex
import signal
from dataclasses import dataclass
from typing import Final

from tests.paths import ROOT

SYSTEMD: Final = ROOT / "deploy" / "systemd"
PYTHON: Final = "/opt/malpan/.venv/bin/python"


@dataclass(frozen=True, slots=True)
class Unit:
    """A service: every value of its ``[Service]`` section by name, in order."""

    name: str
    values: dict[str, list[str]]

    def one(self, name: str) -> str:
        [value] = self.values[name]
        return value

    def commands(self, instance: str = "") -> list[list[str]]:
        """What is run, without Python's own path."""
        found = [shlex.split(line.replace("%i", instance)) for line in self.values["ExecStart"]]
        assert {words[0] for words in found} == {PYTHON}, found
        return [words[1:] for words in found]

    def environment(self, instance: str = "") -> dict[str, str]:
        """``Environment=`` alone: systemd lets the file of ``EnvironmentFile=`` override it."""
        pairs = (line.replace("%i", instance).partition("=") for line in self.values["Environment"])
        return {name: value for name, _, value in pairs}

    @property
    def stop_signal(self) -> signal.Signals:
        return signal.Signals[self.one("KillSignal")]


def units() -> dict[str, Unit]:
    """The services by file name."""
    common = (SYSTEMD / "malpan-.service.d" / "common.conf").read_text()
    return {path.name: Unit(path.name, _section(common + path.read_text())) for path in SYSTEMD.glob("*.service")}


def settings_of_the_example() -> dict[str, str]:
    """What deploy/env.example sets as it is."""
    lines = (ROOT / "deploy" / "env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def _section(text: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    section = ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line
        elif section == "[Service]" and line and not line.startswith("#"):
            name, _, value = line.partition("=")
            values.setdefault(name, []).append(value)
    return values
