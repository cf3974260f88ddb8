"""How each judge works, and who is suspicious. Nothing here says which system leads.

A judge is flagged, with these names, by tests that are false alarms at most as often as their level, 2 % together:

* ``controls``: failures on controls in a one-sided binomial test against the rate of the other judges
  (``CONTROLS_LEVEL``);
* ``random``: an e-value of 1 / ``RANDOM_LEVEL`` that the votes, controls included, do not depend on the outputs;
* ``position``: an e-value of 1 / ``POSITION_LEVEL`` for a preference of one side beyond what readers have.

Flagged judges are left out of what the others are compared with, and everyone is tested again, until nothing changes
(at most ``_ROUNDS`` times). A flag is a reason to look; excluding a judge is for people to decide.

A control is failed unless the bad output loses: to the other in a pair, to all others in a ranking, and where one
output is rated, to the judge's own mean.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import comb, log
from typing import Any, Final

import numpy as np

from scoring.arena.bradley_terry import FIRST, SECOND, TIE, FloatArray, fit
from scoring.arena.comparisons import OUTCOMES, Comparisons, comparisons
from scoring.arena.rubric_scores import Ratings, points_of, ratings, standardised
from scoring.arena.suspicion import Reader, click_counts, log_clicks, log_ratings
from scoring.arena.verdicts import is_of_pairs, pair_verdicts, same_as_others
from scoring.arena.vote_records import Vote, Votes

CONTROLS_LEVEL: Final = 0.005
RANDOM_LEVEL: Final = 0.01
POSITION_LEVEL: Final = 0.005

_ROUNDS: Final = 4
_NEAR_POINTS: Final = 0.125  # how near a repeated rating is the same: half a step of 1-5, 12 of 100
_PRIOR: Final = 0.5  # votes each way added to a rate that is compared with


@dataclass(frozen=True, slots=True)
class JudgeQuality:
    """Figures of one judge. ``votes`` are real ones; rates and shares are ``None`` where there is nothing to count.

    ``consistency``: share of repeats (of pairs within them) judged as before. ``agreement``: share of verdicts equal to
    another judge's on the same unit; of ratings, the correlation with the others' mean. ``first_share``: of the decided
    comparisons, those won by the output shown first. ``log_random`` and ``log_position``: natural logarithms of
    e-values.
    """

    judge: str
    votes: int
    controls: int
    control_failures: int
    control_p: float | None
    repeats: int
    consistency: float | None
    agreement: float | None
    first_share: float | None
    seconds: float | None
    log_random: float
    log_position: float | None
    flags: tuple[str, ...]

    @property
    def is_suspicious(self) -> bool:
        return bool(self.flags)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self) | {"flags": list(self.flags)}


@dataclass(slots=True)
class _Evidence:
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
class _Given:
    """The counted votes of one judge, by kind; ``failures`` says of each control whether it was failed."""

    real: list[Vote] = field(default_factory=list)
    controls: list[Vote] = field(default_factory=list)
    repeats: list[Vote] = field(default_factory=list)
    failures: list[bool] = field(default_factory=list)


def judge_qualities(votes: Votes) -> tuple[JudgeQuality, ...]:
    """The figures of every judge with a counted vote, in the order of the file."""
    given = _by_judge(votes)
    for each in given.values():
        each.failures = [_is_failed(vote, each.real, votes) for vote in each.controls]
    evidence = _rounds(votes, given)
    agreement = _agreement(votes, given)
    by_number = {vote.number: vote for vote in votes.counted()}
    return tuple(
        _quality(label, each, evidence[label], agreement.get(label), _consistency(each.repeats, by_number, votes))
        for label, each in given.items()
    )


def _by_judge(votes: Votes) -> dict[str, _Given]:
    found = {judge.label: _Given() for judge in votes.judges}
    for vote in votes.counted():
        given = found[vote.judge]
        {"real": given.real, "control": given.controls, "repeat": given.repeats}[vote.kind].append(vote)
    return {label: given for label, given in found.items() if given.real or given.controls or given.repeats}


def _quality(
    label: str, given: _Given, evidence: _Evidence, agreement: float | None, consistency: float | None
) -> JudgeQuality:
    sides = [OUTCOMES[vote.value["choice"]] for vote in given.real if "choice" in vote.value]
    decided = [side for side in sides if side != TIE]
    times = [vote.seconds for vote in (*given.real, *given.controls, *given.repeats) if vote.seconds is not None]
    return JudgeQuality(
        judge=label,
        votes=len(given.real),
        controls=len(given.controls),
        control_failures=sum(given.failures),
        control_p=evidence.control_p,
        repeats=len(given.repeats),
        consistency=consistency,
        agreement=agreement,
        first_share=decided.count(FIRST) / len(decided) if decided else None,
        seconds=float(np.median(times)) if times else None,
        log_random=evidence.random,
        log_position=evidence.position,
        flags=evidence.flags(),
    )


def _is_failed(vote: Vote, real: Sequence[Vote], votes: Votes) -> bool:
    """Whether the bad output of a control did not lose."""
    bad = vote.bad or 0
    if "choice" in vote.value:
        return bool(vote.value["choice"] != ("second", "first")[bad])
    if "ranks" in vote.value:
        ranks = vote.value["ranks"]
        return any(rank >= ranks[bad] for place, rank in enumerate(ranks) if place != bad)
    own = [points_of(each, votes.criteria) for each in real]
    return bool(own) and points_of(vote, votes.criteria) >= sum(own) / len(own)


def _consistency(repeats: Iterable[Vote], by_number: Mapping[int, Vote], votes: Votes) -> float | None:
    """The share of verdicts in ``repeats`` that are those of the votes they repeat, ``None`` without any."""
    same: list[bool] = []
    for vote in repeats:
        first = by_number.get(vote.repeats or 0)
        if first is None:
            continue
        if is_of_pairs(votes.protocol):
            before = dict(pair_verdicts(first))
            same += [before[pair] == side for pair, side in pair_verdicts(vote)]
        else:
            apart = points_of(vote, votes.criteria) - points_of(first, votes.criteria)
            same.append(abs(apart) <= _NEAR_POINTS)
    return sum(same) / len(same) if same else None


def _agreement(votes: Votes, given: Mapping[str, _Given]) -> dict[str, float]:
    real = [vote for each in given.values() for vote in each.real]
    if is_of_pairs(votes.protocol):
        return {judge: equal / every for judge, (equal, every) in same_as_others(real).items()}
    rated = ratings(real, votes.counting, votes.criteria)
    z, expected = standardised(rated), _expected(rated, np.ones(len(rated), dtype=bool))
    found = {}
    for index, label in enumerate(rated.judges):
        own = rated.judge == index
        value = _correlation(z[own], expected[own])
        if value is not None:
            found[label] = value
    return found


def _rounds(votes: Votes, given: Mapping[str, _Given]) -> dict[str, _Evidence]:
    """The evidence against each judge, compared with the judges who are not flagged."""
    real = [vote for each in given.values() for vote in each.real]
    tests: Callable[[frozenset[str]], dict[str, _Evidence]]
    if is_of_pairs(votes.protocol):
        compared = comparisons(real, votes.counting)
        tests = lambda flagged: _test_pairs(compared, given, flagged)  # noqa: E731
    else:
        rated = ratings(real, votes.counting, votes.criteria)
        tests = lambda flagged: _test_ratings(rated, given, flagged)  # noqa: E731
    flagged: frozenset[str] = frozenset()
    evidence = tests(flagged)
    for _ in range(_ROUNDS - 1):
        now = frozenset(label for label, each in evidence.items() if each.flags())
        if now == flagged or len(now) == len(given):
            break
        flagged = now
        evidence = tests(flagged)
    return evidence


def _test_pairs(compared: Comparisons, given: Mapping[str, _Given], flagged: frozenset[str]) -> dict[str, _Evidence]:
    counts = compared.by_judge()
    trusted = np.asarray([label not in flagged for label in compared.judges], dtype=np.float64)
    panel = np.tensordot(trusted, counts, axes=1)
    others = panel[None] - trusted[:, None, None, None] * counts
    fits = fit(others, has_ties=bool(counts[..., TIE].any()))
    found = {}
    for label, each in given.items():
        rate = _others_rate(label, given, flagged)
        evidence = found[label] = _Evidence(_control_p(each.failures, rate))
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


def _log_controls(given: _Given, clicks: FloatArray, rate: float) -> float:
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


def _test_ratings(rated: Ratings, given: Mapping[str, _Given], flagged: frozenset[str]) -> dict[str, _Evidence]:
    z = standardised(rated)
    trusted = np.asarray([label not in flagged for label in rated.judges])[rated.judge]
    expected = _expected(rated, trusted)
    correlation = _correlation(z[trusted], expected[trusted]) or 0.0
    found = {}
    for label, each in given.items():
        rate = _others_rate(label, given, flagged)
        evidence = found[label] = _Evidence(_control_p(each.failures, rate))
        if each.real:
            own = rated.judge == rated.judges.index(label)
            scores = _scaled(z[own])
            evidence.random = log_ratings(scores, _scaled(expected[own]), max(correlation, 0.0))
            evidence.random += _log_controls(each, np.zeros(3), rate)
    return found


def _expected(rated: Ratings, trusted: np.ndarray[Any, np.dtype[np.bool_]]) -> FloatArray:
    """What the trusted others give to the system and item of each vote: both means drawn towards 0."""
    z = standardised(rated) * trusted
    by_system = _others_mean(rated, z, trusted, rated.system, len(rated.systems))
    rest = (z - by_system) * trusted
    return by_system + _others_mean(rated, rest, trusted, rated.item, len(rated.items))


def _others_mean(rated: Ratings, z: FloatArray, trusted: Any, cluster: Any, count: int) -> FloatArray:
    """The mean of ``z`` of other judges in the cluster of each vote, as if two more were 0."""
    judges = len(rated.judges)
    cell = cluster * judges + rated.judge
    sums, votes = (np.bincount(cell, each, count * judges) for each in (z, trusted.astype(np.float64)))
    whole, every = (np.bincount(cluster, each, count) for each in (z, trusted.astype(np.float64)))
    found: FloatArray = (whole[cluster] - sums[cell]) / (every[cluster] - votes[cell] + 2)
    return found


def _scaled(values: FloatArray) -> FloatArray:
    """``values`` with mean 0 and deviation 1; all 0 where they are equal."""
    deviation = values.std()
    return (values - values.mean()) / deviation if deviation > 0 else np.zeros_like(values)


def _correlation(one: FloatArray, other: FloatArray) -> float | None:
    if len(one) < 2 or not one.std() or not other.std():
        return None
    return float(np.corrcoef(one, other)[0, 1])


def _others_rate(label: str, given: Mapping[str, _Given], flagged: frozenset[str]) -> float:
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
