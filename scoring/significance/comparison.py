"""Two results of the same recipe, compared score by score: differences, intervals and p-values from stored items.

Nothing is scored again. Items are swapped and drawn with all their values, present or absent, so that the final score
and every other score of several means are tested as the recipe computes them (``Recipe.final_scores``).

A score is tested only if both results measured it in the same way. If not, it has a difference, and a reason instead of
a p-value. Holm's correction is over the scores tested; two of which one is the other on another scale in every
resampling, such as a final score that is one metric's mean or 1 - RMSE / 5, are one hypothesis.

Scores of a model behind a server may differ from one run to the next. With repetitions of A and B, the same files
scored again, every score has a spread: the larger of the ranges of its values for A and for B. A difference within it
is called none, whatever its p-value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

import numpy as np

from scoring.errors import Language, ScoringError
from scoring.metrics import METRICS, CorpusMetric, Metric
from scoring.recipes import Recipe, get_recipe
from scoring.records import ItemScores, ScoreReport
from scoring.report import leaves
from scoring.signature import is_demo
from scoring.significance.resampling import (
    SEED,
    TRIALS,
    FloatArray,
    Interval,
    PairedResult,
    compare_paired,
    holm,
    mean_columns,
)

Reason = Literal[
    "other_references",
    "other_signature",
    "not_resampled",
    "no_statistics",
    "too_many_classes",
    "one_side",
    "depends",
    "items_disagree",
]

LEVEL: Final = 0.05
STORED_TOLERANCE: Final = 1e-9
SAME_SCALE: Final = 1e-6  # of the range of a score: what rounding may add where one is the other on another scale
_SHOWN_IDS: Final = 3


class DifferentRecipes(ScoringError):
    """The two results are of different recipes."""

    def __init__(self, a: str, b: str) -> None:
        self.a, self.b = a, b
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        if language == "ko":
            return f"채점 방식이 다릅니다: A는 {self.a}, B는 {self.b}입니다. 같은 방식으로 채점한 결과를 주십시오."
        return f"The recipes differ: A is {self.a}, B is {self.b}. Name results of one recipe."


class DifferentItems(ScoringError):
    """The two results are not of the same items."""

    def __init__(self, only_a: Sequence[str], only_b: Sequence[str]) -> None:
        self.only_a, self.only_b = tuple(only_a), tuple(only_b)
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        parts = []
        for side, ids in (("A", self.only_a), ("B", self.only_b)):
            if ids:
                shown = ", ".join(ids[:_SHOWN_IDS]) + (", …" if len(ids) > _SHOWN_IDS else "")
                korean, english = f"{side}에만 {len(ids)}개({shown})", f"{len(ids)} in {side} only ({shown})"
                parts.append(korean if language == "ko" else english)
        if not parts:
            return "비교할 문항이 없습니다." if language == "ko" else "There is no item to compare."
        if language == "ko":
            return f"문항이 서로 다릅니다: {', '.join(parts)}. 같은 정답 파일로 채점한 결과를 주십시오."
        return f"The items differ: {', '.join(parts)}. Name results scored against the same references."


class NoRepetition(ScoringError):
    """A result is no repetition of A or B: ``side`` says of which, ``number`` which of them, from 1."""

    def __init__(self, side: str, number: int) -> None:
        self.side, self.number = side, number
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        if language == "ko":
            return (
                f"{self.side}의 반복으로 준 {self.number}번째 결과는 서명이나 문항이 {self.side}와 다릅니다. "
                "같은 파일을 같은 설정으로 다시 채점한 결과를 주십시오."
            )
        return (
            f"Result {self.number} given as a repetition of {self.side} has another signature or other items. Name "
            "results of the same file, scored again in the same way."
        )


@dataclass(frozen=True, slots=True)
class Line:
    """One score of the comparison, as stored (0-1 or the metric's own scale).

    ``result`` and ``adjusted_p`` (Holm) are ``None`` if the score was not tested, and ``reason`` says why. ``spread``
    is the larger range of its values over repetitions, ``None`` without any.
    """

    key: str
    a: float | None
    b: float | None
    result: PairedResult | None = None
    adjusted_p: float | None = None
    reason: Reason | None = None
    spread: float | None = None

    @property
    def difference(self) -> float | None:
        """B minus A."""
        return None if self.a is None or self.b is None else self.b - self.a

    @property
    def is_within_spread(self) -> bool:
        """Whether repeating alone makes differences as large as this one."""
        difference = self.difference
        return (
            bool(self.spread) and difference is not None and abs(difference) <= (self.spread or 0.0) + STORED_TOLERANCE
        )

    @property
    def is_significant(self) -> bool:
        return self.adjusted_p is not None and self.adjusted_p <= LEVEL and not self.is_within_spread


@dataclass(frozen=True, slots=True)
class Comparison:
    """``lines`` are in board order. ``differing`` names, by metric, what differs between the two signatures.

    Its key ``references`` is for the reference files. ``is_demo``: one of them was made with the demo models.
    """

    recipe: str
    items: int
    trials: int
    seed: int
    lines: tuple[Line, ...]
    differing: Mapping[str, tuple[str, ...]]
    is_demo: bool = False


def compare(
    a: ScoreReport,
    b: ScoreReport,
    *,
    trials: int = TRIALS,
    seed: int = SEED,
    again_a: Sequence[ScoreReport] = (),
    again_b: Sequence[ScoreReport] = (),
) -> Comparison:
    """Compare two results. The order of their items changes nothing. ``again_a`` and ``again_b`` are repetitions.

    Raises ``DifferentRecipes``, ``DifferentItems`` and ``NoRepetition``.
    """
    groups = [_repetitions("A", a, again_a), _repetitions("B", b, again_b)]
    if a.recipe != b.recipe:
        raise DifferentRecipes(a.recipe, b.recipe)
    recipe = get_recipe(a.recipe)
    items = _paired_items(a, b)
    differing = differences(a.signature, b.signature)
    table = _Table(recipe, a, b, items, differing)
    results = compare_paired(table.a, table.b, table.score, trials=trials, seed=seed) if table.is_testable else {}
    lines = [
        replace(table.line(column.key, results.get(column.key)), spread=_spread(groups, column.key))
        for column in recipe.columns
    ]
    shown = tuple(line for line in lines if line.a is not None or line.b is not None)
    return Comparison(
        recipe=recipe.id,
        items=len(items),
        trials=trials,
        seed=seed,
        lines=_corrected(shown),
        differing=differing,
        is_demo=is_demo(a.signature) or is_demo(b.signature),
    )


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """What differs between two signatures: dotted keys by metric, and those of ``references``."""
    parts_a, parts_b = ({**side["metrics"], "references": side["references"]} for side in (a, b))
    found: dict[str, tuple[str, ...]] = {}
    for name in sorted(parts_a.keys() & parts_b.keys()):
        if parts_a[name] != parts_b[name]:
            left, right = dict(leaves(parts_a[name])), dict(leaves(parts_b[name]))
            found[name] = tuple(key for key in sorted({*left, *right}) if left.get(key) != right.get(key))
    return found


def _repetitions(side: str, first: ScoreReport, again: Sequence[ScoreReport]) -> list[ScoreReport]:
    """``first`` and its repetitions. Raises ``NoRepetition``."""
    ids = {item.id for item in first.items}
    for number, each in enumerate(again, 1):
        if each.signature_hash != first.signature_hash or {item.id for item in each.items} != ids:
            raise NoRepetition(side, number)
    return [first, *again]


def _spread(groups: Sequence[Sequence[ScoreReport]], key: str) -> float | None:
    """The largest range of the score ``key`` over repetitions of one file; ``None`` without repetitions of it."""
    values = [[each.scores[key] for each in group if key in each.scores] for group in groups]
    return max((max(each) - min(each) for each in values if len(each) > 1), default=None)


def _paired_items(a: ScoreReport, b: ScoreReport) -> list[tuple[ItemScores, ItemScores]]:
    """The item of A and of B for every id. Raises ``DifferentItems``."""
    left, right = ({item.id: item for item in report.items} for report in (a, b))
    if left.keys() != right.keys() or not left:
        raise DifferentItems(sorted(left.keys() - right.keys()), sorted(right.keys() - left.keys()))
    return [(left[item], right[item]) for item in sorted(left)]


def _corrected(lines: Sequence[Line]) -> tuple[Line, ...]:
    """``lines`` with Holm's adjusted p-values; results of one test (``_is_rescaled``) count as one hypothesis."""
    tested: list[PairedResult] = []
    hypothesis: dict[str, int] = {}  # the place in ``tested`` by score
    for line in lines:
        if line.result is not None:
            result = line.result
            known = next((place for place, each in enumerate(tested) if _is_rescaled(each, result)), len(tested))
            tested += [result] if known == len(tested) else []
            hypothesis[line.key] = known
    adjusted = holm([result.p for result in tested])
    return tuple(
        replace(line, adjusted_p=adjusted[hypothesis[line.key]]) if line.key in hypothesis else line for line in lines
    )


def _is_rescaled(one: PairedResult, other: PairedResult) -> bool:
    """Whether ``other`` tests ``one`` on another scale, ``c + k x`` with k above or below 0: values and ends of the
    intervals all say so, and p is the same.
    """
    if one.p != other.p:
        return False
    values, rises = _values(one, is_turned=False), other.difference * one.difference >= 0
    turned = [rises, not rises] if one.difference == 0 else [rises]
    return any(_is_line(values, _values(other, is_turned=not is_up)) for is_up in turned)


def _values(result: PairedResult, *, is_turned: bool) -> FloatArray:
    """Both scores and the ends of their intervals, six numbers, then the difference and the ends of its own.

    ``is_turned``: of a score that falls where the other rises, whose ends are the other way round.
    """

    def ends(interval: Interval) -> tuple[float, float]:
        return (interval.high, interval.low) if is_turned else (interval.low, interval.high)

    scores = (result.a, result.b, *ends(result.a_interval), *ends(result.b_interval))
    return np.array([*scores, result.difference, *ends(result.difference_interval)])


def _is_line(x: FloatArray, y: FloatArray) -> bool:
    """Whether ``y`` is ``c + k x``: of the six scores with one c, of the differences after them with c = 0."""
    k_of = [np.ptp(each[:6]) for each in (x, y)]
    if not all(k_of):
        return not any(k_of)
    low, high = int(np.argmin(x[:6])), int(np.argmax(x[:6]))
    k = (y[high] - y[low]) / (x[high] - x[low])
    c = y[low] - k * x[low]
    expected = np.concatenate([c + k * x[:6], k * x[6:]])
    return bool(np.allclose(y, expected, rtol=0, atol=SAME_SCALE * float(np.ptp(y[:6]))))


@dataclass(frozen=True, slots=True)
class _Part:
    """The additive rows (items, width) of one metric for both systems; their sums are what its ``scores`` takes."""

    metric: type[Metric]
    a: FloatArray
    b: FloatArray


class _Table:
    """The additive rows of both systems side by side, and every score of their sums.

    ``reasons`` are why a metric's score is not tested; its value is then NaN, which makes every score that depends on
    it NaN too.
    """

    def __init__(
        self,
        recipe: Recipe,
        a: ScoreReport,
        b: ScoreReport,
        items: Sequence[tuple[ItemScores, ItemScores]],
        differing: Mapping[str, tuple[str, ...]],
    ) -> None:
        self._recipe, self._a, self._b, self._differing = recipe, a, b, differing
        self.reasons: dict[str, Reason] = {}
        self._parts: list[_Part] = []
        for metric in (*recipe.metrics, *recipe.optional_metrics):
            self._add(metric, items)
        self.a, self.b = (np.hstack([np.empty((len(items), 0)), *side]) for side in self._sides())
        self._known = set(self.score(self.a.sum(axis=0, keepdims=True)))

    @property
    def is_testable(self) -> bool:
        return bool(self.a.shape[1])

    def score(self, sums: FloatArray) -> Mapping[str, FloatArray]:
        """Every score of the recipe, (trials,) each, of sums (trials, width)."""
        scores: dict[str, FloatArray] = {}
        start = 0
        for part in self._parts:
            end = start + part.a.shape[1]
            scores |= part.metric.scores(list(np.ascontiguousarray(sums[:, start:end].T)))
            start = end
        scores.update({name: np.full(len(sums), np.nan) for name in self.reasons})
        return self._recipe.final_scores(scores)

    def line(self, key: str, result: PairedResult | None) -> Line:
        """The score called ``key`` with its ``result``, or with the reason why there is none."""
        line = Line(key, self._a.scores.get(key), self._b.scores.get(key))
        if line.a is None or line.b is None:
            return replace(line, reason="one_side")
        if "references" in self._differing:
            return replace(line, reason="other_references")
        if result is None:
            return replace(line, reason=self.reasons.get(key, "depends" if key in self._known else "not_resampled"))
        if not (_is_stored(result.a, line.a) and _is_stored(result.b, line.b)):
            return replace(line, reason="items_disagree")
        return replace(line, result=result)

    def _sides(self) -> tuple[list[FloatArray], list[FloatArray]]:
        return [part.a for part in self._parts], [part.b for part in self._parts]

    def _add(self, name: str, items: Sequence[tuple[ItemScores, ItemScores]]) -> None:
        """Add the metric called ``name``, or note why its scores cannot be tested; does nothing if it has no values."""
        metric = METRICS[name]
        known = [score for score in metric.score_names if score in self._a.scores or score in self._b.scores]
        if not known:
            return
        reason = self._refusal(name, known)
        if reason:
            self.reasons.update(dict.fromkeys(known, reason))
        elif metric.has_item_values:
            values = [[[item.scores.get(known[0])] for item in side] for side in zip(*items, strict=True)]
            self._parts.append(_Part(metric, mean_columns(values[0]), mean_columns(values[1])))
        elif issubclass(metric, CorpusMetric) and metric.is_resampled:
            self._add_statistics(name, metric, known, items)

    def _add_statistics(
        self,
        name: str,
        metric: type[CorpusMetric],
        known: Sequence[str],
        items: Sequence[tuple[ItemScores, ItemScores]],
    ) -> None:
        if any(name not in item.statistics for pair in items for item in pair):
            self.reasons.update(dict.fromkeys(known, "no_statistics"))
            return
        rows = metric.summable(*([item.statistics[name] for item in side] for side in zip(*items, strict=True)))
        self._parts.append(_Part(metric, np.asarray(rows.a, dtype=float), np.asarray(rows.b, dtype=float)))
        self.reasons.update(dict.fromkeys(rows.approximate, "too_many_classes"))

    def _refusal(self, metric: str, names: Sequence[str]) -> Reason | None:
        if any(name not in self._a.scores or name not in self._b.scores for name in names):
            return "one_side"
        if "references" in self._differing:
            return "other_references"
        return "other_signature" if metric in self._differing else None


def _is_stored(computed: float, stored: float) -> bool:
    """Whether the score computed from the items equals the stored one."""
    return math.isclose(computed, stored, rel_tol=STORED_TOLERANCE, abs_tol=STORED_TOLERANCE)
