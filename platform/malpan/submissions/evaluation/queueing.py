"""The queue: which run is taken next, and the messages that say there is work.

A message names no run. It means "there is work", and the worker that takes it claims the run whose turn it is from the
database; so the order can be a fair one, and a message that is lost, late or doubled takes nobody's turn. There are at
least as many messages as runs that wait; one too many finds nothing, and the reconciler sends what was lost again.

The order: live runs before those of rescoring batches. Among live runs teams take turns by *self-clocked fair queueing*
(S. J. Golestani, "A self-clocked fair queueing scheme for broadband applications", INFOCOM 1994). A run gets a tag when
it is queued,

    tag = max(virtual time, tag of the last run that its team has waiting) + cost in tokens,

and the smallest tag is taken first, then the older run. The virtual time is the highest tag taken so far. So a team
that sends ten files gets as many tokens scored in a while as one that sends two; a small run passes a huge one; and a
huge one is reached after the others have had its worth of tokens each, however many come. Among batches the flow is the
batch. A run that is tried again keeps its tag.

Two runs of one team that are queued in the very same moment without its lock may bear tags of the same start: the team
gains the cost of one run once, and nothing else happens. Uploads and retries hold the lock. Tags grow by the tokens
that are queued: 64 bits last for a hundred million runs of the largest file, a thousand times over.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import datetime
from itertools import accumulate
from typing import Final

from django.conf import settings
from django.db import transaction
from django.db.models import F, Max, OuterRef, Q, QuerySet, Subquery
from django.db.models.lookups import IsNull
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerAway

from malpan.competitions.models import Competition
from malpan.submissions.evaluation.leases import lease_length
from malpan.submissions.models import RescoreBatch, RunShard, ScoringRun, Submission
from scoring.running.costs import tokens_of_file

logger = logging.getLogger(__name__)
State = ScoringRun.State

FAIR_ORDER: Final = (IsNull(F("batch"), False), F("fair_tag"), F("pk"))  # as the index ``run_fair_order`` has it


# --- tags -------------------------------------------------------------------------------------------------------------
def give_turns(runs: Sequence[ScoringRun]) -> None:
    """Set the tags of new ``runs`` of one flow: of one team, or of one batch, without saving. Three queries for them.

    They are served in the order given. Their costs must be set; call it in the transaction that saves them.
    """
    if not runs:
        return
    tags = accumulate(map(cost_of_turn, runs), initial=start_of_turn(runs[0]))
    next(tags)  # where the first one starts
    for run, tag in zip(runs, tags, strict=True):
        run.fair_tag = tag


def join_the_line(competition: Competition) -> None:
    """Queue the unfinished runs of a competition that was read in, whose workers are elsewhere, as if they were new.

    Call it in the transaction that brought them. The reconciler sends their messages.
    """
    unfinished = ScoringRun.objects.filter(
        submission__phase__track__competition=competition, state__in=[State.QUEUED, State.RUNNING]
    )
    fresh = {"attempt": 0, "worker": "", "stage": "", "progress": 0.0}
    unfinished.update(state=State.QUEUED, lease_expires_at=None, started_at=None, sent_at=None, **fresh)
    found = list(unfinished.select_related("submission").order_by("pk"))
    costs = known_costs([run.submission for run in found])
    flows: dict[tuple[int | None, int | None], list[ScoringRun]] = {}
    for run in found:
        run.cost = costs[run.submission_id]
        flow = (run.batch_id, run.submission.team_id if run.batch_id is None else None)
        flows.setdefault(flow, []).append(run)
    for runs in flows.values():
        give_turns(runs)
    ScoringRun.objects.bulk_update(found, ["cost", "fair_tag"], batch_size=500)


def start_of_turn(run: ScoringRun) -> int:
    """Where in the fair order the next work of the team or batch of ``run`` begins."""
    lane, flow = _lane_and_flow(run)
    waiting_shards = RunShard.objects.filter(run__in=flow.filter(state=State.RUNNING), state=RunShard.State.QUEUED)
    tags = (
        lane.filter(attempt__gt=0).aggregate(tag=Max("fair_tag"))["tag"],  # the virtual time
        flow.filter(state=State.QUEUED).aggregate(tag=Max("fair_tag"))["tag"],
        waiting_shards.aggregate(tag=Max("fair_tag"))["tag"],
    )
    return max(tag or 0 for tag in tags)


def is_large(run: ScoringRun) -> bool:
    """Whether ``run`` is cut into shards, each with a turn of its own (``submissions.evaluation.shards``)."""
    return run.submission.item_count > settings.SHARD_ABOVE_ITEMS


def cost_of_turn(run: ScoringRun) -> int:
    """What the first turn of ``run`` takes: all of it or, where it is large, about what one of its shards will."""
    if not is_large(run):
        return run.cost
    return max(1, run.cost * settings.SHARD_PAIRS // run.submission.item_count)


def _lane_and_flow(run: ScoringRun) -> tuple[QuerySet[ScoringRun], QuerySet[ScoringRun]]:
    """All runs that ``run`` is in line with, and among them those of its team or batch."""
    if run.batch_id is None:
        lane = ScoringRun.objects.filter(batch=None)
        return lane, lane.filter(submission__team=run.submission.team_id)
    # a batch that is over waits for nothing any more: with the last one the clock of the lane starts anew
    lane = ScoringRun.objects.filter(batch__state=RescoreBatch.State.RUNNING)
    return lane, lane.filter(batch=run.batch_id)


def known_costs(submissions: Sequence[Submission]) -> dict[int, int]:
    """What a scoring of each of ``submissions`` costs, by primary key: as its newest run. One query.

    Where no run tells it is guessed from the size of the file.
    """
    newest = ScoringRun.objects.filter(submission=OuterRef("pk"), cost__gt=0).order_by("-pk").values("cost")[:1]
    rows = Submission.objects.filter(pk__in=[each.pk for each in submissions]).annotate(cost=Subquery(newest))
    return {pk: cost or tokens_of_file(size) for pk, cost, size in rows.values_list("pk", "cost", "file_size")}


# --- claims -----------------------------------------------------------------------------------------------------------
def waiting(now: datetime) -> QuerySet[ScoringRun]:
    """The runs that may be taken at ``now``, the one whose turn it is first."""
    due = Q(not_before=None) | Q(not_before__lte=now)
    return ScoringRun.objects.filter(due, state=State.QUEUED).order_by(*FAIR_ORDER)


def claim_next(*, worker: str) -> ScoringRun | None:
    """Move the run whose turn it is to running, or ``None`` when none waits. No two workers get the same.

    Rows that somebody holds this moment are passed over. Only when nothing else is there are they waited for: else the
    last run, held for an instant by the reconciler, would be left without a message.
    """
    for passes_over in (True, False):
        with transaction.atomic():
            run = waiting(timezone.now()).select_for_update(skip_locked=passes_over, no_key=True, of=("self",)).first()
            if run is not None:
                _take(run, worker)
        if run is not None:
            return _with_what_it_needs(run.pk)
    return None


def claim_run(*, run_id: int, worker: str) -> ScoringRun | None:
    """Move this queued run to running, out of turn, or ``None`` when it is not queued (any more)."""
    with transaction.atomic():
        queued = ScoringRun.objects.filter(pk=run_id, state=State.QUEUED)
        run = queued.select_for_update(no_key=True, of=("self",)).first()
        if run is None:
            return None
        _take(run, worker)
    return _with_what_it_needs(run_id)


def _take(run: ScoringRun, worker: str) -> None:
    """Write the claim of ``run``, whose row is held: a new attempt, with a lease."""
    now = timezone.now()
    run.state, run.attempt, run.worker = State.RUNNING, run.attempt + 1, worker[:120]
    run.started_at, run.lease_expires_at = now, now + lease_length()
    run.stage, run.progress, run.not_before = "", 0.0, None
    run.save(
        update_fields=[
            "state", "attempt", "worker", "started_at", "lease_expires_at", "stage", "progress", "not_before"
        ]
    )  # fmt: skip


def _with_what_it_needs(run_id: int) -> ScoringRun:
    return ScoringRun.objects.select_related("submission__phase__track", "reference_version", "batch").get(pk=run_id)


# --- messages ---------------------------------------------------------------------------------------------------------
def send_runs(run_ids: Sequence[int], *, pause: float = 0) -> int:
    """Tell the workers, after ``pause`` seconds, that these runs wait: a message each. How many went out.

    When the broker is away the rest stays queued, marked as never sent, for the reconciler.
    """
    queued = ScoringRun.objects.filter(state=State.QUEUED)
    sent = send_hints(len(run_ids), pause=pause)
    queued.filter(pk__in=run_ids[sent:]).update(sent_at=None)
    queued.filter(pk__in=run_ids[:sent]).update(sent_at=timezone.now())
    return sent


def send_hints(count: int, *, pause: float = 0) -> int:
    """Send ``count`` messages that come after ``pause`` seconds, until the broker is away; how many went out."""
    from malpan.submissions.tasks import score_next  # the task imports this module

    for sent in range(count):
        try:
            score_next.apply_async(countdown=pause or None, retry=False)
        except BrokerAway:
            logger.warning("%d messages are not sent: the broker is away; the reconciler will send them", count - sent)
            return sent
    return count
