"""The final board as it would be published now: for organisers only, as it is computed from hidden results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.db.models import F, Q

from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_of
from malpan.leaderboard import ranking
from malpan.leaderboard.boards import Reader
from malpan.leaderboard.results import (
    comparable_entries,
    eligible_runs,
    entry_of,
    public_entries,
    submission_counts,
)
from malpan.leaderboard.rules import composite_json, rule_of
from malpan.submissions.models import HiddenResult, ScoringRun, Submission
from malpan.submissions.release import Release
from scoring.composite import Component, Composite
from scoring.recipes import Recipe


@dataclass(frozen=True, slots=True)
class FinalRow:
    """One team with the submission that counts. Scores are 0-1, of the private split if there is one.

    ``public_rank`` and ``public_score`` are of the team on the public board, ``own_public_score`` is of this
    submission; it is ``None`` without a split. ``composite``, and ``public_composite`` of the public board: where a
    composite ranks. ``coverage``: the share of reasons given, where the recipe counts them.
    """

    rank: int | None
    run: ScoringRun
    final_score: float
    scores: dict[str, float]
    submission_count: int
    public_rank: int | None
    public_score: float | None
    own_public_score: float | None = None
    composite: Composite | None = None
    public_composite: Composite | None = None
    coverage: float | None = None

    @property
    def moved(self) -> int | None:
        """How many places higher than on the public board the team is; negative: lower."""
        return None if self.rank is None or self.public_rank is None else self.public_rank - self.rank


@dataclass(frozen=True, slots=True)
class FinalBoard:
    """``excluded_count`` results are left out: another signature, or no result of the private split. ``components`` are
    what it ranks by where that is a composite.
    """

    phase: Phase
    recipe: Recipe
    rows: tuple[FinalRow, ...]
    signature_hash: str
    is_split: bool
    excluded_count: int
    components: tuple[Component, ...] = ()


def final_board(phase: Phase) -> FinalBoard:
    """The teams by the best (private) score among their chosen submissions; the default is their best on the public
    split. Where a composite ranks: by the composite of the (private) scores of the submissions that count.

    Two queries. It is compared with the live public board, whatever the phase shows.
    """
    recipe = recipe_of(phase.track)
    rule = rule_of(phase, recipe)
    runs = _runs_with_hidden_results(phase)
    public = comparable_entries(runs.values(), recipe)
    chosen = {key for key, run in runs.items() if run.submission.is_final_choice}
    counted = ranking.counted_finals(public, chosen, phase.finals_limit, rule)
    candidates = [entry for key in sorted(counted) if (entry := _final_entry(runs[key])) is not None]
    signature = ranking.board_signature(candidates)
    entries = [entry for entry in candidates if entry.signature_hash == signature]
    shown = public_entries(public, Release(phase))
    on_public = {entry.entry.team_id: entry for entry in ranking.rank(shown, rule)}
    counts = submission_counts(phase)
    rows = tuple(
        _row(
            ranked, runs[ranked.entry.submission_id], on_public.get(ranked.entry.team_id), counts[ranked.entry.team_id]
        )
        for ranked in ranking.rank(entries, rule)
    )
    return FinalBoard(
        phase=phase,
        recipe=recipe,
        rows=rows,
        signature_hash=signature or "",
        is_split=any(_is_split(run) for run in runs.values()),
        excluded_count=len(runs) - len(public) + len(counted) - len(entries),
        components=rule.components,
    )


def rows_to_publish(rows: Iterable[FinalRow], reader: Reader) -> list[dict[str, Any]]:
    """The public rows as plain JSON, with names that ``reader`` may know: the content of a snapshot and its hash."""
    return [_to_publish(row, reader) for row in rows]


def _to_publish(row: FinalRow, reader: Reader) -> dict[str, Any]:
    return row_to_publish(
        rank=row.rank,
        submission=row.run.submission,
        reader=reader,
        scores=row.scores,
        final_score=row.final_score,
        submission_count=row.submission_count,
        is_demo_models=row.run.is_demo_models,
        composite=row.composite,
        public=(row.public_rank, row.public_score),
        coverage=row.coverage,
    )


def row_to_publish(
    *,
    rank: int | None,
    submission: Submission,
    reader: Reader,
    scores: Mapping[str, float],
    final_score: float,
    submission_count: int,
    is_demo_models: bool,
    composite: Composite | None,
    public: tuple[int | None, float | None] = (None, None),
    coverage: float | None = None,
) -> dict[str, Any]:
    """A row of a snapshot. ``public``: rank and score on the public board, beside those of a final one. ``coverage``:
    the share of reasons given, where the recipe counts them.
    """
    public_rank, public_score = public
    return {
        "rank": rank,
        "team": reader.name_of(submission.team),
        "team_number": submission.team.number,  # the same on every site: archives contain these rows
        "is_baseline": submission.team.is_baseline,
        "submission": str(submission.public_id),
        "final_score": final_score + 0.0,  # no minus zero, which JSON in the database does not preserve
        "scores": {name: value + 0.0 for name, value in scores.items()},
        "submission_count": submission_count,
        "submitted_at": submission.created_at.isoformat(),
        "is_demo_models": is_demo_models,
        "public_rank": public_rank,
        "public_score": None if public_score is None else public_score + 0.0,
        **({"composite": composite_json(composite)} if composite else {}),
        **({} if coverage is None else {"reason_coverage": coverage + 0.0}),
    }


def _runs_with_hidden_results(phase: Phase) -> dict[int, Any]:
    runs = eligible_runs(phase).annotate(
        is_split=Q(reference_version__public_ids__isnull=False),
        reason_coverage=F("coverage__reason_coverage"),
        hidden_reason_coverage=F("hidden_result__coverage__reason_coverage"),
    )
    runs = runs.select_related("submission__team", "reference_version", "hidden_result")
    runs = runs.defer("signature", "warnings", "coverage", "reference_version__public_ids")
    return {run.submission_id: run for run in runs}


def _is_split(run: Any) -> bool:
    return bool(run.is_split)


def _result_of(run: ScoringRun) -> ScoringRun | HiddenResult | None:
    """The result of ``run`` for the final board; ``None`` if the private split was not scored."""
    return getattr(run, "hidden_result", None) if _is_split(run) else run


def _final_entry(run: ScoringRun) -> ranking.Entry | None:
    result = _result_of(run)
    if result is None:
        return None
    public = entry_of(run)
    return ranking.Entry(
        team_id=public.team_id,
        is_baseline=public.is_baseline,
        submission_id=public.submission_id,
        submitted_at=public.submitted_at,
        final_score=result.final_score or 0.0,
        scores=result.scores,
        signature_hash=result.signature_hash,
        is_chosen=public.is_chosen,
    )


def _row(ranked: ranking.Ranked, run: Any, on_public: ranking.Ranked | None, submission_count: int) -> FinalRow:
    return FinalRow(
        rank=ranked.rank,
        run=run,
        final_score=ranked.entry.final_score,
        scores=dict(ranked.entry.scores),
        submission_count=submission_count,
        public_rank=None if on_public is None else on_public.rank,
        public_score=None if on_public is None else on_public.entry.final_score,
        own_public_score=run.final_score if _is_split(run) and ranked.composite is None else None,
        composite=ranked.composite,
        public_composite=None if on_public is None else on_public.composite,
        coverage=run.hidden_reason_coverage if _is_split(run) else run.reason_coverage,
    )
