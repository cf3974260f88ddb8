"""Word to judges who have assignments left: when an organiser asks for it, and once a day before the planned end.

Nobody is reminded of a campaign twice within ``PAUSE``.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from malpan.accounts.models import User
from malpan.arena.letters import REMINDER
from malpan.arena.locks import lock_campaign
from malpan.arena.models import Campaign, CampaignJudge
from malpan.arena.progress import left_by_judge
from malpan.arena.queue import require_in_time
from malpan.competitions.permissions import Permission, require
from malpan.core import audit
from malpan.core.one_by_one import one_by_one
from malpan.notifications.models import Letter, Told
from malpan.notifications.outbox import post, post_once

PAUSE: Final = timedelta(hours=24)
NEAR: Final = timedelta(days=1)  # before the planned end


@dataclass(frozen=True, slots=True)
class Reminded:
    """How many judges were written to, and how many have assignments left and were reminded within ``PAUSE``."""

    told: int
    told_before: int


def remind_judges(*, campaign: Campaign, actor: User, now: datetime | None = None) -> Reminded:
    """Write to the judges who have assignments left, with how many and until when. Two clicks at once write once.

    Raises ``ManageNotFound`` and ``NotAllowed`` without the permission to manage, ``CampaignNotOpen``,
    ``CampaignTimeOver``.
    """
    require(actor, campaign.track.competition, Permission.MANAGE)
    moment = now or timezone.now()
    with transaction.atomic():
        fresh = lock_campaign(campaign.pk)
        require_in_time(fresh, moment)
        people, before = _people_left(fresh), _told_since(fresh, moment - PAUSE)
        key = f"{REMINDER}:{fresh.pk}:{moment.isoformat()}"
        told = post(event=REMINDER, key=key, people=people - before, facts={"campaign": fresh.pk})
        audit.record(actor=actor, action="campaign.remind_judges", obj=fresh, after={"judges": told})
    return Reminded(told, len(people & before))


def remind_due(now: datetime | None = None) -> int:
    """Remind the judges of campaigns that end within ``NEAR``, once for each end that was set; returns how many
    campaigns these are. Not of one that was opened later than that, whose end was told with its beginning.
    """
    moment = now or timezone.now()
    ending = Campaign.objects.filter(opened_at__lte=F("ends_at") - NEAR, closed_at=None)
    found = {
        f"{REMINDER}:{row.pk}:end:{row.ends_at.isoformat()}": row
        for row in ending.filter(ends_at__gt=moment, ends_at__lte=moment + NEAR)
        if row.ends_at is not None
    }
    told = set(Told.objects.filter(key__in=found).values_list("key", flat=True))
    due = found.keys() - told
    return sum(one_by_one(due, lambda key: _remind_once(key, found[key], moment), "the reminders of judges"))


def _remind_once(key: str, campaign: Campaign, now: datetime) -> bool:
    with transaction.atomic():
        fresh = lock_campaign(campaign.pk)
        people = _people_left(fresh) - _told_since(fresh, now - PAUSE)
        everybody = User.objects.filter(pk__in=people)
        return post_once(event=REMINDER, key=key, people=everybody, facts={"campaign": fresh.pk})


def _people_left(campaign: Campaign) -> set[int]:
    """The people whose queue has something left."""
    rows = CampaignJudge.objects.filter(pk__in=left_by_judge(campaign), user__isnull=False)
    return {user for user in rows.values_list("user", flat=True) if user is not None}


def _told_since(campaign: Campaign, since: datetime) -> set[int]:
    """The people who were reminded of ``campaign`` after ``since``, by mail or by their programs."""
    letters = Letter.objects.filter(event=REMINDER, facts__campaign=campaign.pk, created_at__gt=since)
    return set(letters.values_list("person", flat=True))
