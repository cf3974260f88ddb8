"""What the clock makes happen in a competition, found and told once: notices appear, phases open and end.

A moment that is changed is another event: who was told of the old one hears of the new one. What happened longer ago
than ``LATE`` is no news any more, and is not told.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from malpan.competitions import programs
from malpan.competitions.models import Notice, Phase
from malpan.core.one_by_one import one_by_one
from malpan.notifications import outbox
from malpan.notifications.models import Told
from malpan.teams import letters

LATE: Final = timedelta(days=1)


def tell_due(now: datetime | None = None) -> int:
    """Post what is due; returns how many events were told."""
    moment = now or timezone.now()
    past = (moment - LATE, moment)
    phases = Phase.objects.filter(track__competition__is_published=True)
    opened = phases.filter(starts_at__range=past, ends_at__gt=moment)
    kinds = (
        partial(_tell_notices, past),
        partial(_tell_phases, letters.PHASE_OPENED, "starts_at", opened),
        partial(_tell_phases, letters.DEADLINE_NEAR, "ends_at", letters.that_near(phases, moment)),
        partial(_tell_phases, letters.PHASE_CLOSED, "ends_at", phases.filter(ends_at__range=past)),
    )
    return sum(one_by_one(kinds, lambda tell: tell(), "the kinds of events"))


def _tell_notices(past: tuple[datetime, datetime]) -> int:
    rows = Notice.objects.filter(competition__is_published=True, published_at__range=past)
    found = {f"{letters.NOTICE}:{row.pk}": row for row in rows.order_by("published_at", "pk")}
    return sum(one_by_one(_untold(list(found)), lambda key: _tell_notice(key, found[key]), "the notices"))


def _tell_notice(key: str, notice: Notice) -> bool:
    people = letters.people_of(notice.competition_id, may_submit=False)
    return outbox.post_once(event=letters.NOTICE, key=key, people=people, facts={"notice": notice.pk})


def _tell_phases(event: str, moment: str, phases: QuerySet[Phase]) -> int:
    pairs = phases.order_by(moment).values_list("track__competition", moment).distinct()
    found = {f"{event}:{competition}:{at.isoformat()}": (competition, at) for competition, at in pairs}
    return sum(one_by_one(_untold(list(found)), lambda key: _tell_moment(event, key, *found[key]), "the moments"))


@transaction.atomic
def _tell_moment(event: str, key: str, competition: int, at: datetime) -> bool:
    if not outbox.is_first(key):
        return False
    facts = {"competition": competition, "at": at.isoformat()}
    outbox.post(event=event, key=key, people=letters.people_of(competition, may_submit=True), facts=facts)
    programs.tell(competition=competition, event=event, key=key, facts=facts)
    return True


def _untold(keys: list[str]) -> list[str]:
    told = set(Told.objects.filter(key__in=keys).values_list("key", flat=True))
    return [key for key in keys if key not in told]
