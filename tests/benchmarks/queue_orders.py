"""The orders that a queue benchmark compares: the site's own, and those of a plain list of messages.

Each puts the runs that wait in line; the claim itself, with its locks, is the site's in all of them.
"""

from __future__ import annotations

from typing import Any, Final

from malpan.jobs import order as fair

FAIR: Final = "fair"
ORDERS: Final[dict[str, tuple[Any, ...]]] = {
    "first come, one line": ("pk",),
    "first come, batch behind": ("lane", "pk"),  # Redis priorities, as it was before
    FAIR: fair.FAIR_ORDER,
}


def stand_in(order: str) -> None:
    """Let this process claim in ``order`` from now on."""
    fair.FAIR_ORDER = ORDERS[order]  # type: ignore[misc]
