"""Which judges are flagged: tests of each against those who are not. ``scoring.arena.quality`` says what they test."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import comb, log
from typing import Final

import numpy as np

from scoring.arena.bradley_terry import FIRST, SECOND, TIE, BoolArray, FloatArray, fit
from scoring.arena.comparisons import Comparisons, IntArray, comparisons
from scoring.arena.likelihoods import Reader, click_counts, log_clicks, log_ratings
from scoring.arena.rubric_scores import Ratings, ratings, standardised
from scoring.arena.vote_records import Vote, Votes
from scoring.arena.vote_values import is_of_pairs

CONTROLS_LEVEL: Final = 0.005
RANDOM_LEVEL: Final = 0.01
POSITION_LEVEL: Final = 0.005

_ROUNDS: Final = 4
_PRIOR: Final = 0.5  # votes each way added to a rate that is compared with
_UNSEEN: Final = 2  # votes of 0 that a mean of others is drawn towards


@dataclass(slots=True)
class Evidence:
    """What the tests of one round found of a judge."""

    control_p: float | None = None
    random: float = 0.0
    position: float | None = None

    def flags(self) -> tuple[str, ...]:
        found = {
            "controls": self.control_p is not None and self.control_p <= CONTROLS_LEVEL,
            "random": self.random >= -log(RANDOM_LEVEL),
            "position": self.position is not None and self.position >= -log(POSITION_LEVEL),
        }
        return tuple(name for name, is_flagged in found.items() if is_flagged)


@dataclass(slots=True)
class Given:
    """The counted votes of one judge, by kind; ``failures`` says of each control whether it was failed."""

    real: list[Vote] = field(default_factory=list)
    controls: list[Vote] = field(default_factory=list)
    repeats: list[Vote] = field(default_factory=list)
    failures: list[bool] = field(default_factory=list)


def tested(votes: Votes, given: Mapping[str, Given]) -> dict[str, Evidence]:
    """The evidence against each judge, compared with the judges who are not flagged."""
    real = [vote for each in given.values() for vote in each.real]
    if is_of_pairs(votes.protocol):
        compared = comparisons(real, votes.counting)
    else:
        rated = ratings(real, votes.counting, votes.criteria)
    flagged: frozenset[str] = frozenset()
    for _ in range(_ROUNDS):
        if is_of_pairs(votes.protocol):
            evidence = _test_pairs(compared, given, flagged)
        else:
            evidence = _test_ratings(rated, given, flagged)
        now = frozenset(label for label, each in evidence.items() if each.flags())
        if now == flagged or len(now) == len(given):
            break
        flagged = now
    return evidence


def _test_pairs(compared: Comparisons, given: Mapping[str, Given], flagged: frozenset[str]) -> dict[str, Evidence]:
    counts = compared.by_judge()
    trusted = np.asarray([label not in flagged for label in compared.judges], dtype=np.float64)
    panel = np.tensordot(trusted, counts, axes=1)
    others = panel[None] - trusted[:, None, None, None] * counts
    fits = fit(others, has_ties=bool(counts[..., TIE].any()))
    found = {}
    for label, each in given.items():
        rate = _others_rate(label, given, flagged)
        evidence = found[label] = Evidence(_control_p(each.failures, rate))
        if not each.real:
            continue
        index = compared.judges.index(label)
        own = compared.of(compared.judge == index)
        strengths = fits.strengths[index]
        # k outputs in order are k(k-1)/2 comparisons, of which k-1 are free
        weight = sum(len(vote.systems) - 1 for vote in each.real) / len(own)
        tie = float(fits.tie[index])
        reader = Reader(
            strengths[own.first] - strengths[own.second], own.outcome, float(fits.order[index]), tie, weight
        )
        clicks = click_counts(own.outcome) * weight
        evidence.position = reader.log_position()
        evidence.random = log_clicks(clicks) - reader.log_probability() + _log_controls(each, clicks, rate)
    return found


def _log_controls(given: Given, clicks: FloatArray, rate: float) -> float:
    """Evidence for clicking in the controls: a click lets the bad output lose as often as the judge clicks there."""
    shares = (clicks + _PRIOR) / (clicks + _PRIOR).sum()
    total = 0.0
    for vote, is_failed in zip(given.controls, given.failures, strict=True):
        if "choice" in vote.value:
            passing = float(shares[SECOND if vote.bad == 0 else FIRST])
        else:
            passing = 1 / (len(vote.systems) if len(vote.systems) > 1 else 2)
        total += log((1 - passing) / rate) if is_failed else log(passing / (1 - rate))
    return total


def _test_ratings(rated: Ratings, given: Mapping[str, Given], flagged: frozenset[str]) -> dict[str, Evidence]:
    z = standardised(rated)
    trusted = np.asarray([label not in flagged for label in rated.judges])[rated.judge]
    expected = expected_ratings(rated, trusted)
    correlation = correlation_of(z[trusted], expected[trusted]) or 0.0
    found = {}
    for label, each in given.items():
        rate = _others_rate(label, given, flagged)
        evidence = found[label] = Evidence(_control_p(each.failures, rate))
        if each.real:
            own = rated.judge == rated.judges.index(label)
            scores = _scaled(z[own])
            evidence.random = log_ratings(scores, _scaled(expected[own]), max(correlation, 0.0))
            evidence.random += _log_controls(each, np.zeros(3), rate)
    return found


def expected_ratings(rated: Ratings, trusted: BoolArray) -> FloatArray:
    """What the trusted others give to the system and item of each vote: both means drawn towards 0."""
    z = standardised(rated) * trusted
    by_system = _others_mean(rated, z, trusted, rated.system, len(rated.systems))
    rest = (z - by_system) * trusted
    return by_system + _others_mean(rated, rest, trusted, rated.item, len(rated.items))


def _others_mean(rated: Ratings, z: FloatArray, trusted: BoolArray, cluster: IntArray, count: int) -> FloatArray:
    """The mean of ``z`` of other judges in the cluster of each vote, as if ``_UNSEEN`` more were 0."""
    judges = len(rated.judges)
    cell = cluster * judges + rated.judge
    sums, votes = (np.bincount(cell, each, count * judges) for each in (z, trusted.astype(np.float64)))
    whole, every = (np.bincount(cluster, each, count) for each in (z, trusted.astype(np.float64)))
    found: FloatArray = (whole[cluster] - sums[cell]) / (every[cluster] - votes[cell] + _UNSEEN)
    return found


def _scaled(values: FloatArray) -> FloatArray:
    """``values`` with mean 0 and deviation 1; all 0 where they are equal."""
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def correlation_of(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < 2 or not one.std() or not other.std():
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _others_rate(label: str, given: Mapping[str, Given], flagged: frozenset[str]) -> float:
    """The rate at which the other judges who are not flagged fail controls."""
    others = [each.failures for judge, each in given.items() if judge != label and judge not in flagged]
    failed, every = sum(map(sum, others)), sum(map(len, others))
    return (failed + _PRIOR) / (every + 2 * _PRIOR)


def _control_p(failures: Sequence[bool], rate: float) -> float | None:
    """The probability of so many failures or more at ``rate``, ``None`` without controls."""
    count, failed = len(failures), sum(failures)
    if not count:
        return None
    return min(1.0, sum(comb(count, n) * rate**n * (1 - rate) ** (count - n) for n in range(failed, count + 1)))
