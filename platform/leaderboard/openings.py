"""Which recorded scores everybody may open: those that stand on a public board now."""

from __future__ import annotations

from typing import Any

from competitions.models import Competition, Phase
from leaderboard.models import BoardSnapshot
from leaderboard.selectors import board
from submissions import chain
from submissions.models import HiddenResult, ScoringRun
from submissions.receipts import openings


def public_openings(competition: Competition) -> dict[int, dict[str, Any]]:
    """What opens the score entries of the competition's chain that stand on a board any visitor sees, by number."""
    phases = Phase.objects.filter(track__competition=competition).select_related("track__competition")
    return openings([result for phase in phases for result in _public_results(phase)])


def _public_results(phase: Phase) -> list[ScoringRun | HiddenResult]:
    """What any visitor sees of ``phase``: the public board, and beside it the final one once it is published."""
    shown: list[ScoringRun | HiddenResult] = [row.run for row in board(phase).rows if row.run is not None]
    return shown if phase.final_published_at is None else [*shown, *_final_results(phase)]


def _final_results(phase: Phase) -> list[ScoringRun | HiddenResult]:
    """What the published final board counts: the private part where there is one, else all there is."""
    snapshot = BoardSnapshot.objects.filter(phase=phase).order_by("number").last()
    named = [row["submission"] for row in snapshot.rows] if snapshot else []
    runs = ScoringRun.objects.filter(live_for__public_id__in=named).select_related("hidden_result")
    return [chain.parts_of(run)[-1][1] for run in runs]
