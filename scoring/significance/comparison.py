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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from scoring.errors import Language, ScoringError
from scoring.recipes import get_recipe
from scoring.records import ScoreReport
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
)
from scoring.significance.rows import STORED_TOLERANCE, AdditiveRows, Reason, Refusal, is_stored

LEVEL: Final = 0.05
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
    _require_same_items(a, b)
    differing = differences(a.signature, b.signature)
    rows = AdditiveRows(recipe, (a, b), _refusal(a, b, differing))
    left, right = rows.systems
    results = compare_paired(left, right, rows.score, trials=trials, seed=seed) if rows.width else {}
    lines = [
        replace(_line(column.key, (a, b), rows, differing, results.get(column.key)), spread=_spread(groups, column.key))
        for column in recipe.columns
    ]
    shown = tuple(line for line in lines if line.a is not None or line.b is not None)
    return Comparison(
        recipe=recipe.id,
        items=len(a.items),
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


def _require_same_items(a: ScoreReport, b: ScoreReport) -> None:
    """Raise ``DifferentItems`` unless both have the same ids, at least one."""
    left, right = ({item.id for item in report.items} for report in (a, b))
    if left != right or not left:
        raise DifferentItems(sorted(left - right), sorted(right - left))


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


def _refusal(a: ScoreReport, b: ScoreReport, differing: Mapping[str, tuple[str, ...]]) -> Refusal:
    """Why a metric with these scores is not tested between ``a`` and ``b``, for ``AdditiveRows``."""

    def reason(metric: str, names: Sequence[str]) -> Reason | None:
        if any(name not in a.scores or name not in b.scores for name in names):
            return "one_side"
        if "references" in differing:
            return "other_references"
        return "other_signature" if metric in differing else None

    return reason


def _line(
    key: str,
    sides: tuple[ScoreReport, ScoreReport],
    rows: AdditiveRows,
    differing: Mapping[str, tuple[str, ...]],
    result: PairedResult | None,
) -> Line:
    """The score called ``key`` with its ``result``, or with the reason why there is none."""
    a, b = sides
    line = Line(key, a.scores.get(key), b.scores.get(key))
    if line.a is None or line.b is None:
        return replace(line, reason="one_side")
    if "references" in differing:
        return replace(line, reason="other_references")
    if result is None:
        return replace(line, reason=rows.why_not(key))
    if not (is_stored(result.a, line.a) and is_stored(result.b, line.b)):
        return replace(line, reason="items_disagree")
    return replace(line, result=result)
