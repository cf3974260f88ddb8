"""The life of a scoring run: queued → running (attempt n, lease) → finished | failed.

The database is the truth and the queue a hint: a message that comes twice, late or never does no harm. Every move is
one conditional update, so of any number of workers and reconcilers exactly one makes it. No transaction is open while
the engine works. This is the only module that reaches ``scoring.engine``, and only from inside ``_score``: a process
that merely queues runs never loads a model library.
"""

from __future__ import annotations

import logging
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Final, Self

from django.conf import settings
from django.core.mail import mail_admins
from django.db import connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerAway

from accounts.models import User
from competitions.media import media_folder
from competitions.models import ReferenceVersion
from competitions.references import load_references, recipe_named
from core import audit
from core.errors import ModelMissing, RunNotRetryable, ScoringCrashed, SystemFault
from core.storage import read_private
from scoring.errors import ModelUnavailable
from scoring.records import ProgressCallback, ScoreReport
from submissions import batches, chain, parts, quota, reuse
from submissions.leases import LeaseKeeper, LeaseLost, lease_length
from submissions.models import ScoringRun, Submission

logger = logging.getLogger(__name__)

RETRY_PAUSE_SECONDS: Final = 5  # times the attempt number: a fault that passes gets time to pass
State = ScoringRun.State


def queue_run(*, submission: Submission, reference_version: ReferenceVersion | None = None) -> ScoringRun:
    """Create a run of ``submission`` and send its message when the transaction commits; the phase is held shared.

    Scored with the phase's current references (``ReferencesNotPublished``), by the track's recipe and model profile as
    they stand under that lock; with ``reference_version`` where one is named. While a rescoring batch is open that
    takes the submission, a second run is queued beside.
    """
    with transaction.atomic():
        phase = batches.hold_rule(submission.phase_id)
        rule = batches.rule_of(phase)
        run = ScoringRun.objects.create(
            submission=submission,
            reference_version=reference_version or rule.reference_version,
            recipe=rule.recipe,
            profile=rule.profile,
            queued_at=timezone.now(),
        )
        second = batches.beside(submission, phase)
        keys = [made.pk for made in (run, second) if made is not None]
        transaction.on_commit(lambda: send_runs(keys), robust=True)
    return run


def send_runs(run_ids: Sequence[int]) -> None:
    """Tell the workers about queued runs, until the broker is away: the reconciler sends the rest."""
    for run_id in run_ids:
        if not send_run(run_id=run_id):
            return


def send_run(*, run_id: int, countdown: float = 0) -> bool:
    """Tell the workers about a queued run. When the broker is away the run stays queued for the reconciler: False."""
    from submissions.tasks import score_run  # the task imports this module

    queued = ScoringRun.objects.filter(pk=run_id, state=State.QUEUED)
    priority = batches.BATCH_PRIORITY if queued.filter(batch__isnull=False).exists() else None
    try:
        score_run.apply_async(args=[run_id], countdown=countdown or None, retry=False, priority=priority)
    except BrokerAway:
        logger.warning("run %s stays queued: the broker is away; the reconciler will send it", run_id)
        queued.update(sent_at=None)
        return False
    queued.update(sent_at=timezone.now())
    return True


def execute_run(*, run_id: int, worker: str) -> None:
    """Score one queued run: claim it, score it holding its lease, then finish it or fail it.

    Returns at once when the run is not queued: a message may come twice. Stops quietly when the lease is lost. Faults
    end in ``fail_run``; nothing is raised for them and no message of an exception is logged, as it may quote a text.
    """
    run = claim_run(run_id=run_id, worker=worker)
    if run is None:
        logger.info("run %s is not waiting; nothing to do", run_id)
        return
    with _FaultsFailTheRun(run), LeaseKeeper(run, recipe_named(run.recipe).metrics) as keeper:
        scored = _score(run, keeper.report)
        connection.close_if_unusable_or_obsolete()  # it lay idle while the engine worked
        finish_run(run_id=run.pk, attempt=run.attempt, report=scored.shown, hidden=scored.hidden)


