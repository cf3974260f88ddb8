"""Round moments for an axis of time, in Korea Standard Time."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from malpan.core.times import KST, kst_day_bounds

_MINUTE: Final = timedelta(minutes=1)
_HOUR: Final = timedelta(hours=1)
_DAY: Final = timedelta(days=1)
_STEPS: Final = (
    *(minutes * _MINUTE for minutes in (1, 5, 10, 30)),
    *(hours * _HOUR for hours in (1, 3, 6, 12)),
    *(days * _DAY for days in (1, 2, 7, 14, 28, 56, 112)),
)


def time_ticks(start: datetime, end: datetime, most: int = 6) -> list[datetime]:
    """Round moments from ``start`` to ``end``, both included, in equal steps from a midnight in KST: the finest that
    has ``most`` or fewer.

    Raises ``ValueError`` where ``end`` is before ``start`` or ``most`` is none.
    """
    if end < start or most < 1:
        raise ValueError(f"no range: {start} to {end}, {most} ticks")
    midnight, _next = kst_day_bounds(start)
    step = next((each for each in _STEPS if (end - start) / each < most), None)
    if step is None:
        step = -(-(end - start) // (most * _DAY)) * _DAY
    found, moment = [], midnight + -(-(start - midnight) // step) * step
    while moment <= end:
        found.append(moment)
        moment += step
    return found[:most]


def time_text(moment: datetime, span: timedelta) -> str:
    """A tick of an axis of this ``span``: ``11-25``, ``11-25 12:00`` or, within a day, ``12:00``."""
    local = moment.astimezone(KST)
    if span > 5 * _DAY:
        return local.strftime("%m-%d")
    return local.strftime("%H:%M" if span < _DAY else "%m-%d %H:%M")
