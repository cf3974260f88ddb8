"""Which processes a supervisor started, written down so that the next one can tell a leftover from a stranger."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import psutil

_WAIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process id is used again by the system; together with the moment of creation it names one process."""

    pid: int
    created: float  # seconds since the epoch

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """The identity of the process that has ``pid`` now, or ``None``."""
        try:
            return cls(pid, psutil.Process(pid).create_time())
        except psutil.NoSuchProcess:
            return None

    def process(self) -> psutil.Process | None:
        """The very process, if it still lives."""
        if ProcessIdentity.of(self.pid) != self:
            return None
        return psutil.Process(self.pid)


@dataclass(slots=True)
class Record:
    """The content of the record file: the supervisor, its address, and the children it started."""

    path: Path
    supervisor: ProcessIdentity | None = None
    url: str = ""
    children: list[ProcessIdentity] = field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Record:
        """The record at ``path``; an empty one where there is none or it was cut short."""
        try:
            kept = json.loads(path.read_text())
            supervisor = ProcessIdentity(**kept["supervisor"]) if kept["supervisor"] else None
            return cls(path, supervisor, kept["url"], [ProcessIdentity(**child) for child in kept["children"]])
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return cls(path)

    def write(self) -> None:
        """Replace the file in one step."""
        fresh = self.path.with_suffix(".new")
        supervisor = asdict(self.supervisor) if self.supervisor else None
        content = {"supervisor": supervisor, "url": self.url, "children": [asdict(child) for child in self.children]}
        fresh.write_text(json.dumps(content))
        fresh.replace(self.path)

    def add_child(self, pid: int) -> None:
        """Note a child just started; children that have ended are left out."""
        self.children = [child for child in self.children if child.process()]
        if identity := ProcessIdentity.of(pid):
            self.children.append(identity)
        self.write()


def end_leftovers(record: Record) -> int:
    """End what a killed supervisor left running, and their children; how many were found.

    The kernel ends them with their parent on Linux, so that this finds work elsewhere and in the first instant only.
    """
    roots = [process for child in record.children if (process := child.process())]
    everything = [*roots, *(descendant for root in roots for descendant in _descendants(root))]
    _, stubborn = psutil.wait_procs(everything, timeout=_WAIT_SECONDS)
    for process in stubborn:
        _quietly(process.terminate)
    _, stubborn = psutil.wait_procs(stubborn, timeout=_WAIT_SECONDS)
    for process in stubborn:
        _quietly(process.kill)
    psutil.wait_procs(stubborn, timeout=_WAIT_SECONDS)
    return len(everything)


def _descendants(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def _quietly(action: Callable[[], None]) -> None:
    try:
        action()
    except psutil.NoSuchProcess:
        return
