"""Closing a campaign: no judgement is taken any more, judges get their published labels, the seed is revealed."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils import timezone

from malpan.arena.chain_steps import append_step
from malpan.arena.disqualified import void_disqualified
from malpan.arena.errors import CampaignNotBegun, OpenAssignmentsLeft
from malpan.arena.labels import in_any_order
from malpan.arena.letters import tell_closed
from malpan.arena.locks import lock_campaign
from malpan.arena.models import Assignment, Campaign, CampaignJudge, Judgement, JudgementDraft
from malpan.arena.panel import take_back_reinstated
from malpan.arena.seeds import require_seed
from malpan.competitions.permissions import Permission, require
from malpan.core import audit

if TYPE_CHECKING:
    from malpan.accounts.models import User

Kind, State = Assignment.Kind, Assignment.State


def open_assignments(campaign: Campaign) -> int:
    """How many assignments of judges wait to be judged, practice not counted."""
    rows = Assignment.objects.filter(campaign=campaign, state=State.OPEN, judge__removed_at=None)
    return rows.exclude(kind=Kind.CALIBRATION).count()


def close_campaign(
    *, campaign: Campaign, actor: User, accepts_open: bool = False, now: datetime | None = None
) -> Campaign:
    """Close an open campaign; open assignments become void. Closing a closed one changes nothing.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotBegun``,
    ``SeedMissing``, and ``OpenAssignmentsLeft`` unless ``accepts_open``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    moment = now or timezone.now()
    with transaction.atomic():
        fresh = lock_campaign(campaign.pk)
        if fresh.opened_at is None:
            raise CampaignNotBegun
        if fresh.closed_at is not None:
            return fresh
        require_seed(fresh)
        void_disqualified(campaign=fresh)
        take_back_reinstated(fresh, moment)
        left = open_assignments(fresh)
        if left and not accepts_open:
            raise OpenAssignmentsLeft(count=left)
        rows = Assignment.objects.filter(campaign=fresh, state=State.OPEN)
        rows.update(state=State.VOID, void_reason=Assignment.VoidReason.CLOSED)
        JudgementDraft.objects.filter(assignment__campaign=fresh).delete()
        _label_judges(fresh)
        fresh.closed_at = moment
        fresh.save(update_fields=["closed_at"])
        count = Judgement.objects.filter(assignment__campaign=fresh).exclude(assignment__kind=Kind.CALIBRATION).count()
        facts = {"judgements": count, "void": left}
        audit.record(actor=actor, action="campaign.close", obj=fresh, after=facts)
        tell_closed(fresh)
        append_step(fresh, "closed", {"seed": fresh.seed, **facts}, now=moment)
    return fresh


def _label_judges(campaign: Campaign) -> None:
    """Give everybody who judged the label that is published, in an order that the revealed seed does not tell."""
    judged = Assignment.objects.filter(campaign=campaign, state=State.DONE).exclude(kind=Kind.CALIBRATION)
    judges = in_any_order(CampaignJudge.objects.filter(pk__in=judged.values("judge")))
    for number, judge in enumerate(judges, start=1):
        judge.label = f"J{number:02d}"
    CampaignJudge.objects.bulk_update(judges, ["label"])
