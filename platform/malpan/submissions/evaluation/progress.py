"""The progress of a scoring over all its stages."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from scoring.records import Progress


class StageProgress:
    """The engine's progress callback: calls ``report`` with the current stage and the share done (0-1), which never
    falls.

    ``stages`` are the stages to come, in order; ``share`` is the share done before.
    """

    def __init__(self, stages: Sequence[str], report: Callable[[str, float], None], share: float = 0.0) -> None:
        self._stages = tuple(stages)
        self._report = report
        self._share = share
        self._done: dict[str, float] = {}  # share by stage

    def __call__(self, progress: Progress) -> None:
        self._done[progress.stage] = progress.done / progress.total if progress.total else 1.0
        done = [self._done.get(stage, 0.0) for stage in self._stages]  # two stages may run at once
        self._share = max(self._share, min(1.0, sum(done) / max(1, len(done))))
        stage = next((s for s in self._stages if self._done.get(s, 0.0) < 1), progress.stage)
        self._report(stage, self._share)
