"""A judge's queue: what comes next, what was judged, how far it is.

A judge's own queue is changed by one request at a time (``Level.JUDGE``); judges do not wait for each other, and
whatever changes the campaign as a whole waits for all of them.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime
from statistics import median
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone

from malpan.arena.bars import is_barred, renew_bars
from malpan.arena.disqualified import cannot_count, disqualified_labels
from malpan.arena.errors import (
    AssignmentNotFound,
    CampaignNotOpen,
    CampaignTimeOver,
    ConsentMissing,
    JudgeIsOrganiser,
    JudgeNotFound,
    JudgeRemoved,
)
from malpan.arena.judges import consent_version_of
from malpan.arena.locks import lock_campaign_shared, lock_judge
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement, JudgementDraft
from malpan.arena.panel import renew_reinstated
from malpan.competitions.permissions import permissions_of
from malpan.core import audit

if TYPE_CHECKING:
    from malpan.accounts.models import User

Kind, State, VoidReason = Assignment.Kind, Assignment.State, Assignment.VoidReason

TIMED_LEAST: Final = 3  # own judgements before there is an estimate of the time left


@dataclass(frozen=True, slots=True)
class Progress:
    """Of one queue, calibration not counted. ``seconds_left``: by the median of the own ones; ``None`` before three."""

    done: int
    total: int
    calibration_left: int
    seconds_left: int | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A judged assignment with ``newest``, the judgement that counts."""

    assignment: Assignment
    newest: Judgement


def next_assignment(*, judge: CampaignJudge, actor: User, now: datetime | None = None) -> Assignment | None:
    """The first open assignment of the queue, calibration first; notes when it was first shown. ``None``: all is done.

    An assignment with a team that was disqualified meanwhile is made void and passed over, and comes back when it is
    reinstated; one that the judge may not see any more is moved (``renew_bars``). For requests that may write:
    a page reads ``current_assignment``. Raises ``JudgeNotFound`` for another person's, ``JudgeRemoved``,
    ``JudgeIsOrganiser`` for who got a role in the competition meanwhile, ``ConsentMissing``, also if the notice changed
    since, ``CampaignNotOpen``.
    """
    if judge.user_id == actor.pk:
        renew_bars(judge=judge, now=now)  # transactions of their own: they lock the whole campaign
        renew_reinstated(judge.campaign, now or timezone.now())
    with transaction.atomic():
        campaign, fresh = lock_own(judge, actor, now or timezone.now())
        if fresh.consent_version != consent_version_of(campaign) or fresh.rubric_id != campaign.rubric_id:
            raise ConsentMissing
        _void_disqualified(campaign, fresh)
        note_calibrated(fresh, now or timezone.now())
        found = first_of(_open_rows(fresh), fresh)
        if found is not None and found.first_shown_at is None:
            found.first_shown_at = now or timezone.now()
            found.save(update_fields=["first_shown_at"])
    return found


def current_assignment(judge: CampaignJudge) -> Assignment | None:
    """What ``next_assignment`` showed and is still to be judged; nothing is written. ``None``: ask for the next."""
    labels = disqualified_labels(judge.campaign)
    found = _open_rows(judge).first()
    if found is None or found.first_shown_at is None or cannot_count(judge.campaign, found.systems, labels):
        return None
    return None if is_barred(judge, found.systems) else found


def assignment_of(judge: CampaignJudge, shown_key: uuid.UUID | str) -> Assignment:
    """An assignment that ``judge`` was shown, with its item. Raises ``AssignmentNotFound``."""
    try:
        key = shown_key if isinstance(shown_key, uuid.UUID) else uuid.UUID(shown_key)
    except ValueError:
        raise AssignmentNotFound from None
    found = with_item(judge).filter(shown_key=key, first_shown_at__isnull=False).first()
    if found is None:
        raise AssignmentNotFound
    return found


def newest_judgement(assignment: Assignment) -> Judgement | None:
    """The judgement of ``assignment`` that counts."""
    return Judgement.objects.filter(assignment=assignment).order_by("-number").first()


def texts_of(assignment: Assignment) -> list[str]:
    """The outputs in the order shown, a bad one in its place."""
    texts = [assignment.item.outputs[label] for label in assignment.systems]
    if assignment.bad_index is not None:
        texts[assignment.bad_index] = assignment.bad_text
    return texts


def is_sealed(assignment: Assignment, judge: CampaignJudge) -> bool:
    """Whether ``assignment`` was shown to ``judge`` before they were barred from another system (``bars.bar_anew``)."""
    shown, sealed = assignment.first_shown_at, judge.sealed_at
    return shown is not None and sealed is not None and shown <= sealed


def is_closed(assignment: Assignment, judge: CampaignJudge) -> bool:
    """Whether ``judge`` does not see the outputs any more: it is not to be judged, or sealed."""
    return assignment.state == State.VOID or is_sealed(assignment, judge)


def undo_target(judge: CampaignJudge) -> Assignment | None:
    """The assignment judged last by ``judge``, which ``u`` reopens for a correction."""
    found = next(iter(_judged(judge)[:1]), None)
    return None if found is None or is_sealed(found, judge) else found


