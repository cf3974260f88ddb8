"""Runs that wait for an LLM judge: what their rows say, and one mail for all that wait for the same.

The mail of a cause (a budget that is used up, a server that is away) is sent when the first run of a model profile
begins to wait for it, and not again before the last run of the profile that had to wait for it is over.
"""

from __future__ import annotations

from django.core.mail import mail_admins
from django.db import transaction
from django.db.models import Q

from malpan.jobs.models import OPEN, Job
from malpan.submissions.models import JudgeUsage, ScoringRun


def note(job: Job, *, run_job: int, is_new: bool) -> None:
    """Write to the run why it waits, and tell the organiser if nobody was told; in the transaction of the move.

    ``job`` waits, that of a run or of a slice of it; ``run_job`` is the run's.
    """
    ScoringRun.objects.filter(job=run_job).update(error_code=job.error_code)
    if not is_new:
        return
    run = ScoringRun.objects.select_related("submission__phase__track__competition").get(job=run_job)
    _lock(run.profile)
    if not _is_told(job, run.profile):
        subject, body = _mail(run)
        transaction.on_commit(lambda: mail_admins(subject, body, fail_silently=True), robust=True)


def forget(run_job: int) -> None:
    """A slice of the run is being tried again."""
    ScoringRun.objects.filter(job=run_job).exclude(error_code="").update(error_code="")


def _lock(profile: str) -> None:
    """Let nobody else tell of ``profile`` until the transaction ends."""
    JudgeUsage.objects.bulk_create([JudgeUsage(profile=profile)], ignore_conflicts=True)
    JudgeUsage.objects.select_for_update(no_key=True).get(profile=profile)


def _is_told(job: Job, profile: str) -> bool:
    """Whether another job of ``profile`` that is not over has waited for the same."""
    waiting = {"state__in": OPEN, "waiting_since__isnull": False, "error_code": job.error_code}
    others = Job.objects.filter(**waiting).exclude(pk=job.pk)
    runs = ScoringRun.objects.filter(profile=profile)
    return runs.filter(Q(job__in=others) | Q(job__in=others.values("parent"))).exists()


def _mail(run: ScoringRun) -> tuple[str, str]:
    """Subject and body of the mail about the first run that waits."""
    subject = f"채점 대기: {run.submission.phase.track.competition} / run {run.pk}"
    body = (
        f"채점 {run.pk}이(가) 심사 모델을 기다립니다({run.error_code}, 모델 프로필 {run.profile}).\n"
        "예산을 다 썼다면 모델 프로필 [judge]의 max_requests나 max_tokens_total을 늘리십시오. "
        "심사 모델 서버가 응답하지 않으면 서버를 확인하십시오.\n"
        "기다리는 채점은 저절로 이어집니다. 이미 받은 심사는 데이터베이스에 보관하며 다시 묻지 않습니다.\n"
        "이 프로필에서 같은 까닭으로 기다리는 채점이 모두 끝날 때까지 이 메일은 다시 보내지 않습니다. 기다리는 채점은 "
        "관리 화면의 ‘채점’에 있습니다.\n"
    )
    return subject, body
