"""Nearly equal answers in a phase, for its organisers: asked for by a page, found by a worker, stored in one row.

Nothing is compared for a phase that nobody looks at. What changed is compared again when somebody looks, after a pause
of ten times what the last comparison took: at most a tenth of a worker's time goes into it. All files are compared
then, as the weight of an answer depends on all the others.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, Final

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase
from malpan.core.errors import SystemFault
from malpan.jobs import outcome, queue, registry
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import OPEN, Job
from malpan.submissions.integrity.duplicates import basis_of, compare_files
from malpan.submissions.integrity.similarity import Pair
from malpan.submissions.manage_selectors import best_files
from malpan.submissions.models import AlikeFiles, Submission

ALIKE: Final = "alike_files"  # the kind of the jobs
SHARE: Final = 10
AGAIN_AFTER: Final = timedelta(minutes=1)  # since a comparison was given up
_COST: Final = 1


class FilesNotCompared(SystemFault):
    """Comparing the files of a phase failed by an error of ours. Nothing else depends on it."""

    text = _("제출 파일을 서로 비교하지 못했습니다. 점수와 순위에는 영향이 없습니다.")


@dataclass(frozen=True, slots=True)
class AlikePair:
    """Two best submissions of different teams, the earlier first, and how alike they are."""

    one: Submission
    other: Submission
    pair: Pair


@dataclass(frozen=True, slots=True)
class Alike:
    """``unread`` of the ``teams`` files could not be read and are not compared; ``computed_at``: when, ``None`` before
    the first result. ``is_waiting``: a worker is to compare. ``is_current``: the very files of now were compared.
    """

    pairs: Sequence[AlikePair]
    teams: int
    unread: int
    computed_at: datetime | None
    is_waiting: bool
    is_current: bool
    has_failed: bool


def alike_in(phase: Phase) -> Alike:
    """The pairs of best submissions of ``phase`` that a worker found nearly equal, the most alike first.

    A worker is asked to compare where the files of now are others, behind all scoring.
    """
    basis = basis_of(phase, best_files(phase.pk))
    row = AlikeFiles.objects.select_related("job").filter(phase=phase).first()
    if row is None or _is_due(row, basis):
        row = _asked(phase, basis)
    return Alike(
        pairs=_pairs_of(row),
        teams=row.teams,
        unread=row.unread,
        computed_at=row.computed_at,
        is_waiting=_is_open(row),
        is_current=row.basis == basis,
        has_failed=row.has_failed,
    )


def _is_open(row: AlikeFiles) -> bool:
    return row.job is not None and row.job.state in OPEN


def _is_due(row: AlikeFiles, basis: str) -> bool:
    """Whether nobody compares the files of now, and somebody should."""
    if _is_open(row):
        return False
    if row.computed_at is None:
        return True
    pause = AGAIN_AFTER if row.has_failed else timedelta(seconds=SHARE * row.seconds)
    return row.basis != basis and row.computed_at + pause <= timezone.now()


def _asked(phase: Phase, basis: str) -> AlikeFiles:
    with transaction.atomic():
        AlikeFiles.objects.bulk_create([AlikeFiles(phase=phase)], ignore_conflicts=True)
        rows = AlikeFiles.objects.select_for_update(no_key=True, of=("self",)).select_related("job")
        row = rows.get(phase=phase)
        if _is_due(row, basis):
            before = row.job_id
            [row.job] = queue.add(kind=ALIKE, flow=f"phase:{phase.pk}", lane=Job.Lane.FIGURES, costs=[_COST])
            row.save(update_fields=["job"])
            if before is not None:
                Job.objects.filter(pk=before).delete()  # it says nothing that the row does not
    return row


def _pairs_of(row: AlikeFiles) -> list[AlikePair]:
    """The stored pairs whose submissions are still there; one query for all of them."""
    found = [Pair(**pair) for pair in row.pairs]
    keys = {int(name) for pair in found for name in (pair.one, pair.other)}
    known = Submission.objects.filter(phase=row.phase_id).select_related("team", "phase__track").in_bulk(keys)
    pairs = ((known.get(int(pair.one)), known.get(int(pair.other)), pair) for pair in found)
    return [_in_order(one, other, pair) for one, other, pair in pairs if one is not None and other is not None]


def _in_order(one: Submission, other: Submission, pair: Pair) -> AlikePair:
    first, second = sorted((one, other), key=lambda row: (row.created_at, row.pk))
    return AlikePair(first, second, pair)


class CompareFiles(registry.Handler):
    """Compares the files of the phase whose row names the job."""

    crashed = FilesNotCompared

    def work(self, job: Job, lease: LeaseRenewer) -> None:
        wanted = AlikeFiles.objects.select_related("phase__track").get(job=job)
        began = time.monotonic()
        best = best_files(wanted.phase_id)
        basis = basis_of(wanted.phase, best)
        found = compare_files(wanted.phase, best)
        fields = {"basis": basis, "pairs": [asdict(pair) for pair in found.pairs], "unread": found.unread}
        fields |= {"teams": len(best), "seconds": time.monotonic() - began, "has_failed": False}
        outcome.written(job, lambda: _store(job, fields))

    def given_up(self, job: Job) -> None:
        empty = AlikeFiles.objects.filter(job=job)
        empty.update(basis="", pairs=[], teams=0, unread=0, has_failed=True, computed_at=timezone.now())


def register() -> None:
    """Let this process compare files."""
    registry.register(ALIKE, CompareFiles())


def _store(job: Job, fields: dict[str, Any]) -> bool:
    with transaction.atomic():
        if not outcome.finish(job_id=job.pk, attempt=job.attempt):
            return False
        AlikeFiles.objects.filter(job=job).update(computed_at=timezone.now(), **fields)
    return True
