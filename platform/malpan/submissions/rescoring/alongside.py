"""A submission uploaded while a rescoring batch is open gets a second run, by the rule of the batch."""

from __future__ import annotations

from malpan.competitions.locks import lock_phase_shared
from malpan.competitions.models import Phase
from malpan.submissions.evaluation import runs
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.models.rescore import RescoreBatch
from malpan.submissions.rescoring.batches import Selection, open_batch
from malpan.submissions.scoring_config import scoring_config_of


def enqueue_alongside(*, submission: Submission, cost: int | None = None) -> ScoringRun | None:
    """Queue the second run of ``submission``, for the open batch of its phase; ``None`` if no batch selects it.

    Call it in the transaction that queued the first, which has the shared lock on the phase. ``cost`` is in expected
    tokens; the default is that of its newest run.
    """
    phase = lock_phase_shared(submission.phase_id)
    batch = open_batch(phase)
    if batch is None or not _selects(batch, submission, phase):
        return None
    config = scoring_config_of(phase, batch)
    costs = None if cost is None else {submission.pk: cost}
    [run] = runs.queue_runs([submission], config, batch=batch, costs=costs)
    return run


def _selects(batch: RescoreBatch, submission: Submission, phase: Phase) -> bool:
    wanted = Selection.from_json(batch.selection).for_new_submissions
    if wanted is None or not wanted.submissions_of(phase).filter(pk=submission.pk).exists():
        return False
    return not batch.runs.filter(submission=submission).exclude(state=ScoringRun.State.FAILED).exists()
