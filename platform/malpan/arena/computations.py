"""What takes seconds of arithmetic is computed by a job, once for the same input: results, effects of exclusions,
plans.

A web process asks here and reads the answer; it computes nothing, and loads no numpy. As with the standings of a board,
the first who looks after a change has it computed. The input is in the row, so that a killed attempt is simply done
again, and an answer is of exactly that input, whatever has changed meanwhile.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from malpan.arena.errors import ComputationFailed, ComputationNotFound, StillComputing
from malpan.arena.models import Campaign, Computation
from malpan.competitions.models import Competition
from malpan.jobs import outcome, queue
from malpan.jobs.models import Job
from scoring.arena import INSTRUMENT

JOB: Final = "compute_figures"
AGAIN_AFTER: Final = timedelta(minutes=1)  # since a computation was given up
REST: Final = timedelta(seconds=5)  # before the figures of open campaigns are computed again …
SHARE: Final = 20  # … and so many times as long as they took the last time
KEPT: Final = 20  # answers of a kind, of a campaign or of a competition's plans

Kind = Computation.Kind


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be computed. ``given``: canonical JSON; ``subject``: what it is about within its kind. A plan has no
    campaign; its ``cost`` is in simulated votes, for its turn in the queue.
    """

    competition: Competition
    kind: Kind
    given: bytes
    campaign: Campaign | None = None
    subject: str = ""
    cost: int = 1


@dataclass(frozen=True, slots=True)
class Answer:
    """``content``: canonical JSON. ``of``: since when it is out of date, ``None`` if it answers what was asked;
    ``waiting`` is the primary key of the computation that will, ``None`` while it rests.
    """

    content: bytes
    of: datetime | None = None
    waiting: int | None = None


def answer_to(question: Question) -> bytes:
    """The answer, if there is one; otherwise a worker is asked for it.

    Raises ``StillComputing``, ``ComputationFailed``.
    """
    row = _asked(question)
    if row.answered_at is not None:
        return bytes(row.answer)
    if _is_given_up(row):
        raise ComputationFailed
    raise StillComputing(computation=row.pk)


def ask(question: Question) -> Computation:
    """Have a worker answer ``question``, unless it is answered; in the caller's transaction, if there is one."""
    return _asked(question)


def answer_or_former(question: Question) -> Answer:
    """As ``answer_to``, but while judges are at work the last answer to a former question will do; at most one
    computation of its kind and subject is under way then, and none until the last one has rested.
    """
    assert question.campaign is not None
    if question.campaign.closed_at is not None or _is_answered(question):
        return Answer(answer_to(question))
    former = _alike(question).filter(answered_at__isnull=False).order_by("-asked_at", "-pk").first()
    open_rows = _alike(question).filter(answered_at=None).exclude(job__state=Job.State.FAILED)
    row = open_rows.order_by("-asked_at", "-pk").first()
    if row is None and former is not None and _rests(former):
        return Answer(bytes(former.answer), former.asked_at)
    row = row or _asked(question)
    if former is not None:
        return Answer(bytes(former.answer), former.asked_at, row.pk)
    if _is_given_up(row):
        raise ComputationFailed
    raise StillComputing(computation=row.pk)


def computation_of(competition: Competition, pk: int) -> Computation:
    """A computation of ``competition``, without input and answer. Raises ``ComputationNotFound``."""
    rows = Computation.objects.select_related("job").defer("given", "answer")
    row = rows.filter(competition=competition, pk=pk).first()
    if row is None:
        raise ComputationNotFound
    return row


def is_under_way(row: Computation) -> bool:
    """Whether a worker is at ``row``, or will be."""
    return row.answered_at is None and not _is_given_up(row)


def keep_answer(*, row: Computation, answer: bytes, job: Job | None = None) -> bool:
    """Write ``answer`` and finish ``job``; old answers of the same kind are let go of.

    Returns false and writes nothing where the job is no longer running with this attempt.
    """
    with transaction.atomic():
        if job is not None and not outcome.finish(job_id=job.pk, attempt=job.attempt):
            return False
        Computation.objects.filter(pk=row.pk, answered_at=None).update(
            answer=answer, given=b"", answered_at=timezone.now()
        )
        alike = Computation.objects.filter(
            competition=row.competition_id, campaign=row.campaign_id, kind=row.kind, answered_at__isnull=False
        )
        kept = list(alike.order_by("-asked_at", "-pk").values_list("pk", flat=True)[:KEPT])
        alike.exclude(pk__in=kept).delete()
    return True


def store(question: Question) -> Computation:
    """The row of ``question``, made where there is none; nothing is queued."""
    fields = {
        "campaign": question.campaign,
        "subject": question.subject,
        "given": question.given,
        "asked_at": timezone.now(),
    }
    rows = Computation.objects.select_related("job")
    return rows.get_or_create(**_key(question), defaults=fields)[0]


def _asked(question: Question) -> Computation:
    """The row of ``question``, with a job unless it is answered. It is queued again long after it was given up."""
    with transaction.atomic():
        row = store(question)
        if row.answered_at is None and _is_to_be_queued(row):
            flow = f"{'plans' if question.kind == Kind.PLAN else 'arena'}-{row.competition_id}"
            [row.job] = queue.add(kind=JOB, flow=flow, lane=Job.Lane.LIVE, costs=[question.cost])
            row.save(update_fields=["job"])
    return row


def _is_to_be_queued(row: Computation) -> bool:
    """Whether ``row`` has no job that may still answer, and this transaction is the one to give it one."""
    job, moment = row.job, timezone.now() - AGAIN_AFTER
    if job is None:
        locked = Computation.objects.select_for_update(no_key=True).filter(pk=row.pk, job=None)
        return locked.values_list("pk", flat=True).first() is not None
    if job.state != Job.State.FAILED or job.finished_at is None or job.finished_at > moment:
        return False
    return bool(Computation.objects.filter(pk=row.pk, job=job).update(job=None))


def _key(question: Question) -> dict[str, object]:
    sha256 = hashlib.sha256(question.given).hexdigest()
    return {
        "competition": question.competition,
        "kind": question.kind,
        "given_sha256": sha256,
        "instrument": INSTRUMENT,
    }


def _is_answered(question: Question) -> bool:
    return Computation.objects.filter(**_key(question), answered_at__isnull=False).exists()


def _alike(question: Question) -> QuerySet[Computation]:
    return Computation.objects.select_related("job").filter(
        campaign=question.campaign, kind=question.kind, subject=question.subject, instrument=INSTRUMENT
    )


def _rests(row: Computation) -> bool:
    """Whether it is too early to compute what ``row`` answers for newer votes."""
    if row.job is None or row.job.started_at is None or row.answered_at is None:
        return False
    took = row.answered_at - row.job.started_at
    return timezone.now() < row.answered_at + REST + SHARE * took


def _is_given_up(row: Computation) -> bool:
    return row.answered_at is None and row.job is not None and row.job.state == Job.State.FAILED
