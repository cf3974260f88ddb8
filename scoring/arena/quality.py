"""How each judge works, and who is suspicious. Nothing here says which system leads.

A judge is flagged, with these names, by tests that are false alarms at most as often as their level, 2 % together:

* ``controls``: failures on controls in a one-sided binomial test against the rate of the other judges
  (``flagging.CONTROLS_LEVEL``);
* ``random``: an e-value of 1 / ``RANDOM_LEVEL`` that the votes, controls included, do not depend on the outputs;
* ``position``: an e-value of 1 / ``POSITION_LEVEL`` for a preference of one side beyond what readers have.

Flagged judges are left out of what the others are compared with, and everyone is tested again, until nothing changes
(a few times at most). A flag is a reason to look; excluding a judge is for people to decide.

What a failed control and a repeat judged as before are says ``scoring.arena.checks``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from scoring.arena.bradley_terry import FIRST, TIE
from scoring.arena.checks import is_failed, same_as_before
from scoring.arena.comparisons import OUTCOMES
from scoring.arena.flagging import Evidence, Given, correlation_of, expected_ratings, tested
from scoring.arena.judge_quality import JudgeQuality
from scoring.arena.rubric_scores import ratings, standardised
from scoring.arena.verdicts import same_as_others
from scoring.arena.vote_records import Vote, Votes
from scoring.arena.vote_values import is_of_pairs


def judge_qualities(votes: Votes) -> tuple[JudgeQuality, ...]:
    """The figures of every judge with a counted vote, in the order of the file."""
    given = _by_judge(votes)
    for each in given.values():
        each.failures = [is_failed(vote, each.real, votes) for vote in each.controls]
    evidence = tested(votes, given)
    agreement = _agreement(votes, given)
    by_number = {vote.number: vote for vote in votes.counted()}
    return tuple(
        _quality(label, each, evidence[label], agreement.get(label), _consistency(each.repeats, by_number, votes))
        for label, each in given.items()
    )


def _by_judge(votes: Votes) -> dict[str, Given]:
    found = {judge.label: Given() for judge in votes.judges}
    for vote in votes.counted():
        given = found[vote.judge]
        {"real": given.real, "control": given.controls, "repeat": given.repeats}[vote.kind].append(vote)
    return {label: given for label, given in found.items() if given.real or given.controls or given.repeats}


def _quality(
    label: str, given: Given, evidence: Evidence, agreement: float | None, consistency: float | None
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


def _consistency(repeats: Iterable[Vote], by_number: Mapping[int, Vote], votes: Votes) -> float | None:
    """The share of verdicts in ``repeats`` that are those of the votes they repeat, ``None`` without any."""
    same = [each for vote in repeats for each in same_as_before(vote, by_number, votes)]
    return sum(same) / len(same) if same else None


def _agreement(votes: Votes, given: Mapping[str, Given]) -> dict[str, float]:
    real = [vote for each in given.values() for vote in each.real]
    if is_of_pairs(votes.protocol):
        return {judge: equal / every for judge, (equal, every) in same_as_others(real).items()}
    rated = ratings(real, votes.counting, votes.criteria)
    z, expected = standardised(rated), expected_ratings(rated, np.ones(len(rated), dtype=bool))
    found = {}
    for index, label in enumerate(rated.judges):
        own = rated.judge == index
        value = correlation_of(z[own], expected[own])
        if value is not None:
            found[label] = value
    return found