def claim_run(*, run_id: int, worker: str) -> ScoringRun | None:
    """Move a queued run to running under a new attempt number, or ``None`` when it is not queued (any more)."""
    now = timezone.now()
    with transaction.atomic():
        run = ScoringRun.objects.select_for_update().filter(pk=run_id, state=State.QUEUED).first()
        if run is None:
            return None
        run.state, run.attempt, run.worker = State.RUNNING, run.attempt + 1, worker[:120]
        run.started_at, run.lease_expires_at = now, now + lease_length()
        run.stage, run.progress = "", 0.0
        run.save(update_fields=["state", "attempt", "worker", "started_at", "lease_expires_at", "stage", "progress"])
    return ScoringRun.objects.select_related("submission__phase__track", "reference_version", "batch").get(pk=run_id)


def finish_run(*, run_id: int, attempt: int, report: ScoreReport, hidden: ScoreReport | None = None) -> bool:
    """Write the result of ``attempt`` with its item values, and make the run live if its submission has none.

    ``report`` is of all items or, where ``hidden`` is of the private part, of the public one.
    False, and nothing written, when the run is no longer running under this attempt: a late result is refused.
    """
    now = timezone.now()
    with transaction.atomic():
        moved = ScoringRun.objects.filter(pk=run_id, attempt=attempt, state=State.RUNNING).update(
            state=State.FINISHED,
            finished_at=now,
            lease_expires_at=None,
            progress=1.0,
            error_code="",
            **parts.result_of(report),
            is_demo_models=bool(report.signature.get("about", {}).get("is_demo", False)),
        )
        if not moved:
            logger.warning("run %s: late result of attempt %s refused", run_id, attempt)
            return False
        run = ScoringRun.objects.only("submission_id", "reference_version_id", "batch_id").get(pk=run_id)
        parts.keep(run, report, hidden)
        batches.settle_later(run)
        if run.batch_id is None and Submission.objects.filter(pk=run.submission_id, live_run=None).update(live_run=run):
            chain.append_scores([run.submission])
    return True


def fail_run(*, run_id: int, attempt: int, error_code: str, pause: float = 0) -> bool:
    """Note a fault of ours: queue the run again after ``pause`` seconds or, after the last attempt, give it up.

    A run given up is failed, its submission refunded (unless an earlier run of it counts) and the organiser alerted.
    False, and nothing done, when the run is no longer running under this attempt.
    """
    held = ScoringRun.objects.filter(pk=run_id, attempt=attempt, state=State.RUNNING)
    with transaction.atomic():
        if attempt < settings.RUN_MAX_ATTEMPTS:
            moved = held.update(state=State.QUEUED, lease_expires_at=None, sent_at=None, error_code=error_code)
            if moved:
                logger.warning("run %s: attempt %s failed (%s); queued again", run_id, attempt, error_code)
                transaction.on_commit(lambda: send_run(run_id=run_id, countdown=pause), robust=True)
            return bool(moved)
        moved = held.update(
            state=State.FAILED, lease_expires_at=None, finished_at=timezone.now(), error_code=error_code
        )
        if moved:
            _give_up(ScoringRun.objects.select_related("submission__phase__track__competition").get(pk=run_id))
        return bool(moved)


def retry_failed_run(*, run: ScoringRun, actor: User) -> ScoringRun:
    """Score once more, as a new run, a submission whose run was given up; its refund is taken back.

    Raises ``RunNotRetryable``, and ``QuotaExceeded`` when the team has used the refunded slot meanwhile.
    """
    submission = Submission.objects.select_related("phase__track", "team").get(pk=run.submission_id)
    with transaction.atomic():
        quota.lock_team_of(submission)
        submission.refresh_from_db(fields=["refunded_at", "live_run"])
        newest = submission.runs.filter(batch=None).order_by("-pk").first()
        if newest is None or newest.state != State.FAILED or submission.live_run_id is not None:
            raise RunNotRetryable(state=newest.get_state_display() if newest else "")
        quota.charge_again(submission=submission, actor=actor)
        retried = queue_run(submission=submission)
        audit.record(actor=actor, action="run.retry", obj=retried, after={"failed_run": run.pk})
    return retried


