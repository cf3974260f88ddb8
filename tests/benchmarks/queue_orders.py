"""The orders that a queue benchmark compares: the site's own, and those of a plain list of messages.

Each puts the runs that wait in line; the claim itself, with its locks, is the site's in all of them.
"""

from __future__ import annotations

from typing import Any, Final

from django.db.models import F
from django.db.models.lookups import IsNull

from malpan.submissions.evaluation import queueing

FAIR: Final = "fair"
ORDERS: Final[dict[str, tuple[Any, ...]]] = {
    "first come, one line": (F("pk"),),
    "first come, batch behind": (IsNull(F("batch"), False), F("pk")),  # Redis priorities, as it was before
    FAIR: queueing.FAIR_ORDER,
}


def stand_in(order: str) -> None:
    """Let this process claim in ``order`` from now on."""
    queueing.FAIR_ORDER = ORDERS[order]  # type: ignore[misc]
