"""The live results of a phase, which every board is made of."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from django.db.models import Count, QuerySet

from malpan.competitions.models import Phase
from malpan.leaderboard import ranking
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.release import Release
from scoring.recipes import Recipe


def live_runs(
    phase: Phase, before: datetime | None = None, teams: Collection[int] | None = None
) -> dict[int, ScoringRun]:
    """Live finished runs by submission, with the fields of a row; signatures and warnings are deferred."""
    rows = eligible_runs(phase, before, teams)
    rows = rows.select_related("submission__team", "reference_version")
    rows = rows.defer("signature", "warnings", "coverage", "reference_version__public_ids")
    return {run.submission_id: run for run in rows}


class Result(NamedTuple):
    """A live finished run as the standings need it; a hundred thousand of them are read at once.

    ``is_current``: it is of the current references and ``recipe``.
    """

    entry: ranking.Entry
    is_current: bool
    is_demo_models: bool
    finished_at: datetime | None
    coverage: float | None


def live_results(phase: Phase, recipe: Recipe, teams: Collection[int] | None = None) -> Iterator[Result]:
    """The same runs as ``live_runs``, without making objects of their rows."""
    columns = (
        *("submission__team_id", "submission__team__is_baseline", "submission_id", "submission__created_at"),
        *("final_score", "scores", "signature_hash", "reference_version__is_current", "recipe"),
        *("is_demo_models", "finished_at", "submission__is_final_choice", "coverage__reason_coverage"),
    )
    rows = eligible_runs(phase, teams=teams).values_list(*columns)
    for row in rows.iterator(2000):
        team, baseline, submission, created_at, score, scores, signature, current, rule, *rest = row
        demo, at, is_chosen, coverage = rest
        entry = ranking.Entry(team, baseline, submission, created_at, score, scores, signature, is_chosen)
        yield Result(entry, current and rule == recipe.id, demo, at, coverage)


def eligible_runs(
    phase: Phase, before: datetime | None = None, teams: Collection[int] | None = None
) -> QuerySet[ScoringRun]:
    """The live finished runs that may be on a board of ``phase``: submitted ``before`` that moment and of ``teams``, if
    given.
    """
    eligible = Submission.objects.counting().filter(phase=phase, team__disqualified_at=None)
    if teams is not None:
        eligible = eligible.filter(team__in=teams)
    if before is not None:
        eligible = eligible.filter(created_at__lt=before)
    return ScoringRun.objects.filter(live_for__in=eligible, state=ScoringRun.State.FINISHED)


def comparable_entries(runs: Iterable[ScoringRun], recipe: Recipe) -> list[ranking.Entry]:
    """The public results that are ranked together: those with the most common signature of the current ones."""
    runs = list(runs)
    current = [run for run in runs if run.reference_version.is_current and run.recipe == recipe.id]
    signature = ranking.board_signature(map(entry_of, current))
    # the signature covers recipe and references: one from an earlier version with the same content is equal and may
    # stay
    return [entry_of(run) for run in runs if run.signature_hash == signature]


def public_entries(entries: Iterable[ranking.Entry], release: Release) -> list[ranking.Entry]:
    """``entries`` as the public board has them: those with a public score, rounded as the phase says."""
    if release.is_exact:
        return list(entries)
    return [
        replace(entry, final_score=release.score(entry.final_score), scores=release.scores(entry.scores))
        for entry in entries
        if release.has_score(entry.submission_id)
    ]


def submission_counts(
    phase: Phase, before: datetime | None = None, teams: Collection[int] | None = None
) -> dict[int, int]:
    """The number of charged submissions of each team, including withdrawn ones."""
    submissions = Submission.objects.filter(phase=phase).charged()
    if before is not None:
        submissions = submissions.filter(created_at__lt=before)
    if teams is not None:
        submissions = submissions.filter(team__in=teams)
    return dict(submissions.values_list("team_id").annotate(count=Count("pk")))


def entry_of(run: ScoringRun) -> ranking.Entry:
    """The public result of ``run``."""
    submission = run.submission
    return ranking.Entry(
        team_id=submission.team_id,
        is_baseline=submission.team.is_baseline,
        submission_id=submission.pk,
        submitted_at=submission.created_at,
        final_score=run.final_score or 0.0,
        scores=run.scores,
        signature_hash=run.signature_hash,
        is_chosen=submission.is_final_choice,
    )
