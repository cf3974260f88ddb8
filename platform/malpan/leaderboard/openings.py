"""The recorded scores that everybody may open: those on a public board now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from malpan.competitions.models import Competition, Phase
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.selectors import board
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import openings
from malpan.submissions.models import HiddenResult, ScoringRun


def public_openings(competition: Competition) -> dict[int, dict[str, Any]]:
    """The openings of the score entries of the competition's chain that are on a public board, by number."""
    phases = Phase.objects.filter(track__competition=competition).select_related("track__competition")
    return openings([result for phase in phases for result in _public_results(phase)])


def _public_results(phase: Phase) -> list[ScoringRun | HiddenResult]:
    """The results of ``phase`` that any visitor sees: on the public board and on the published final one."""
    shown: list[ScoringRun | HiddenResult] = [row.run for row in board(phase).rows if row.run is not None]
    return shown if phase.final_published_at is None else [*shown, *_final_results(phase)]


def _final_results(phase: Phase) -> list[ScoringRun | HiddenResult]:
    """The results on the published final board: of the private split if there is one, else of all items.

    After a later rescoring that is not published the live values differ and are on no public board: opened is the
    newest run of a submission with exactly the values of the board.
    """
    snapshot = BoardSnapshot.objects.filter(phase=phase).order_by("number").last()
    rows = {row["submission"]: row for row in snapshot.rows} if snapshot else {}
    runs = ScoringRun.objects.filter(submission__public_id__in=rows, state=ScoringRun.State.FINISHED)
    shown: dict[str, ScoringRun | HiddenResult] = {}
    for run in runs.select_related("submission", "hidden_result").order_by("pk"):
        name, result = str(run.submission.public_id), chain.results_by_split(run)[-1][1]
        if chain.values_of(result) == _values_of_row(rows[name]):
            shown[name] = result
    return list(shown.values())


def _values_of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    scores = {name: repr(float(value)) for name, value in row["scores"].items()}
    return {"final_score": repr(float(row["final_score"])), "scores": scores}
