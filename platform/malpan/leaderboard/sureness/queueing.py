"""Which boards a worker has to look at: those whose standings are others than when their sureness was computed.

One job a board at a time, behind all scoring. A board is computed again only after a pause of twenty times what the
last computation took: at most a twentieth of a worker's time goes into it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import DurationField, Exists, ExpressionWrapper, F, FloatField, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Cast, Now

from malpan.competitions.models import Phase
from malpan.core.one_by_one import one_by_one
from malpan.jobs import queue
from malpan.jobs.models import OPEN, Job
from malpan.leaderboard.models import BoardSnapshot, BoardSureness, Standing

SURENESS: Final = "sureness"  # the kind of the jobs
PAUSE: Final = timedelta(seconds=10)
SHARE: Final = 20
_COST: Final = 1
Scope = Standing.Scope


def queue_due() -> int:
    """Queue a job for every board that is due and has none; returns how many. Three queries where none is."""
    due = [
        *((phase, Scope.LIVE, None) for phase in _due_phases(Scope.LIVE)),
        *((phase, Scope.FROZEN, None) for phase in _due_phases(Scope.FROZEN).exclude(frozen_at=None)),
        *((each.phase, Scope.LIVE, each) for each in _due_snapshots()),
    ]
    return sum(one_by_one(due, lambda board: _queue(*board), "the boards to look at"))


def _due_phases(scope: str) -> QuerySet[Phase]:
    """The phases with standings whose sureness is of others, which nobody computes, and whose pause is over."""
    of_scope = BoardSureness.objects.filter(phase=OuterRef("pk"), scope=scope, snapshot=None)
    pause = ExpressionWrapper(
        Value(PAUSE) + Cast(F("seconds"), FloatField()) * Value(timedelta(seconds=SHARE)), output_field=DurationField()
    )
    rests = of_scope.annotate(next_at=F("computed_at") + pause).filter(next_at__gt=Now())
    is_done = of_scope.filter(version=OuterRef("standings_version__value"))
    has_standings = Phase.objects.filter(standings_version__isnull=False)
    return has_standings.filter(~Exists(is_done), ~Exists(of_scope.filter(job__state__in=OPEN)), ~Exists(rests))


def _due_snapshots() -> QuerySet[BoardSnapshot]:
    """Those that were never computed, or by an earlier version that looked into no items; not those of days, which are
    many.
    """
    never = Q(sureness__stamp=None) | Q(sureness__items_found=None, sureness__reason="")
    is_due = Q(sureness=None) | never & ~Q(sureness__job__state__in=OPEN)
    kept = BoardSnapshot.objects.exclude(kind=BoardSnapshot.Kind.DAY)
    return kept.filter(is_due).defer("rows").select_related("phase")


def _queue(phase: Phase, scope: str, snapshot: BoardSnapshot | None) -> bool:
    """Queue the job of a board, unless another process has just done so."""
    with transaction.atomic():
        BoardSureness.objects.bulk_create(
            [BoardSureness(phase=phase, scope=scope, snapshot=snapshot)], ignore_conflicts=True
        )
        rows = BoardSureness.objects.select_for_update(skip_locked=True, no_key=True, of=("self",))
        wanted = rows.filter(phase=phase, scope=scope, snapshot=snapshot).select_related("job").first()
        if wanted is None or (wanted.job is not None and wanted.job.state in OPEN):
            return False
        before = wanted.job_id
        [wanted.job] = queue.add(kind=SURENESS, flow=f"phase:{phase.pk}", lane=Job.Lane.FIGURES, costs=[_COST])
        wanted.save(update_fields=["job"])
        if before is not None:
            Job.objects.filter(pk=before).delete()  # it says nothing that the row does not
    return True
