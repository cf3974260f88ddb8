"""The intervals of the scores of every scored submission, also of those that count on no board.

A result never changes, so they are computed once, with the draws of the boards: of a result that counts they are those
of its row. The jobs of the boards do it, as every new result makes the board of its phase due.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db.models import Exists, F, OuterRef

from malpan.competitions.errors import UnknownTrackRecipe
from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_named
from malpan.leaderboard.models import ResultSureness
from malpan.leaderboard.sureness.sources import Source, report_of, stored_values
from malpan.submissions.models import ScoringRun
from malpan.submissions.visibility import ShownRun
from scoring.records import ScoreReport

BATCH: Final = 100  # results of a job: the next one is due at once, behind the scoring that came meanwhile

Ends = Mapping[str, tuple[float, float]]  # by score


def intervals_of(run_id: int) -> Mapping[bool, Ends]:
    """The 95 % intervals of a run's scores, and under ``True`` of those of its private split; a side is missing until
    a worker has computed it. One query.
    """
    rows = ResultSureness.objects.filter(run=run_id).values_list("is_private", "scores")
    return {is_private: {name: (low, high) for name, (low, high) in scores.items()} for is_private, scores in rows}


def shown_intervals(shown: ShownRun) -> Mapping[bool, Ends]:
    """``intervals_of`` for whoever sees ``shown``: none of scores that are withheld or rounded, and of the private
    split with its scores alone.
    """
    if shown.state != ScoringRun.State.FINISHED or shown.is_score_hidden or not shown.is_exact:
        return {}
    found = intervals_of(shown.pk)
    return {is_private: ends for is_private, ends in found.items() if not is_private or shown.hidden is not None}


def keep_results(phase: Phase, *, trials: int, seed: int) -> bool:
    """Compute and store what is missing of ``phase``: of public results and, once its final board is published, of
    private ones. Whether that was all.
    """
    is_all = True
    for is_private in (False, True) if phase.final_published_at else (False,):
        runs = _missing(phase, is_private)
        rows = _computed(runs, is_private, trials, seed)
        ResultSureness.objects.bulk_create(rows, ignore_conflicts=True)  # another job may have been at it
        is_all &= len(runs) < BATCH
    return is_all


def _missing(phase: Phase, is_private: bool) -> list[ScoringRun]:
    """The live results without intervals, the oldest first."""
    known = ResultSureness.objects.filter(run=OuterRef("pk"), is_private=is_private)
    live = ScoringRun.objects.filter(submission__phase=phase, submission__live_run=F("pk"))
    runs = live.filter(~Exists(known), state=ScoringRun.State.FINISHED)
    if is_private:
        runs = runs.exclude(hidden_result=None)
    return list(runs.select_related("submission", "reference_version", "hidden_result").order_by("pk")[:BATCH])


def _computed(runs: Sequence[ScoringRun], is_private: bool, trials: int, seed: int) -> list[ResultSureness]:
    """A row for each of ``runs``; without intervals where the values of its items are not there."""
    sources = [Source(str(run.pk), None, run, run.hidden_result if is_private else None) for run in runs]
    alike: dict[tuple[Any, ...], list[tuple[str, ScoreReport]]] = defaultdict(list)
    for source, values in zip(sources, stored_values(sources) if sources else [], strict=True):
        report = _report(source, values)
        if report is not None:
            items = tuple(item.id for item in report.items)
            alike[report.recipe, report.signature_hash, items].append((source.name, report))
    found = {name: ends for group in alike.values() for name, ends in _intervals(group, trials, seed).items()}
    return [ResultSureness(run=run, is_private=is_private, scores=found.get(str(run.pk), {})) for run in runs]


def _report(source: Source, values: Mapping[str, Mapping[str, Any]]) -> ScoreReport | None:
    try:
        report = report_of(source, recipe_named(source.run.recipe), values)
    except UnknownTrackRecipe:
        return None
    return report if report.items else None


def _intervals(group: Sequence[tuple[str, ScoreReport]], trials: int, seed: int) -> dict[str, dict[str, list[float]]]:
    from scoring.significance.board import Entrant, board_sureness  # the web process loads no numpy

    entrants = [Entrant(name, report, is_ranked=False) for name, report in group]
    found = board_sureness(entrants, trials=trials, seed=seed)
    return {
        each.name: {score: [interval.low, interval.high] for score, interval in each.intervals.items()}
        for each in found.entrants
    }
