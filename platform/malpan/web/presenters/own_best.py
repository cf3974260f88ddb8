"""Whether a result differs from the best other one of its team by more than chance: in words, as a worker found it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from malpan.competitions.composites import components_of
from malpan.leaderboard.comparing.asking import comparison_of
from malpan.leaderboard.comparing.own import TEXT_DECIMALS
from malpan.submissions.models import Submission
from malpan.submissions.selectors import OwnScore
from malpan.submissions.visibility import ShownRun
from malpan.web.presenters import comparison, formatting
from scoring.recipes.targets import FINAL_SCORE


@dataclass(frozen=True, slots=True)
class OwnBest:
    """The best ``other`` submission and what is known of the ``difference`` of this one to it; ``is_waiting``: a worker
    has yet to test it.
    """

    other: Submission
    difference: str
    is_waiting: bool
    tested: comparison.Tested


def own_best_of(submission: Submission, run: ShownRun, own: Sequence[OwnScore]) -> OwnBest | None:
    """Against the best of ``own``, the public scores of the team; ``None`` where no other one was scored alike, where
    scores are withheld or rounded, or a composite ranks. A worker is asked for what is not known yet.
    """
    best = _best_other(submission, run, own)
    if best is None or run.final_score is None or not run.is_exact or components_of(submission.phase.track):
        return None
    is_later = (submission.created_at, submission.pk) > (best.submission.created_at, best.submission.pk)
    runs = submission.live_run, best.submission.live_run
    one, other = runs[::-1] if is_later else runs
    if one is None or other is None:
        return None
    row, track = comparison_of(one, other), submission.phase.track
    decimals = min(TEXT_DECIMALS, track.score_decimals)
    return OwnBest(
        other=best.submission,
        difference=formatting.signed_text(run.final_score - best.final_score, track.score_scale, decimals),
        is_waiting=row.computed_at is None,
        tested=comparison.known_of(row, FINAL_SCORE, track.score_scale, decimals, is_turned=not is_later),
    )


def _best_other(submission: Submission, run: ShownRun, own: Sequence[OwnScore]) -> OwnScore | None:
    alike = (
        each
        for each in own
        if each.counts
        and each.is_exact
        and each.submission.pk != submission.pk
        and each.submission.live_run is not None
        and each.submission.live_run.signature_hash == run.signature_hash
    )
    return max(alike, key=lambda each: each.final_score, default=None)
