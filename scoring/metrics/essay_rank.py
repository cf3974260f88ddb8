"""Spearman's rank correlation of predicted and reference averages of essays (AI 말평 2026).

Ties share the mean of their places, as in scipy's ``spearmanr``, and the value is Pearson's correlation of the ranks.
Fewer than two items, or one side constant, make 0.0. Ranks less their mean are multiples of 1/2, so all sums are exact
and only the last division and root are rounded.

Under resampling the ranks change, but they follow from how many items have each pair of values: there are few
predictions (thirds), so a table of counts can be summed (``summable``) and the ranks taken anew in every trial.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, ratio, root
from scoring.metrics.base import Row, RowMetric, Summable
from scoring.records import ScoreWarning
from scoring.text.essays import RULE, answer_of, predicted_average

MAX_TABLE: Final = 1 << 23  # numbers in the table of one system, 64 MiB; beyond it the score is not tested
_MOMENTS: Final = 3  # sums of the products, and of the squares of either side
_HEAD: Final = 3  # of a table: 1, its columns, its rows


def centred_ranks(values: Iterable[float]) -> dict[float, float]:
    """By value its average rank less the mean of all ranks, a multiple of 1/2."""
    counts = Counter(values)
    items, before = counts.total(), 0
    ranks: dict[float, float] = {}
    for value in sorted(counts):
        ranks[value] = before + (counts[value] - items) / 2
        before += counts[value]
    return ranks


def moments(one: Sequence[float], other: Sequence[float]) -> list[float]:
    """The sums of the products of centred ranks, and of their squares on either side."""
    left, right = centred_ranks(one), centred_ranks(other)
    pairs = [(left[a], right[b]) for a, b in zip(one, other, strict=True)]
    return [math.fsum(a * b for a, b in pairs), math.fsum(a * a for a, _ in pairs), math.fsum(b * b for _, b in pairs)]


def correlation(sums: Sequence[Figure]) -> Figure:
    """Pearson's correlation of the ranks with these ``moments``; 0.0 where it is undefined."""
    products, left, right = sums
    return ratio(products, root(left * right))


def spearman(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's correlation of two aligned sequences, -1 to 1; 0.0 where it is undefined."""
    value: float = correlation(moments(one, other))
    return value


def table_rows(rows: Sequence[Row], left: Sequence[float], right: Sequence[float]) -> Any:
    """Rows (items, 3 + len(left) * len(right)) that can be summed: 1 where the item has this pair of values."""
    import numpy as np

    places = [{value: place for place, value in enumerate(values)} for values in (left, right)]
    table = np.zeros((len(rows), _HEAD + len(left) * len(right)))
    table[:, :_HEAD] = 1, len(right), len(left)
    for number, (one, other) in enumerate(rows):
        table[number, _HEAD + places[0][one] * len(right) + places[1][other]] = 1
    return table


def moments_of_table(sums: Sequence[Figure]) -> list[Figure]:
    """``moments`` of summed ``table_rows``, (trials,) each; the values are in ascending order."""
    import numpy as np

    items, columns, rows = (np.asarray(part, dtype=float) for part in sums[:_HEAD])
    shape = tuple(int((part / items).flat[0]) for part in (rows, columns))
    counts = np.asarray(sums[_HEAD:], dtype=float).reshape(*shape, -1)
    sides = [counts.sum(axis=axis) for axis in (1, 0)]
    left, right = (np.cumsum(side, axis=0) - side + (side - items) / 2 for side in sides)
    products = np.einsum("abt,at,bt->t", counts, left, right, optimize=True)
    return [products, (sides[0] * left**2).sum(axis=0), (sides[1] * right**2).sum(axis=0)]


class EssayRank(RowMetric):
    """Spearman's correlation. A row is (average of the reference, prediction)."""

    name = "essay_rank"
    label = Message("Spearman", "Spearman")
    rule = "essay-spearman@1"
    group = "exact"
    card = "spearman"
    score_names = ("spearman",)
    texts = "essays"
    reads_whole = True
    is_cheap = True
    warning_texts = {
        "constant_predictions": Message(
            "모든 글의 예측값이 {value:g}점으로 같습니다. 순위 상관을 정할 수 없어 Spearman은 0입니다.",
            "Every essay has the same prediction, {value:g}: rank correlation is undefined, and Spearman is 0.",
        )
    }

    def parameters(self) -> dict[str, Any]:
        return {"answers": RULE, "ties": "average", "undefined": 0}

    def row(self, references: Sequence[str], candidate: str) -> Row:
        return float(json.loads(references[0])["average"]), predicted_average(answer_of(candidate))

    @classmethod
    def sums(cls, rows: Sequence[Row]) -> Sequence[float]:
        return moments([row[0] for row in rows], [row[1] for row in rows])

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        """From ``moments``, or from the sums of a table."""
        return {"spearman": correlation(sums if len(sums) == _MOMENTS else moments_of_table(sums))}

    @classmethod
    def summable(cls, *systems: Sequence[Row]) -> Summable:
        items = len(systems[0])
        left, right = (sorted({row[side] for rows in systems for row in rows}) for side in (0, 1))
        if items * len(left) * len(right) > MAX_TABLE:
            nothing = [(0.0,) * _MOMENTS] * items
            return Summable((nothing,) * len(systems), approximate=cls.score_names)
        return Summable(tuple(table_rows(rows, left, right) for rows in systems))

    def warnings(self, rows: Sequence[Row]) -> list[ScoreWarning]:
        values = {row[1] for row in rows}
        return [ScoreWarning("constant_predictions", {"value": values.pop()})] if len(values) == 1 < len(rows) else []
