"""The life of a scoring run: queued → running (attempt n, lease) → finished | failed.

The database is the truth and the queue a hint: a message that comes twice, late or never does no harm. Whose turn it is
says ``queueing``. Every move is one conditional update, so of any number of workers and reconcilers exactly one makes
it. No transaction is open while the engine works. This is the only module that reaches ``scoring.engine``, and only
from inside ``score``: a process that merely queues runs never loads a model library.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from functools import partial
from typing import Final

from django.conf import settings
from django.core.mail import mail_admins
from django.db import connection, transaction
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.locks import lock_phase_shared
from malpan.competitions.media import media_folder
from malpan.competitions.models import ReferenceVersion
from malpan.competitions.references import load_references, recipe_named
from malpan.core import audit
from malpan.core.storage import read_private
from malpan.submissions.errors import RunNotRetryable
from malpan.submissions.evaluation import pair_cache, queueing, results, reuse
from malpan.submissions.evaluation.faults import FaultsFail
from malpan.submissions.evaluation.leases import LeaseKeeper
from malpan.submissions.integrity import chain
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.quota import services as quota
from malpan.submissions.rescoring import batches
from scoring.records import ProgressCallback, ScoreReport
from scoring.running.pair_values import PairValues

logger = logging.getLogger(__name__)

CLOCK_SKEW_SECONDS: Final = 1  # a message that comes before the pause is over finds nothing
State = ScoringRun.State


def queue_run(
    *, submission: Submission, reference_version: ReferenceVersion | None = None, cost: int | None = None
) -> ScoringRun:
    """Create a run of ``submission`` and send its message when the transaction commits; the phase is held shared.

    Scored with the phase's current references (``ReferencesNotPublished``), by the track's recipe and model profile as
    they stand under that lock; with ``reference_version`` where one is named. While a rescoring batch is open that
    takes the submission, a second run is queued beside. ``cost`` is in expected tokens; without one, that of its newest
    run.
    """
    with transaction.atomic():
        phase = lock_phase_shared(submission.phase_id)
        rule = batches.rule_of(phase)
        run = ScoringRun(
            submission=submission,
            reference_version=reference_version or rule.reference_version,
            recipe=rule.recipe,
            profile=rule.profile,
            cost=cost or queueing.known_costs([submission])[submission.pk],
            queued_at=timezone.now(),
        )
        queueing.give_turns([run])
        run.save()
        second = batches.beside(submission, phase, run.cost)
        keys = [made.pk for made in (run, second) if made is not None]
        transaction.on_commit(lambda: queueing.send_runs(keys), robust=True)
    return run


def execute_run(*, run_id: int, worker: str) -> None:
    """Score this queued run, out of turn. Returns at once when it is not queued."""
    run = queueing.claim_run(run_id=run_id, worker=worker)
    if run is None:
        logger.info("run %s is not waiting; nothing to do", run_id)
        return
    execute(run)


def execute(run: ScoringRun) -> None:
    """Score a claimed run holding its lease, then finish it or fail it; a large one is cut into shards instead.

    Stops quietly when the lease is lost. Faults end in ``fail_run``; nothing is raised for them and no message of an
    exception is logged, as it may quote a text.
    """
    if queueing.is_large(run):
        from malpan.submissions.evaluation import shard_work  # which leads back here

        shard_work.plan(run)
        return
    fail = partial(fail_run, run_id=run.pk, attempt=run.attempt)
    with FaultsFail(f"run {run.pk}", run.attempt, fail), LeaseKeeper(run, recipe_named(run.recipe).metrics) as keeper:
        scored = score(run, progress=keeper.report, values=pair_cache.store_for(run))
        connection.close_if_unusable_or_obsolete()  # it lay idle while the engine worked
        finish_run(run_id=run.pk, attempt=run.attempt, report=scored.shown, hidden=scored.hidden)


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
            **results.result_of(report),
            is_demo_models=bool(report.signature.get("about", {}).get("is_demo", False)),
        )
        if not moved:
            logger.warning("run %s: late result of attempt %s refused", run_id, attempt)
            return False
        run = ScoringRun.objects.only("submission_id", "reference_version_id", "batch_id").get(pk=run_id)
        results.keep(run, report, hidden)
        batches.settle_later(run)
        if run.batch_id is None and Submission.objects.filter(pk=run.submission_id, live_run=None).update(live_run=run):
            chain.append_scores([run.submission])
    return True


def fail_run(*, run_id: int, attempt: int, error_code: str, pause: float = 0, for_good: bool = False) -> bool:
    """Note a fault of ours: queue the run again after ``pause`` seconds or, after the last attempt, give it up.

    ``for_good``: this attempt is the last one, as what failed was tried often enough by itself.

    A run given up is failed, its submission refunded (unless an earlier run of it counts) and the organiser alerted.
    False, and nothing done, when the run is no longer running under this attempt.
    """
    held = ScoringRun.objects.filter(pk=run_id, attempt=attempt, state=State.RUNNING)
    with transaction.atomic():
        if attempt < settings.RUN_MAX_ATTEMPTS and not for_good:
            moved = held.update(
                state=State.QUEUED,
                lease_expires_at=None,
                sent_at=None,
                error_code=error_code,
                not_before=timezone.now() + timedelta(seconds=pause) if pause else None,
            )
            if moved:
                logger.warning("run %s: attempt %s failed (%s); queued again", run_id, attempt, error_code)
                later = pause + CLOCK_SKEW_SECONDS if pause else 0
                transaction.on_commit(lambda: queueing.send_runs([run_id], pause=later), robust=True)
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


def score(
    run: ScoringRun, *, progress: ProgressCallback | None = None, values: PairValues | None = None
) -> results.Outcome:
    """Score each part of the references; what a metric gave an item in one part is not computed again in another.

    ``values`` knows pairs that need not be computed.
    """
    references = load_references(run.reference_version, run.recipe)
    data = read_private(run.submission.file_sha256)
    predictions = reuse.read_answers(run, data, references)
    covers_all = run.submission.phase.private_covers_all
    reports: dict[str, ScoreReport] = {}
    learned: results.Known = reuse.reusable_values(run, references, predictions)
    for part in results.parts_of(run.reference_version, references, predictions, private_covers_all=covers_all):
        reports[part.name] = _score_part(run, part, learned, progress, values)
        results.learn(learned, reports[part.name])
    return results.Outcome(shown=reports.get("all") or reports["public"], hidden=reports.get("private"))


def _score_part(
    run: ScoringRun,
    part: results.Part,
    learned: results.Known,
    progress: ProgressCallback | None,
    values: PairValues | None,
) -> ScoreReport:
    from scoring import engine  # here alone: it loads the analysers and, on need, the models
    from scoring.metrics import MetricOptions

    return engine.score(
        run.recipe,
        part.references,
        part.predictions,
        profile=run.profile,
        device=settings.SCORING_DEVICE,
        progress=progress,
        known=learned if reuse.is_repeat(run) else results.merged(learned, results.known_values(run, part)),
        options=MetricOptions(media=media_folder(run.reference_version)),
        pair_values=values,
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
