"""From values to places: linear scales with round ticks."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

SAME: Final = 1e-9  # values nearer than that are drawn as one
_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)


@dataclass(frozen=True, slots=True)
class Mark:
    """A tick with its text, at ``place`` on its axis."""

    place: float
    label: str


@dataclass(frozen=True, slots=True)
class Scale:
    """A linear scale: ``low`` is at ``start``, ``high`` at ``end`` (in the units of the drawing)."""

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """The place of ``value``, to a tenth; what is beyond the ends is at the end."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + min(max(share, 0.0), 1.0) * (self.end - self.start), 1)


def ticks(low: float, high: float, most: int = 6, *, is_count: bool = False) -> list[float]:
    """Round values from below ``low`` to above ``high`` in equal steps of 1, 2, 2.5 or 5 times a power of ten: the
    finest that has ``most`` (3 at least) or fewer. ``is_count``: the values are whole numbers, and so are the ticks.

    Raises ``ValueError`` for ends that are no finite range.
    """
    if not (math.isfinite(low) and math.isfinite(high) and low <= high) or most < 3:
        raise ValueError(f"no range: {low} to {high}, {most} ticks")
    if math.isclose(low, high, rel_tol=SAME, abs_tol=SAME):
        low, high = low - 0.5, high + 0.5
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    while True:
        for step in (each * power for each in _STEPS):
            first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
            if last - first + 1 <= most and not (is_count and step % 1):
                return [round(number * step, 12) + 0.0 for number in range(first, last + 1)]
        power *= 10


def tick_text(value: float, all_ticks: list[float]) -> str:
    """``value`` with as many decimals as the ticks need to differ, and a true minus sign."""
    decimals = next(
        (
            count
            for count in range(7)
            if all(math.isclose(round(each, count), each, abs_tol=1e-9) for each in all_ticks)
        ),
        6,
    )
    return f"{value:.{decimals}f}".replace("-", "−")
