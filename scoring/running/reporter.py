"""The progress callback of a scoring, shared by its threads, and how one thread stops the other."""

from __future__ import annotations

import math
import threading
import time
from typing import Final

from scoring.metrics import PairProgress
from scoring.records import Progress, ProgressCallback

PROGRESS_INTERVAL_S: Final = 0.2


class Stopped(Exception):
    """The other thread has failed, so this one stops."""


class ProgressReporter:
    """Calls the callback from one thread at a time, and no more after ``stop``."""

    def __init__(self, progress: ProgressCallback | None) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._is_stopped = False

    def stop(self) -> None:
        """Make every thread stop at its next report."""
        self._is_stopped = True

    def of(self, stage: str) -> PairProgress:
        """The callback of one stage: it passes on the first and last call, and others every ``PROGRESS_INTERVAL_S``."""
        last_call, last_done = -math.inf, -1

        def report(done: int, total: int) -> None:
            nonlocal last_call, last_done
            if self._is_stopped:
                raise Stopped
            is_due = done in (0, total) or time.monotonic() - last_call >= PROGRESS_INTERVAL_S
            if self._progress is None or done <= last_done or not is_due:
                return
            last_call, last_done = time.monotonic(), done
            self._call(Progress(stage, done, total))

        return report

    def _call(self, progress: Progress) -> None:
        with self._lock:
            if self._is_stopped:
                raise Stopped
            if self._progress is not None:
                self._progress(progress)
