"""Random draws that anyone can repeat from a published seed.

They use ``random.Random.random`` alone: of all generators of Python it is the one whose sequence is promised to stay
the same in every release. Each purpose has a generator of its own, so that a change in one leaves the others as they
are.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterable, Sequence
from typing import TypeVar

Value = TypeVar("Value")


def draws(seed: str, *purpose: str) -> random.Random:
    """The generator of ``purpose``: seeded with the SHA-256 of seed and purpose, separated by line feeds."""
    text = "\n".join((seed, *purpose))
    return random.Random(int.from_bytes(hashlib.sha256(text.encode()).digest(), "big"))


def below(rng: random.Random, limit: int) -> int:
    """A whole number from 0 to ``limit`` - 1, all about equally likely."""
    return int(rng.random() * limit)


def shuffled(rng: random.Random, values: Iterable[Value]) -> list[Value]:
    """``values`` in a random order (Fisher and Yates)."""
    found = list(values)
    for place in range(len(found) - 1, 0, -1):
        other = below(rng, place + 1)
        found[place], found[other] = found[other], found[place]
    return found


def one_of(rng: random.Random, values: Sequence[Value]) -> Value:
    """One of ``values``, which are not empty."""
    return values[below(rng, len(values))]
