"""What a phase gives away of its public scores: every digit, rounded ones, or only those that rise.

Every public score says a little about the public items, and who submits often can collect it: a team that keeps what
happened to score higher climbs the board without getting better. Two settings of a phase make that harder:

- ``score_step``: public scores are shown, ranked and compared as the nearest multiple of it;
- ``is_ladder``: the Ladder of Blum and Hardt (2015, "The Ladder: A Reliable Leaderboard for Machine Learning
  Competitions", algorithm 1). Of a team's submissions, in the order in which they arrived, one has a public score only
  if it is more than a step above the last that has. The others have none until the final board is published.

Organisers see every digit, and so does everybody once the final board is published. A withdrawn submission stays a rung
of the ladder: else withdrawing would open the score of the next. A refunded one is none.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from decimal import ROUND_HALF_EVEN, Decimal

from malpan.competitions.models import Phase
from malpan.submissions.models import ScoringRun
from malpan.submissions.querysets import charged
from scoring.composite import COMPARED_DECIMALS

Rung = tuple[int, float]  # a submission and its score
Ladder = tuple[int, str]  # a team and a signature: only scores of one signature are comparable


class Release:
    """What the public sees of the results of ``phase``, those of ``teams`` if given. One query, in a Ladder phase.

    ``runs`` are other results than the live ones, with their submissions: those of a rescoring that is not applied.
    """

    def __init__(
        self, phase: Phase, teams: Collection[int] | None = None, runs: Iterable[ScoringRun] | None = None
    ) -> None:
        self.step: Decimal | None = phase.score_step
        self._phase, self._teams, self._runs = phase, teams, runs
        self._released: frozenset[int] | None = None

    @property
    def is_exact(self) -> bool:
        """Whether the public sees every score with all its digits."""
        return self.step is None

    def has_score(self, submission_id: int) -> bool:
        """Whether the submission has a public score."""
        if self.step is None or not self._phase.is_ladder:
            return True
        if self._released is None:
            rungs = _live_rungs(self._phase, self._teams) if self._runs is None else _rungs_of(self._runs)
            ladders = _by_ladder(rungs)
            self._released = frozenset(pk for scores in ladders for pk in risen(scores, self.step))
        return submission_id in self._released

    def score(self, value: float) -> float:
        """A public score as it is shown."""
        return value if self.step is None else nearest(value, self.step)

    def scores(self, values: Mapping[str, float]) -> Mapping[str, float]:
        return values if self.step is None else {name: self.score(value) for name, value in values.items()}


def nearest(value: float, step: Decimal) -> float:
    """The multiple of ``step`` nearest to ``value``; of two as near the even one."""
    return float((_exact(value) / step).to_integral_value(ROUND_HALF_EVEN) * step)


def risen(scores: Iterable[Rung], step: Decimal) -> list[int]:
    """Which of a team's submissions, given in the order in which they arrived, have a public score."""
    released: list[int] = []
    best: Decimal | None = None
    for submission_id, score in scores:
        if best is None or _exact(score) > best + step:
            best = _exact(nearest(score, step))
            released.append(submission_id)
    return released


def _exact(value: float) -> Decimal:
    return Decimal(repr(round(value, COMPARED_DECIMALS)))


def _by_ladder(rungs: Iterable[tuple[Ladder, Rung]]) -> Iterable[list[Rung]]:
    ladders: dict[Ladder, list[Rung]] = defaultdict(list)
    for ladder, rung in rungs:
        ladders[ladder].append(rung)
    return ladders.values()


def _live_rungs(phase: Phase, teams: Collection[int] | None) -> Iterable[tuple[Ladder, Rung]]:
    """The live scores in the order of arrival."""
    runs = ScoringRun.objects.filter(charged("live_for__"), live_for__phase=phase, state=ScoringRun.State.FINISHED)
    if teams is not None:
        runs = runs.filter(live_for__team__in=teams)
    rows = runs.order_by("live_for__created_at", "live_for__pk")
    columns = rows.values_list("live_for__team_id", "signature_hash", "live_for__pk", "final_score")
    return (((team, signature), (submission, score or 0.0)) for team, signature, submission, score in columns)


def _rungs_of(runs: Iterable[ScoringRun]) -> Iterable[tuple[Ladder, Rung]]:
    ordered = sorted(runs, key=lambda run: (run.submission.created_at, run.submission_id))
    return (
        ((run.submission.team_id, run.signature_hash), (run.submission_id, run.final_score or 0.0)) for run in ordered
    )
