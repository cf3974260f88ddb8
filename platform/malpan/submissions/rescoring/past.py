"""What applied rescorings changed of one submission, for its team: the score before, the score after, and why."""

from __future__ import annotations

from dataclasses import dataclass

from malpan.submissions.models import RescoreBatch, ScoringRun, Submission
from malpan.submissions.visibility import ShownScores, shown_scores


@dataclass(frozen=True, slots=True)
class Rescored:
    """An applied ``batch`` with the run that counted before it and the one that counted from then on."""

    batch: RescoreBatch
    before: ScoringRun
    after: ScoringRun


def rescorings_of(submission: Submission) -> list[Rescored]:
    """The applied rescorings of ``submission`` with a score before and after, the newest first. Its runs must be
    prefetched; one query more if any is of a batch.
    """
    runs = sorted((run for run in submission.runs.all() if run.state == ScoringRun.State.FINISHED), key=_number)
    wanted = {run.batch_id for run in runs if run.batch_id is not None}
    if not wanted:
        return []
    applied = RescoreBatch.objects.filter(state=RescoreBatch.State.APPLIED, repeats=1).in_bulk(wanted)
    found: list[Rescored] = []
    before: ScoringRun | None = None
    for run in runs:
        batch = applied.get(run.batch_id) if run.batch_id is not None else None
        if run.batch_id is not None and batch is None:
            continue
        if found and batch is not None and found[-1].batch.pk == batch.pk:  # scored twice in a batch: the newer counts
            found[-1] = Rescored(batch, found[-1].before, run)
        elif batch is not None and before is not None:
            found.append(Rescored(batch, before, run))
        before = run
    return found[::-1]


def shown_before_and_after(rescored: Rescored, submission: Submission, *, sees_all: bool) -> list[ShownScores]:
    """Both scores as the reader may see them. Where only rising scores are public, an earlier score may never have
    been: none is told before the final board.
    """
    shown = [shown_scores(run, submission, sees_all=sees_all) for run in (rescored.before, rescored.after)]
    if not shown[0].is_exact and submission.phase.is_ladder:
        return [ShownScores("ladder")] * 2
    return shown


def _number(run: ScoringRun) -> int:
    return run.pk