def own_judgements(judge: CampaignJudge) -> list[Judged]:
    """The judged assignments of ``judge``, the last first."""
    found = list(_judged(judge))
    newest = {row.pk: row for row in Judgement.objects.filter(pk__in=[each.newest_pk for each in found])}
    return [Judged(each, newest[each.newest_pk]) for each in found]


def progress_of(judge: CampaignJudge) -> Progress:
    """How far ``judge`` is."""
    practice = Q(kind=Kind.CALIBRATION)
    counts = Assignment.objects.filter(judge=judge).aggregate(
        done=Count("pk", filter=~practice & Q(state=State.DONE)),
        left=Count("pk", filter=~practice & Q(state=State.OPEN)),
        calibration_left=Count("pk", filter=practice & Q(state=State.OPEN)),
    )
    judged = Judgement.objects.filter(assignment__judge=judge).exclude(assignment__kind=Kind.CALIBRATION)
    newest = judged.order_by("assignment_id", "-number").distinct("assignment_id")
    seconds = list(newest.values_list("seconds", flat=True))
    is_timed = len(seconds) >= TIMED_LEAST
    return Progress(
        done=counts["done"],
        total=counts["done"] + counts["left"],
        calibration_left=counts["calibration_left"],
        seconds_left=round(median(seconds) * counts["left"]) if is_timed else None,
    )


def require_in_time(campaign: Campaign, now: datetime) -> None:
    """Raise ``CampaignNotOpen`` before the opening and after the closing, ``CampaignTimeOver`` from the planned end on,
    which organisers may put off.
    """
    if campaign.opened_at is None or campaign.closed_at is not None:
        raise CampaignNotOpen
    if campaign.is_over(now):
        raise CampaignTimeOver(end=campaign.end_text)


def lock_own(
    judge: CampaignJudge, actor: User, now: datetime, *, may_be_over: bool = False
) -> tuple[Campaign, CampaignJudge]:
    """The campaign, in time, and the judge, who is ``actor``, both locked, in the caller's transaction.

    ``may_be_over``: the caller looks at the time. Raises ``JudgeNotFound``, ``JudgeRemoved``, ``JudgeIsOrganiser``, and
    as ``require_in_time``.
    """
    if judge.user_id != actor.pk:
        raise JudgeNotFound
    campaign = lock_campaign_shared(judge.campaign_id)
    fresh = lock_judge(judge.pk)
    if fresh.user_id != actor.pk:
        raise JudgeNotFound
    if fresh.removed_at is not None:
        raise JudgeRemoved
    if permissions_of(actor, campaign.track.competition):
        raise JudgeIsOrganiser
    if campaign.opened_at is None or not may_be_over:
        require_in_time(campaign, now)
    fresh.campaign = campaign
    return campaign, fresh


def with_item(judge: CampaignJudge) -> QuerySet[Assignment]:
    """The assignments of ``judge`` with all that a page of one shows."""
    rows = Assignment.objects.filter(judge=judge)
    return rows.select_related("item", "judge__campaign__rubric", "judge__campaign__track__competition", "campaign")


def first_of(rows: QuerySet[Assignment], judge: CampaignJudge) -> Assignment | None:
    """The first of ``rows``, all of ``judge``, whom ``lock_own`` gave: what it read with them is not read once more."""
    found = rows.select_related(None).select_related("item").first()
    if found is not None:
        found.judge, found.campaign = judge, judge.campaign
    return found


def note_calibrated(judge: CampaignJudge, now: datetime) -> None:
    """Note the moment when no practice is left."""
    practice = Assignment.objects.filter(judge=judge, kind=Kind.CALIBRATION, state=State.OPEN)
    if judge.calibrated_at is None and not practice.exists():
        judge.calibrated_at = now
        judge.save(update_fields=["calibrated_at"])


def _open_rows(judge: CampaignJudge) -> QuerySet[Assignment]:
    """The open assignments in their order; calibration comes first (``design_rows.QUEUE_START``)."""
    return with_item(judge).filter(state=State.OPEN).order_by("position")


def _void_disqualified(campaign: Campaign, judge: CampaignJudge) -> None:
    """Make the judge's open assignments with a team that was disqualified void; others' are theirs to pass over."""
    labels = disqualified_labels(campaign)
    if labels:
        rows = Assignment.objects.filter(judge=judge, state=State.OPEN).only("systems")
        out = [row.pk for row in rows if cannot_count(campaign, row.systems, labels)]
        JudgementDraft.objects.filter(assignment__in=out).delete()
        if Assignment.objects.filter(pk__in=out).update(state=State.VOID, void_reason=VoidReason.DISQUALIFIED):
            facts = {"systems": sorted(labels), "assignments": len(out)}
            audit.record(actor=None, action="campaign.void_assignments", obj=campaign, after=facts)


def _judged(judge: CampaignJudge) -> Any:
    """The judged assignments, practice left out, the last judged first."""
    moments = Judgement.objects.filter(assignment=OuterRef("pk")).order_by("-number")
    rows = with_item(judge).filter(state=State.DONE).exclude(kind=Kind.CALIBRATION)
    return rows.annotate(
        judged_at=Subquery(moments.values("created_at")[:1]), newest_pk=Subquery(moments.values("pk")[:1])
    ).order_by("-judged_at", "-newest_pk")
