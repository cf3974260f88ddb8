"""The boards of a phase, each in a constant number of queries: the public one from live runs, the final one as it was
published, and, for organisers, the final one as it would be published now (``leaderboard.finals``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import connection
from django.db.models import Count, QuerySet

from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_named, recipe_of
from malpan.competitions.selectors import is_blind
from malpan.core.locks import repeatable_read
from malpan.leaderboard import ranking
from malpan.leaderboard.models import BoardSnapshot
from malpan.submissions import visibility
from malpan.submissions.models import ScoringRun, Submission
from malpan.teams.models import Team
from malpan.teams.naming import public_note, shown_name
from malpan.teams.selectors import disqualified_teams
from scoring.recipes import Column, Recipe


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One team. ``rank`` is ``None`` for a baseline; scores are 0-1; ``submission_count`` counts charged submissions.

    ``run`` is set on a public board; a published final board has none. ``public_rank`` and ``public_score`` are set on
    a final board: the team's rank and score on the public one.
    """

    rank: int | None
    team_id: int | None  # None on a published final board: a snapshot has only team numbers
    team_name: str
    is_baseline: bool
    is_own: bool
    scores: Mapping[str, float]
    final_score: float
    submission_count: int
    submitted_at: datetime
    is_demo_models: bool
    scored_at: datetime | None = None
    run: ScoringRun | None = None
    public_rank: int | None = None
    public_score: float | None = None


@dataclass(frozen=True, slots=True)
class Disqualified:
    """A team that left the board, with the organiser's public note."""

    team_name: str
    note: str
    disqualified_at: datetime | None


@dataclass(frozen=True, slots=True)
class Board:
    """A board as one reader may see it.

    ``is_hidden``: the organiser hides it; there are no rows. ``frozen_at``: it counts only submissions before that
    moment. All rows have ``signature_hash``; ``excluded_count`` runs have another one, or were scored by earlier
    references or another recipe, and are excluded until they are scored again. ``covers_split``: its scores are of the
    public split only. ``snapshot``: it is the final board as published.
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
    covers_split: bool = False
    disqualified: tuple[Disqualified, ...] = ()
    snapshot: BoardSnapshot | None = None


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of a board, and whether names are blind for them."""

    team: Team | None
    is_blind: bool
    sees_all: bool

    def name_of(self, team: Team) -> str:
        return shown_name(team, viewer_team=self.team, is_blind=self.is_blind, sees_all=self.sees_all)


def board(
    phase: Phase, *, viewer_team: Team | None = None, for_organiser: bool = False, now: datetime | None = None
) -> Board:
    """The public board of ``phase`` for a member of ``viewer_team`` or a visitor; four queries.

    The board has every team that is not disqualified with a live, finished run whose submission was neither refunded
    nor withdrawn. (Results of a merged team from a phase that was over by then stay under its name.) An organiser
    always sees the live board; everybody else sees a frozen one as it was and nothing of a hidden one, until the final
    board is published.
    """
    if not connection.in_atomic_block:  # rule and runs are separate reads, which must see one state
        with repeatable_read():
            fresh = Phase.objects.select_related("track__competition").get(pk=phase.pk)
            return board(fresh, viewer_team=viewer_team, for_organiser=for_organiser, now=now)
    recipe = recipe_of(phase.track)
    is_hidden = visibility.is_hidden(phase) and not for_organiser
    frozen_at = phase.frozen_at if visibility.is_frozen(phase, now) and not for_organiser else None
    runs = {} if is_hidden else live_runs(phase, frozen_at)
    entries = comparable_entries(runs.values(), recipe)
    reader = reader_of(phase, viewer_team, sees_all=for_organiser, now=now)
    counts = {} if is_hidden else submission_counts(phase, frozen_at)
    rows = tuple(
        _row(ranked, runs[ranked.entry.submission_id], counts, reader)
        for ranked in ranking.rank(entries, recipe.tie_breaks)
    )
    return Board(
        phase=phase,
        recipe=recipe,
        columns=recipe.columns,
        rows=rows,
        own_row=_own(rows),
        is_demo_models=any(row.is_demo_models for row in rows),
        signature_hash=entries[0].signature_hash if entries else None,
        excluded_count=len(runs) - len(entries),
        is_hidden=is_hidden,
        frozen_at=frozen_at,
        covers_split=_covers_split(phase),
        disqualified=disqualified(phase, reader),
    )


