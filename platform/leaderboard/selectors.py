"""The board of a phase, computed from live runs in a constant number of queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count

from accounts.models import Team
from competitions.models import Phase
from competitions.references import recipe_of
from leaderboard import ranking
from scoring.recipes import Column, Recipe
from submissions.models import ScoringRun, Submission


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One team. ``rank`` is ``None`` for a baseline; scores are 0-1; ``submission_count`` counts what was charged."""

    rank: int | None
    team_id: int
    team_name: str
    is_baseline: bool
    is_own: bool
    scores: Mapping[str, float]
    final_score: float
    submission_count: int
    submitted_at: datetime
    run: ScoringRun


@dataclass(frozen=True, slots=True)
class Board:
    """A board as one reader may see it.

    ``is_hidden``: the organiser keeps it back; there are no rows. ``frozen_at``: it counts what came before that
    moment. ``signature_hash`` is shared by all rows; ``excluded_count`` runs bear another one, or were scored by
    earlier references or another recipe, and stand outside until they are scored again.
    """

    phase: Phase
    recipe: Recipe
    columns: tuple[Column, ...]
    rows: tuple[BoardRow, ...]
    own_row: BoardRow | None
    is_demo_models: bool
    signature_hash: str | None
    excluded_count: int
    is_hidden: bool = False
    frozen_at: datetime | None = None


def board(phase: Phase, *, viewer_team: Team | None = None, for_organiser: bool = False) -> Board:
    """The board of ``phase`` for a member of ``viewer_team`` or a visitor; three queries.

    On the board stands every team with a live, finished run whose submission was not refunded. An organiser sees the
    live board whatever the phase says; everybody else sees a frozen one as it was and nothing of a hidden one.
    """
    recipe = recipe_of(phase.track)
    is_hidden = phase.board == Phase.Board.HIDDEN and not for_organiser
    frozen_at = phase.frozen_at if phase.board == Phase.Board.FROZEN and not for_organiser else None
    runs = {} if is_hidden else _live_runs(phase, frozen_at)
    comparable = [run for run in runs.values() if run.reference_version.is_current and run.recipe == recipe.id]
    signature = ranking.board_signature(map(_entry, comparable))
    # the signature covers recipe and references: an earlier version of the same content agrees and may stay
    entries = [_entry(run) for run in runs.values() if run.signature_hash == signature]
    counts = _submission_counts(phase, frozen_at)
    rows = tuple(
        _row(ranked, runs[ranked.entry.submission_id], counts, viewer_team)
        for ranked in ranking.rank(entries, recipe.tie_breaks)
    )
    return Board(
        phase=phase,
        recipe=recipe,
        columns=recipe.columns,
        rows=rows,
        own_row=next((row for row in rows if row.is_own), None),
        is_demo_models=any(row.run.is_demo_models for row in rows),
        signature_hash=signature,
        excluded_count=len(runs) - len(entries),
        is_hidden=is_hidden,
        frozen_at=frozen_at,
    )


def _live_runs(phase: Phase, before: datetime | None) -> dict[int, ScoringRun]:
    """Live finished runs by submission, with what a row shows; signatures and warnings are fetched when asked for."""
    runs = ScoringRun.objects.filter(live_for__phase=phase, live_for__refunded_at=None, state=ScoringRun.State.FINISHED)
    if before is not None:
        runs = runs.filter(live_for__created_at__lt=before)
    rows = runs.select_related("submission__team", "reference_version").defer("signature", "warnings", "coverage")
    return {run.submission_id: run for run in rows}


def _submission_counts(phase: Phase, before: datetime | None) -> dict[int, int]:
    submissions = Submission.objects.filter(phase=phase, refunded_at=None)
    if before is not None:
        submissions = submissions.filter(created_at__lt=before)
    return dict(submissions.order_by().values_list("team_id").annotate(count=Count("pk")))


def _entry(run: ScoringRun) -> ranking.Entry:
    submission = run.submission
    return ranking.Entry(
        team_id=submission.team_id,
        is_baseline=submission.team.is_baseline,
        submission_id=submission.pk,
        submitted_at=submission.created_at,
        final_score=run.final_score or 0.0,
        scores=run.scores,
        signature_hash=run.signature_hash,
    )


def _row(ranked: ranking.Ranked, run: ScoringRun, counts: Mapping[int, int], viewer_team: Team | None) -> BoardRow:
    team = run.submission.team
    return BoardRow(
        rank=ranked.rank,
        team_id=team.pk,
        team_name=team.name,
        is_baseline=team.is_baseline,
        is_own=viewer_team is not None and viewer_team.pk == team.pk,
        scores=run.scores,
        final_score=ranked.entry.final_score,
        submission_count=counts[team.pk],
        submitted_at=ranked.entry.submitted_at,
        run=run,
    )
