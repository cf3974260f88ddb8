"""A digest of each board, to tell whether two databases give the same ranking."""

from __future__ import annotations

from malpan.competitions.errors import RecipeNotInstalled
from malpan.competitions.models import Phase
from malpan.competitions.references import recipe_of
from malpan.leaderboard import ranking
from malpan.leaderboard.results import comparable_entries, live_runs, submission_counts
from malpan.leaderboard.rules import composite_json, rule_of
from malpan.submissions.integrity import chain
from scoring.signature import json_sha256


def board_digests() -> dict[str, str]:
    """The digest of every phase's board by ``competition/track/phase``. Read-only, a few queries for each phase.

    Of the live results themselves, not of the standings made of them, and whatever the hour: freezing, hiding and blind
    names change what is shown, not what it is made of.
    """
    phases = Phase.objects.select_related("track__competition").order_by("pk")
    return {f"{phase.track.competition.slug}/{phase.track.slug}/{phase.slug}": _digest(phase) for phase in phases}


def _digest(phase: Phase) -> str:
    """The sha256 of rank, team, submission, scores, number of submissions and, where there is one, composite of every
    row, numbers to the last bit.
    """
    try:
        recipe = recipe_of(phase.track)
    except RecipeNotInstalled:
        return ""  # it has no ranking here
    runs = live_runs(phase)
    counts = submission_counts(phase)
    rows = [
        [
            row.rank,
            row.entry.team_id,
            str(runs[row.entry.submission_id].submission.public_id),
            row.entry.submitted_at.isoformat(),
            repr(row.entry.final_score),
            sorted((name, repr(value)) for name, value in row.entry.scores.items()),
            counts.get(row.entry.team_id, 0),
            *([chain.plain(composite_json(row.composite))] if row.composite else []),
        ]
        for row in ranking.rank(comparable_entries(runs.values(), recipe), rule_of(phase, recipe))
    ]
    return json_sha256(rows)