def published_board(phase: Phase, *, viewer_team: Team | None = None) -> Board | None:
    """The last published final board of ``phase``, or ``None`` if there is none. Reads only the snapshot."""
    if phase.final_published_at is None:
        return None
    snapshot = phase.snapshots.select_related("published_by").order_by("-number").first()
    if snapshot is None:
        return None
    recipe = recipe_named(snapshot.recipe)
    rows = tuple(_published_row(row, viewer_team) for row in snapshot.rows)
    return Board(
        phase=phase,
        recipe=recipe,
        columns=recipe.columns,
        rows=rows,
        own_row=_own(rows),
        is_demo_models=any(row.is_demo_models for row in rows),
        signature_hash=snapshot.signature_hash,
        excluded_count=0,
        disqualified=disqualified(phase, Reader(viewer_team, is_blind=False, sees_all=False)),
        snapshot=snapshot,
    )


def live_runs(phase: Phase, before: datetime | None = None) -> dict[int, ScoringRun]:
    """Live finished runs by submission, with the fields of a row; signatures and warnings are deferred."""
    rows = eligible_runs(phase, before)
    rows = rows.select_related("submission__team", "reference_version")
    rows = rows.defer("signature", "warnings", "coverage", "reference_version__public_ids")
    return {run.submission_id: run for run in rows}


def eligible_runs(phase: Phase, before: datetime | None = None) -> QuerySet[ScoringRun]:
    """The live finished runs that may be on a board of ``phase``: submitted ``before`` that moment, if given."""
    eligible = Submission.objects.counting().filter(phase=phase, team__disqualified_at=None)
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


def submission_counts(phase: Phase, before: datetime | None = None) -> dict[int, int]:
    """The number of charged submissions of each team, including withdrawn ones."""
    submissions = Submission.objects.filter(phase=phase, refunded_at=None)
    if before is not None:
        submissions = submissions.filter(created_at__lt=before)
    return dict(submissions.order_by().values_list("team_id").annotate(count=Count("pk")))


def reader_of(phase: Phase, team: Team | None, *, sees_all: bool = False, now: datetime | None = None) -> Reader:
    return Reader(team, is_blind=is_blind(phase.track.competition, now), sees_all=sees_all)


def disqualified(phase: Phase, reader: Reader) -> tuple[Disqualified, ...]:
    """The disqualified teams of the competition, by the names that the reader may see."""
    return tuple(
        Disqualified(reader.name_of(team), public_note(team), team.disqualified_at)
        for team in disqualified_teams(phase.track.competition)
    )


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
    )


def _covers_split(phase: Phase) -> bool:
    return phase.reference_versions.filter(is_current=True, public_ids__isnull=False).exists()


def _own(rows: Iterable[BoardRow]) -> BoardRow | None:
    return next((row for row in rows if row.is_own), None)


def _row(ranked: ranking.Ranked, run: ScoringRun, counts: Mapping[int, int], reader: Reader) -> BoardRow:
    team = run.submission.team
    return BoardRow(
        rank=ranked.rank,
        team_id=team.pk,
        team_name=reader.name_of(team),
        is_baseline=team.is_baseline,
        is_own=reader.team is not None and reader.team.pk == team.pk,
        scores=run.scores,
        final_score=ranked.entry.final_score,
        submission_count=counts[team.pk],
        submitted_at=ranked.entry.submitted_at,
        is_demo_models=run.is_demo_models,
        scored_at=run.finished_at,
        run=run,
    )


def _published_row(row: Mapping[str, Any], viewer_team: Team | None) -> BoardRow:
    return BoardRow(
        rank=row["rank"],
        team_id=None,
        team_name=row["team"],
        is_baseline=row["is_baseline"],
        is_own=viewer_team is not None and viewer_team.number == row["team_number"],
        scores=row["scores"],
        final_score=row["final_score"],
        submission_count=row["submission_count"],
        submitted_at=datetime.fromisoformat(row["submitted_at"]),
        is_demo_models=row["is_demo_models"],
        public_rank=row["public_rank"],
        public_score=row["public_score"],
    )
