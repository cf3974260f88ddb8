"""A small histogram for a cell of a table: how many have which value, with a mark at one of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from malpan.web.plots.scales import Scale

WIDTH: Final = 160
HEIGHT: Final = 34
BINS: Final = 20
FOOT: Final = 4  # below the bars, for the mark


@dataclass(frozen=True, slots=True)
class Strip:
    """The geometry of a plot, in units of its ``width`` by ``height``: the bars as one path, and the mark."""

    width: int
    height: int
    bottom: int
    bars: str
    own: float | None


def strip(values: Sequence[float], own: float | None = None) -> Strip | None:
    """The plot of ``values`` from the lowest to the highest, ``own`` among them; ``None`` where they are all alike."""
    ends = [*values, *([] if own is None else [own])]
    if not values or min(ends) == max(ends):
        return None
    low, high, bottom = min(ends), max(ends), HEIGHT - FOOT
    counts = [0] * BINS
    for value in values:
        counts[min(int((value - low) / (high - low) * BINS), BINS - 1)] += 1
    rise = Scale(0, max(counts), 0, bottom - 2)
    step = WIDTH / BINS
    drawn = [
        f"M{round(at * step + 0.5, 1)} {bottom}v-{rise(count)}h{round(step - 1, 1)}v{rise(count)}z"
        for at, count in enumerate(counts)
        if count
    ]
    return Strip(WIDTH, HEIGHT, bottom, "".join(drawn), None if own is None else Scale(low, high, 1, WIDTH - 1)(own))
