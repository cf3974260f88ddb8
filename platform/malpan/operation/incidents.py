"""Alarms of the operators' page, followed by the clock: staff are told of each once, and once when it is over.

What passes within ``HOLD``, such as a restart, tells nobody; what comes back within ``QUIET`` is the same incident. One
that becomes urgent is told once more.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from functools import partial
from typing import Final

from django.db import transaction
from django.utils import timezone, translation

from malpan.core.one_by_one import one_by_one
from malpan.operation.letters import tell
from malpan.operation.models import Incident
from malpan.operation.site_page.alarms import Alarm, alarms
from malpan.operation.site_page.current import facts_of_alarms

HOLD: Final = timedelta(minutes=2)
QUIET: Final = timedelta(minutes=10)


def follow(now: datetime | None = None) -> None:
    """Look once. Of two processes at once the second waits for the first."""
    moment = now or timezone.now()
    seen = _seen(moment)
    with transaction.atomic():
        Incident.objects.bulk_create(seen.values(), ignore_conflicts=True)  # those that are open stay as they are
        held = Incident.objects.select_for_update().filter(ended_at=None).order_by("pk")
        one_by_one(held, partial(_follow, seen=seen, now=moment), "the incidents")


@transaction.atomic
def _follow(incident: Incident, *, seen: Mapping[tuple[str, str], Incident], now: datetime) -> None:
    sight = seen.get((incident.event, incident.subject))
    if sight is not None:
        _go_on(incident, sight)
    elif now - incident.seen_at >= QUIET:
        _end(incident)


def _seen(now: datetime) -> dict[tuple[str, str], Incident]:
    """What is wrong now, as incidents that begin."""
    known = facts_of_alarms(now)
    by_language: list[list[Alarm]] = []
    for language in ("ko", "en"):
        with translation.override(language):
            by_language.append(alarms(**known))
    return {
        (korean.event, subject): Incident(
            event=korean.event,
            subject=subject,
            text_ko=korean.text,
            text_en=english.text,
            is_urgent=korean.is_urgent,
            began_at=now,
            seen_at=now,
        )
        for korean, english in zip(*by_language, strict=True)
        for subject in korean.subjects
        if korean.event
    }


def _go_on(incident: Incident, sight: Incident) -> None:
    was_urgent, was_told = incident.is_urgent, incident.told_at is not None
    incident.text_ko, incident.text_en = sight.text_ko, sight.text_en
    incident.is_urgent, incident.seen_at = was_urgent or sight.is_urgent, sight.seen_at
    if not was_told and incident.seen_at - incident.began_at >= HOLD:
        incident.told_at = incident.seen_at
        tell(incident, "began")
    elif was_told and incident.is_urgent and not was_urgent:
        tell(incident, "urgent")
    incident.save()


def _end(incident: Incident) -> None:
    """It was over when it was last seen. Of one that nobody was told of nothing stays."""
    if incident.told_at is None:
        incident.delete()
        return
    incident.ended_at = incident.seen_at
    incident.save()
    tell(incident, "over")
