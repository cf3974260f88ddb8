"""The final scores of a team over time: its best, and how far each is from it. A composite has none of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from malpan.competitions.composites import components_of
from malpan.competitions.models import Phase, Track
from malpan.competitions.shown_scores import fewest_decimals
from malpan.submissions.selectors import HistoryEntry
from malpan.web.plots.line import Line, Point, line
from malpan.web.presenters import formatting

DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class Best:
    """The best of the scores that were made alike; those with another signature are not compared with it."""

    submission_id: int
    score: float
    signature_hash: str


def best_of(entries: Sequence[HistoryEntry], phase: Phase) -> Best | None:
    """The best score of ``entries``, given newest first, among those scored as the newest; ``None`` for fewer than two
    of them, or where a composite ranks.
    """
    alike = _alike(entries, phase)
    if len(alike) < 2:
        return None
    submission_id, score, signature = max(((pk, score, made) for pk, score, made, _at in alike), key=lambda row: row[1])
    return Best(submission_id, score, signature)


def from_best(entry: HistoryEntry, best: Best, track: Track) -> str:
    """``−1.2345``; empty where the two are not compared."""
    run = entry.run
    if run is None or run.final_score is None or run.signature_hash != best.signature_hash:
        return ""
    difference = run.final_score - best.score
    decimals = fewest_decimals(min(DECIMALS, track.score_decimals), track.score_scale, run.step)
    return formatting.signed_text(difference, track.score_scale, decimals)


def plot_of(entries: Sequence[HistoryEntry], phase: Phase) -> Line | None:
    """The scores in the order in which they were submitted, each that was the best until then marked."""
    points: list[Point] = []
    best: float | None = None
    for _pk, score, _made, at in reversed(_alike(entries, phase)):
        is_best = best is None or score > best
        best = score if best is None else max(best, score)
        points.append(Point(at, score * phase.track.score_scale, is_best))
    return line(points)


def _alike(entries: Sequence[HistoryEntry], phase: Phase) -> list[tuple[int, float, str, datetime]]:
    """Submission, score, signature and moment of those scored as the newest one, newest first."""
    found = [
        (entry.submission.pk, entry.run.final_score, entry.run.signature_hash, entry.created_at)
        for entry in entries
        if entry.submission is not None
        and entry.submission.withdrawn_at is None
        and entry.run is not None
        and entry.run.final_score is not None
    ]
    if not found or components_of(phase.track):
        return []
    return [row for row in found if row[2] == found[0][2]]
