"""Labels that name nobody."""

from __future__ import annotations

import random
import secrets
from collections.abc import Iterable
from typing import TypeVar

Row = TypeVar("Row")


def in_any_order(rows: Iterable[Row]) -> list[Row]:
    """``rows`` in an order drawn by chance, which nobody can draw again."""
    found = list(rows)
    chance: random.Random = secrets.SystemRandom()
    chance.shuffle(found)
    return found
