"""The scores of a campaign's systems by its protocol, with their covariances, and the same without each judge."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from scoring.arena.bradley_terry import TIE, Fit, FloatArray, fit
from scoring.arena.comparisons import Comparisons, comparisons, counts_of
from scoring.arena.intervals import Clustered, Entries, clustered
from scoring.arena.rubric_scores import Ratings, ratings, system_scores
from scoring.arena.vote_records import Vote, Votes
from scoring.arena.vote_values import is_of_pairs


@dataclass(frozen=True, slots=True)
class Scored:
    """``found`` has the scores of ``systems`` first; of comparisons the order effect and, with ties, the log of the tie
    parameter follow. One of ``compared`` and ``rated`` is given. ``separated``: the share of the draws in which systems
    won or lost everything, so that their strengths are as large as pseudo votes let them be.
    """

    systems: tuple[str, ...]
    found: Clustered
    compared: Comparisons | None = None
    rated: Ratings | None = None
    is_regularised: bool = False
    separated: float = 0.0

    @property
    def scores(self) -> FloatArray:
        return self.found.values[: len(self.systems)]

    @property
    def has_ties(self) -> bool:
        return len(self.found.values) == len(self.systems) + 2


def score_systems(votes: Votes, real: Sequence[Vote]) -> Scored:
    """The scores of the systems in ``real``, which are votes of ``votes``. Raises ``ValueError`` for fewer than two."""
    seen = {label for vote in real for label in vote.systems}
    systems = tuple(label for label in votes.counting if label in seen)
    if len(systems) < 2:
        raise ValueError(f"a result needs votes on two systems; there are {len(systems)}")
    if not is_of_pairs(votes.protocol):
        rated = ratings(real, systems, votes.criteria)
        return Scored(systems, system_scores(rated), rated=rated)
    compared = comparisons(real, systems)
    settings = votes.settings
    entries = Entries(compared.cell, np.ones(len(compared)), compared.item, compared.judge, compared.width)
    has_ties = bool((compared.outcome == TIE).any())

    whole = fit(compared.counts(), has_ties=has_ties)

    separated: list[bool] = []

    def estimate(sums: FloatArray) -> FloatArray:
        drawn = fit(counts_of(sums, len(systems)), has_ties=has_ties, start=whole)
        separated.extend(drawn.is_separated.tolist())
        return _columns(drawn, has_ties)

    found = clustered(entries, estimate, resamples=settings.resamples, seed=settings.seed)
    is_regularised, share = bool(whole.is_regularised[0]), sum(separated) / len(separated)
    return Scored(systems, found, compared=compared, is_regularised=is_regularised, separated=share)


def _columns(found: Fit, has_ties: bool) -> FloatArray:
    """Strengths, order effect and, with ties, log tie parameter: (trials, systems + 1 or 2)."""
    columns = [found.strengths, found.order[:, None], *([found.tie[:, None]] if has_ties else [])]
    return np.hstack(columns)


def scores_without_each(votes: Votes, scored: Scored) -> tuple[tuple[str, ...], FloatArray]:
    """The judges, and the scores (judges, systems) without each. A system that nobody else judged gets the mean, 0."""
    if scored.compared is not None:
        counts = scored.compared.by_judge()
        left = counts.sum(axis=0)[None] - counts
        return scored.compared.judges, fit(left, has_ties=scored.has_ties).strengths
    assert scored.rated is not None
    rows = [_rated_without(scored.rated, index) for index in range(len(scored.rated.judges))]
    return scored.rated.judges, np.vstack(rows)


def _rated_without(rated: Ratings, judge: int) -> FloatArray:
    keep = rated.judge != judge
    seen, systems = np.unique(rated.system[keep], return_inverse=True)
    found = np.zeros(len(rated.systems))
    if len(seen) >= 2:
        item, others = (np.unique(each[keep], return_inverse=True) for each in (rated.item, rated.judge))
        rest = replace(
            rated,
            systems=tuple(rated.systems[at] for at in seen),
            items=tuple(rated.items[at] for at in item[0]),
            judges=tuple(rated.judges[at] for at in others[0]),
            points=rated.points[keep],
            system=systems,
            item=item[1],
            judge=others[1],
        )
        found[seen] = system_scores(rest).values
    return found