class _FaultsFailTheRun:
    """The worker's boundary: whatever stops the scoring is written to the run, without quoting a text of anybody."""

    def __init__(self, run: ScoringRun) -> None:
        self._run = run

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception):  # nothing wrong, or the process is being stopped: the lease will run out
            return False
        run = self._run
        if isinstance(error, LeaseLost):
            logger.info("run %s: attempt %s stops, the run is in other hands", run.pk, run.attempt)
            return True
        _log_fault(run, error, trace)
        connection.close_if_unusable_or_obsolete()
        fail_run(
            run_id=run.pk, attempt=run.attempt, error_code=_code_of(error), pause=RETRY_PAUSE_SECONDS * run.attempt
        )
        return True


def _code_of(error: Exception) -> str:
    if isinstance(error, SystemFault):
        return error.code
    return ModelMissing.code if isinstance(error, ModelUnavailable) else ScoringCrashed.code


def _log_fault(run: ScoringRun, error: Exception, trace: TracebackType | None) -> None:
    """Where it stopped and on what kind of error. A missing model also says which command fetches it."""
    advice = f": {error}" if isinstance(error, ModelUnavailable) else ""
    places = "".join(traceback.format_tb(trace))
    logger.error("run %s: attempt %s: %s%s\n%s", run.pk, run.attempt, type(error).__name__, advice, places)


def _score(run: ScoringRun, progress: ProgressCallback) -> parts.Outcome:
    """Score each part of the references; what a metric gave an item in one part is not computed again in another."""
    references = load_references(run.reference_version, run.recipe)
    data = read_private(run.submission.file_sha256)
    predictions = reuse.read_answers(run, data, references)
    covers_all = run.submission.phase.private_covers_all
    reports: dict[str, ScoreReport] = {}
    learned: parts.Known = reuse.reusable_values(run, references, predictions)
    for part in parts.parts_of(run.reference_version, references, predictions, private_covers_all=covers_all):
        reports[part.name] = _score_part(run, part, learned, progress)
        parts.learn(learned, reports[part.name])
    return parts.Outcome(shown=reports.get("all") or reports["public"], hidden=reports.get("private"))


def _score_part(run: ScoringRun, part: parts.Part, learned: parts.Known, progress: ProgressCallback) -> ScoreReport:
    from scoring import engine  # here alone: it loads the analysers and, on need, the models
    from scoring.metrics import MetricOptions

    return engine.score(
        run.recipe,
        part.references,
        part.predictions,
        profile=run.profile,
        device=settings.SCORING_DEVICE,
        progress=progress,
        known=learned if reuse.is_repeat(run) else parts.merged(learned, parts.known_values(run, part)),
        options=MetricOptions(media=media_folder(run.reference_version)),
    )


def _give_up(run: ScoringRun) -> None:
    """Refund and alert, in the transaction that failed the run."""
    logger.error("run %s of submission %s is given up: %s", run.pk, run.submission_id, run.error_code)
    if run.batch_id is None and run.submission.live_run_id is None:
        quota.refund(submission=run.submission, reason=run.error_code)
    subject = f"채점 실패: {run.submission.phase.track.competition} / run {run.pk}"
    body = (
        f"채점 {run.pk}이(가) {run.attempt}번 시도 끝에 실패했습니다({run.error_code}).\n"
        f"제출: {run.submission.public_id}. 관리 화면의 ‘채점’에서 다시 시도할 수 있습니다.\n"
    )
    transaction.on_commit(lambda: mail_admins(subject, body, fail_silently=True), robust=True)
