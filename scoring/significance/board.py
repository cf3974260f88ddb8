"""How sure the ranks of a board are: intervals of scores and ranks, and bands of results that no test tells apart.

* Intervals: percentiles of the bootstrap over items (Efron & Tibshirani 1993; for systems Koehn 2004). Every draw takes
  the same items of all results, and ranks them all: the interval of a rank is that of the places it had.
* Differences: paired approximate randomisation of every pair of ranked results (``resampling``), with the same swaps
  for all pairs, so that a pair has the p-value that ``compare`` gives it.
* Holm's correction is over all pairs. 10,000 trials know no p-value below 1/10,001, which with more than 500 pairs is
  never enough. So where no trial reached the observed difference d, and the score that ranks is no composite, p is the
  smaller of that and 2 exp(-d² / 2s²), s² the mean square of the swapped differences: Hoeffding's bound (1963, theorem
  2) of the exact p-value of a difference of means, whose swapped differences are sums of independent ±d_i.
* Bands, from the top: a band begins with the best result that is in none, and ends before the first one that is
  significantly worse. The results of a band are tied statistically with its first.

A composite is computed anew for all results in every draw, and for a swapped pair among the others as they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np

from scoring.composite import COMPARED_DECIMALS, Component
from scoring.errors import Language, ScoringError
from scoring.recipes import get_recipe
from scoring.records import ScoreReport
from scoring.significance.composed import composites_of, shared_places
from scoring.significance.pairs import Pairs
from scoring.significance.resampling import (
    CONFIDENCE,
    SEED,
    TRIALS,
    FloatArray,
    Interval,
    bootstrap_weights,
    holm,
    percentiles,
    swapped_sums,
)
from scoring.significance.rows import AdditiveRows, Reason, Refusal, is_stored

LEVEL: Final = 0.05
FINAL_SCORE: Final = "final_score"
COMPOSITE: Final = "composite"
MOST_NUMBERS: Final = 1 << 26  # in the rows of all results: 512 MiB
TESTED: Final = 100  # ranked results, from the first: all their pairs are tested, 4,950
_DRAWN_NUMBERS: Final = 1 << 24  # drawn scores held at once: 128 MiB


class NotOneBoard(ScoringError):
    """The results cannot be ranked together: ``number``, from 1, differs from the first in ``what``."""

    TEXTS: Final = {
        "recipe": ("채점 방식이", "recipe"),
        "items": ("문항이", "items"),
        "references": ("정답 파일의 내용이", "references"),
        "signature": ("채점 서명이", "signature"),
    }

    def __init__(self, number: int, what: str) -> None:
        self.number, self.what = number, what
        super().__init__(self.message("en"))

    def message(self, language: Language = "ko") -> str:
        korean, english = self.TEXTS[self.what]
        if language == "ko":
            return f"{self.number}번째 결과는 {korean} 첫 결과와 다릅니다. 같은 조건으로 채점한 결과만 함께 비교합니다."
        return f"Result {self.number} differs from the first in its {english}. Only results scored alike are compared."


@dataclass(frozen=True, slots=True)
class Entrant:
    """One result with its name. Those given are in the order of the board; one that is not ranked (a baseline) has
    intervals of its scores, and changes nothing for the others.
    """

    name: str
    report: ScoreReport
    is_ranked: bool = True


@dataclass(frozen=True, slots=True)
class Places:
    """The interval of a rank, from the better to the worse one."""

    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Sureness:
    """What is known of one result. ``intervals`` are of scores as stored, by name. ``places`` and ``band``, which
    numbers the bands from 1, are ``None`` for one that is not ranked; ``band`` also beyond the first ``TESTED``.
    ``above_p``: Holm's p-value of the difference to the ranked result before it.
    """

    name: str
    intervals: Mapping[str, Interval]
    places: Places | None = None
    band: int | None = None
    above_p: float | None = None


@dataclass(frozen=True, slots=True)
class BoardSureness:
    """``entrants`` are in the order given, ranked by the composite of ``components`` or, without, by the final score.
    ``pairs`` are how many differences were tested. ``reason``: why there are neither intervals of ranks nor bands;
    ``None`` where there are.
    """

    recipe: str
    items: int
    trials: int
    seed: int
    level: float
    confidence: float
    pairs: int
    components: tuple[Component, ...]
    entrants: tuple[Sureness, ...]
    reason: Reason | str | None = None


def board_sureness(
    entrants: Sequence[Entrant],
    *,
    components: Sequence[Component] = (),
    trials: int = TRIALS,
    seed: int = SEED,
    level: float = LEVEL,
) -> BoardSureness:
    """What the items of ``entrants``, at least one, say of their scores and ranks: by the final score or, if there are
    ``components``, by their composite. Raises ``NotOneBoard``.
    """
    reports = [each.report for each in entrants]
    _require_one_board(reports)
    recipe = get_recipe(reports[0].recipe)
    rows = AdditiveRows(recipe, reports, _refusal(reports))
    ranked = [at for at, each in enumerate(entrants) if each.is_ranked]
    names = [each.score for each in components] or [FINAL_SCORE]
    found = _Board(rows, reports, ranked, tuple(components), trials, seed)
    reason = found.refusal(names)
    sure = found.intervals(names, has_ranks=reason is None)
    tested = ranked[:TESTED] if reason is None else []
    p_values = found.p_values(tested, names) if len(tested) > 1 else {}
    adjusted = dict(zip(p_values, holm(list(p_values.values())), strict=True))
    bands = bands_of(tested, adjusted, level)
    above = {low: adjusted[high, low] for high, low in pairwise(tested)}
    return BoardSureness(
        recipe=recipe.id,
        items=len(reports[0].items),
        trials=trials,
        seed=seed,
        level=level,
        confidence=CONFIDENCE,
        pairs=len(p_values),
        components=tuple(components),
        entrants=tuple(
            Sureness(each.name, intervals, places, bands.get(at), above.get(at))
            for at, (each, (intervals, places)) in enumerate(zip(entrants, sure, strict=True))
        ),
        reason=reason,
    )


def bands_of(order: Sequence[int], adjusted: Mapping[tuple[int, int], float], level: float) -> dict[int, int]:
    """The band, from 1, of each result of ``order``, the best first; ``adjusted``: p-values by (better, worse)."""
    bands: dict[int, int] = {}
    first, number = None, 0
    for at in order:
        if first is None or adjusted[first, at] <= level:
            first, number = at, number + 1
        bands[at] = number
    return bands


class _Board:
    """The rows of all results; ``ranked`` are the places of those with a rank, in order."""

    def __init__(
        self,
        rows: AdditiveRows,
        reports: Sequence[ScoreReport],
        ranked: Sequence[int],
        components: tuple[Component, ...],
        trials: int,
        seed: int,
    ) -> None:
        self.rows, self.reports, self.ranked = rows, reports, ranked
        self.components, self.trials, self.seed = components, trials, seed
        self.items = len(reports[0].items)
        self.observed = [rows.score(side.sum(axis=0, keepdims=True)) for side in rows.systems]

    def refusal(self, names: Sequence[str]) -> Reason | str | None:
        """Why results cannot be ranked by the scores called ``names`` in a draw of items."""
        if self.rows.width * self.items * len(self.reports) > MOST_NUMBERS:
            return "too_large"
        for name in names:
            if not all(self._follows(at, name) for at in self.ranked):
                is_known = all(np.isfinite(self.observed[at].get(name, np.array([np.nan]))).all() for at in self.ranked)
                return "items_disagree" if is_known else self.rows.why_not(name)
        return None

    def _follows(self, at: int, name: str) -> bool:
        """Whether the score of a report is that of its items."""
        values, stored = self.observed[at].get(name), self.reports[at].scores.get(name)
        return values is not None and stored is not None and is_stored(float(values[0]), stored)

    def intervals(self, names: Sequence[str], *, has_ranks: bool) -> list[tuple[dict[str, Interval], Places | None]]:
        """The intervals of each result, and of its rank where results are ranked by the scores called ``names``."""
        found: list[dict[str, Interval]] = [{} for _ in self.reports]
        ranking = np.full((len(names), self.trials, len(self.ranked)), np.nan) if has_ranks else None
        place = {at: number for number, at in enumerate(self.ranked)}
        for at, drawn in self._drawn():
            found[at] = {name: percentiles(values) for name, values in drawn.items()}
            if ranking is not None and at in place:
                for number, name in enumerate(names):
                    ranking[number, :, place[at]] = drawn[name]
        if ranking is None or not self.ranked:
            return [(each, None) for each in found]
        values = composites_of(ranking, self.components) if self.components else ranking[0]
        if self.components:
            for at, number in place.items():
                found[at][COMPOSITE] = percentiles(values[:, number])
        places = _places(values)
        return [(each, places[place[at]] if at in place else None) for at, each in enumerate(found)]

    def _drawn(self) -> Iterator[tuple[int, dict[str, FloatArray]]]:
        """The scores of each result that follow from its items, (trials,) each; some results at a time."""
        if self.rows.width * self.items * len(self.reports) > MOST_NUMBERS:
            yield from ((at, {}) for at in range(len(self.reports)))
            return
        together = max(1, _DRAWN_NUMBERS // (self.trials * max(1, len(self.observed[0]))))
        for start in range(0, len(self.reports), together):
            chunk = range(start, min(start + together, len(self.reports)))
            width = self.rows.width
            blocks: list[dict[str, list[FloatArray]]] = [
                {name: [] for name in self.observed[at] if self._follows(at, name)} for at in chunk
            ]
            table = np.hstack([self.rows.systems[at] for at in chunk])
            for weights in bootstrap_weights(self.items, self.trials, self.seed, max(self.items, table.shape[1])):
                sums = weights @ table
                for number, kept in enumerate(blocks):
                    scores = self.rows.score(sums[:, number * width : (number + 1) * width])
                    for name, parts in kept.items():
                        parts.append(scores[name])
            for at, kept in zip(chunk, blocks, strict=True):
                yield at, {name: np.concatenate(parts) for name, parts in kept.items()}

    def p_values(self, tested: Sequence[int], names: Sequence[str]) -> dict[tuple[int, int], float]:
        """The p-value, not corrected, of every pair of ``tested``, by (better, worse)."""
        needed = self.rows.metrics_of(names)
        recipe = get_recipe(self.reports[0].recipe)
        rows = AdditiveRows(recipe, self.reports, _refusal(self.reports), metrics=needed)
        field = np.array([[self.observed[at][name][0] for at in self.ranked] for name in names])
        pairs = Pairs(rows, tested, names, self.components, field)
        blocks = swapped_sums([rows.systems[at] for at in tested], self.trials, self.seed)
        for moved in blocks:
            pairs.add(moved)
        return pairs.p_values(self.trials)


def _places(values: FloatArray) -> list[Places]:
    """The interval of the rank of each column of ``values`` (trials, ranked); equal ones hold all places they share."""
    rounded = np.round(values, COMPARED_DECIMALS)
    best, worst = shared_places(-rounded)
    tail = 100 * (1 - CONFIDENCE) / 2
    low = np.percentile(best, tail, axis=0, method="lower")
    high = np.percentile(worst, 100 - tail, axis=0, method="higher")
    return [Places(int(one), int(other)) for one, other in zip(low, high, strict=True)]


def _require_one_board(reports: Sequence[ScoreReport]) -> None:
    first = reports[0]
    ids = {item.id for item in first.items}
    for number, other in enumerate(reports, 1):
        if other.recipe != first.recipe:
            raise NotOneBoard(number, "recipe")
        if other.signature["references"] != first.signature["references"]:
            raise NotOneBoard(number, "references")
        if other.signature_hash != first.signature_hash:
            raise NotOneBoard(number, "signature")
        if not ids or {item.id for item in other.items} != ids:
            raise NotOneBoard(number, "items")


def _refusal(reports: Sequence[ScoreReport]) -> Refusal:
    def reason(_metric: str, names: Sequence[str]) -> Reason | None:
        return "one_side" if any(name not in report.scores for name in names for report in reports) else None

    return reason
