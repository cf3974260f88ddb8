"""What the result would be without each judge: whether any one of them decides it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from scoring.arena.bradley_terry import FloatArray
from scoring.composite import COMPARED_DECIMALS


@dataclass(frozen=True, slots=True)
class Influence:
    """The result without ``judge``: the largest move of a rank, and Kendall's tau-b to the full result (``None`` where
    one of the two has no order).
    """

    judge: str
    rank_change: int
    tau: float | None
    first_changes: bool


def influences(scores: FloatArray, without: FloatArray, judges: Sequence[str]) -> tuple[Influence, ...]:
    """Of ``scores`` (systems,) and the scores ``without`` each of the ``judges`` (judges, systems)."""
    full = ranks_of(scores)
    found = []
    for label, others in zip(judges, without, strict=True):
        ranks = ranks_of(others)
        change = int(np.abs(ranks - full).max()) if len(full) else 0
        found.append(Influence(label, change, tau_b(scores, others), bool(((ranks == 1) != (full == 1)).any())))
    return tuple(found)


def ranks_of(scores: FloatArray) -> FloatArray:
    """1 + the number of higher scores, of each score."""
    rounded = np.round(scores, COMPARED_DECIMALS)
    return np.asarray(1 + (rounded[None, :] > rounded[:, None]).sum(axis=1))


def tau_b(one: FloatArray, other: FloatArray) -> float | None:
    """Kendall's tau-b; ``None`` where one side is constant."""
    rounded = [np.round(each, COMPARED_DECIMALS) for each in (one, other)]
    left, right = (np.sign(each[:, None] - each[None, :]) for each in rounded)
    scale = np.sqrt((left**2).sum() * (right**2).sum())
    return float((left * right).sum() / scale) if scale else None
