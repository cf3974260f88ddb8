"""Sending uploads by the thousand: what came of them, what they cost, and the smallest that shows each defect."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import hypothesis
from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.archives import Packed
from tests.fuzz.bodies import Request
from tests.fuzz.files import File
from tests.fuzz.kinds import Kind
from tests.fuzz.organiser_files import OrganiserFile
from tests.paths import ROOT

BATCH: Final = 500  # hypothesis remembers what it made, and is told to forget after so many
SIZED: Final = 64 * 1024  # a rate per byte says something of uploads from this size on
REPEATS: Final = 2  # a bound is broken if it is broken this often: one garbage collection may fall on any upload
STOPPED: Final = threading.Event()  # whoever runs this wants to see what came of the uploads until now
_LIBC: Final = ctypes.CDLL(None)


@dataclass(frozen=True)
class Cost:
    """What an upload of ``size`` bytes took: processor time, that of child processes included, and resident memory at
    the highest above that before.
    """

    size: int = 0
    seconds: float = 0.0
    grown: int = 0


@dataclass
class Defect:
    """Something that must not happen, how often it did, and the smallest upload that shows it."""

    what: str
    upload: Any
    times: int = 1


@dataclass
class Outcome:
    """What came of the uploads of one kind."""

    kind: Kind
    words: Counter[str] = field(default_factory=Counter)
    defects: dict[str, Defect] = field(default_factory=dict)
    bytes: int = 0
    seconds: float = 0.0
    slowest: Cost = field(default_factory=Cost)
    slowest_per_byte: Cost = field(default_factory=Cost)
    largest: Cost = field(default_factory=Cost)
    largest_per_byte: Cost = field(default_factory=Cost)

    @property
    def uploads(self) -> int:
        return self.words.total()

    @property
    def failures(self) -> int:
        """Uploads that were answered 5xx, or raised what nobody catches."""
        return sum(each.times for name, each in self.defects.items() if not name.startswith("bound:"))

    def add(self, cost: Cost) -> None:
        self.bytes += cost.size
        self.seconds += cost.seconds
        self.slowest = max(self.slowest, cost, key=lambda each: each.seconds)
        self.largest = max(self.largest, cost, key=lambda each: each.grown)
        if cost.size >= SIZED:
            self.slowest_per_byte = max(self.slowest_per_byte, cost, key=lambda each: each.seconds / (each.size or 1))
            self.largest_per_byte = max(self.largest_per_byte, cost, key=lambda each: each.grown / (each.size or 1))

    def note(self, name: str, what: str, upload: Any) -> None:
        if name not in self.defects:
            print(f"{self.kind.name}: {name}", file=sys.stderr, flush=True)
        known = self.defects.setdefault(name, Defect(what, upload, 0))
        known.times += 1
        if len(upload.data) < len(known.upload.data):
            known.what, known.upload = what, upload


def _name_of(error: BaseException) -> str:
    """The class of ``error`` and the last line of this project that it came through."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename.startswith(str(ROOT))]
    place = f"{Path(frames[-1].filename).relative_to(ROOT)}:{frames[-1].lineno}" if frames else str(error)[:100]
    return f"{type(error).__name__} at {place}"


def run(outcome: Outcome, uploads: int, seed: int) -> None:
    """Send this many uploads of a kind."""
    kind = outcome.kind
    gc.collect()
    gc.freeze()  # the past is no garbage
    batch = 0
    while outcome.uploads < uploads and not STOPPED.is_set():
        missing = min(BATCH, uploads - outcome.uploads)
        _batch(kind, missing, seed + 1_000_000 * batch, lambda upload: _try(kind, upload, outcome))
        batch += 1


def _batch(kind: Kind, count: int, seed: int, attempt: Callable[[Any], None]) -> None:
    @hypothesis.seed(seed)
    @settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(kind.uploads)
    def send(upload: Request | File | OrganiserFile | Packed) -> None:
        attempt(upload)

    send()


def _try(kind: Kind, upload: Any, outcome: Outcome) -> None:
    if STOPPED.is_set():
        return  # hypothesis has not finished its batch
    try:
        found, cost = measured(kind.send, upload)
        outcome.add(cost)
        outcome.words[kind.judge(upload, found)] += 1
    except BaseException as error:  # noqa: BLE001 - a panic of a library is none of Exception
        outcome.words["**failed**"] += 1
        cause = error.__cause__ or error
        outcome.note(_name_of(cause), "".join(traceback.format_exception(cause)), upload)
        return
    _hold_against(kind, upload, cost, outcome)


def _hold_against(kind: Kind, upload: Any, cost: Cost, outcome: Outcome) -> None:
    """Note a broken bound, if it is broken again: then it is the upload and not the moment."""
    for _ in range(REPEATS):
        if not (is_slow(kind, cost) or is_large(kind, cost)):
            return
        gc.collect()
        _, cost = measured(kind.send, upload)
    if is_slow(kind, cost):
        outcome.note("bound: time", f"{cost.seconds:.2f} s for {cost.size} bytes", upload)
    if is_large(kind, cost):
        outcome.note("bound: memory", f"{cost.grown / 2**20:.0f} MiB for {cost.size} bytes", upload)


def is_slow(kind: Kind, cost: Cost) -> bool:
    return cost.seconds > kind.bound.seconds_for(cost.size)


def is_large(kind: Kind, cost: Cost) -> bool:
    return cost.grown > kind.bound.bytes_for(cost.size)


def measured(send: Callable[[Any], Any], upload: Any) -> tuple[Any, Cost]:
    """What ``send`` returns, and what it took.

    The kernel keeps the highest resident memory of a process, and forgets it when told to. What was freed before an
    upload is given back first, so that it does not hide what this one takes. All that counts is in there, such as the
    memory of libraries, and it costs nothing, where ``tracemalloc`` would take three times the time.
    """
    size = len(upload.data)
    if size >= SIZED // 8:
        _LIBC.malloc_trim(0)
    before = _forget_peak()
    started = _processor_time()
    found = send(upload)
    seconds = _processor_time() - started
    return found, Cost(size, seconds, max(0, _memory("VmHWM") - before))


def _processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _forget_peak() -> int:
    """Let the highest memory be that of now, which is returned in bytes."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    return _memory("VmRSS")


def _memory(name: str) -> int:
    text = Path("/proc/self/status").read_text(encoding="ascii")
    return int(text.partition(f"{name}:")[2].split()[0]) * 1024


def keep(outcome: Outcome, folder: Path) -> None:
    """Write what shows each defect into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, defect in enumerate(outcome.defects.values(), start=1):
        path = folder / f"{outcome.kind.name}-{number}"
        path.with_suffix(".upload").write_bytes(defect.upload.data)
        path.with_suffix(".txt").write_text(f"{defect.upload}\n\n{defect.what}\n", "utf-8", "backslashreplace")
