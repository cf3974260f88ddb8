"""A store of pair values that lives in the memory of a process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring.running.pair_values import Pair


class MemoryPairValues:
    """Remembers everything it is told."""

    def __init__(self) -> None:
        self._values: dict[tuple[str, str, Pair], float] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, metric: str, signature: str, pairs: Sequence[Pair]) -> dict[Pair, float]:
        known = {pair: self._values.get((metric, signature, pair)) for pair in pairs}
        return {pair: value for pair, value in known.items() if value is not None}

    def put(self, metric: str, signature: str, values: Mapping[Pair, float]) -> None:
        self._values.update({(metric, signature, pair): value for pair, value in values.items()})

    def forget(self) -> None:
        self._values.clear()
