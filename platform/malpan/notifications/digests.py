"""Word that people want once a day: held until an hour of the site, then one mail with all of it to each of them.

Letters are held from their event on (``outbox``). At the hour, once a day, who has some gets a letter of the event
``DIGEST`` that takes them along; it says what holds when it is sent, and if nothing of it is to be said any more, it is
not sent. It goes at most once: where the process dies while the mail server has it, nobody can tell whether it arrived,
and it stays given up (``INTERRUPTED``) until ``manage.py resend_letters``.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core.times import kst_day, kst_day_bounds
from malpan.notifications import claims, events, preferences
from malpan.notifications.events import DIGEST, Event, Word
from malpan.notifications.models import Letter, Pace
from malpan.notifications.outbox import is_first
from malpan.notifications.rendering import Mail, Part, daily_mail, headers_of, parts_of, unsubscribe_address

logger = logging.getLogger(__name__)
State = Letter.State


@dataclass(slots=True)
class Composed:
    """What becomes of the letters that a daily mail takes along: in it, with nothing to say, or broken, which stay for
    ``resend_letters``.
    """

    sections: list[list[Part]] = field(default_factory=list)
    said: list[int] = field(default_factory=list)
    silent: list[int] = field(default_factory=list)
    broken: dict[int, str] = field(default_factory=dict)


def hour_of(now: datetime) -> datetime:
    """When the mails of the day of ``now``, in Korea, are due."""
    return kst_day_bounds(now)[0] + timedelta(hours=settings.DAILY_MAIL_HOUR)


def gather() -> int:
    """From the hour on, once a day, write a daily mail to each person for whom letters are held; returns how many."""
    now = timezone.now()
    if now < hour_of(now):
        return 0
    key = f"{DIGEST.name}:{kst_day(now).isoformat()}"
    with transaction.atomic():
        if not is_first(key):
            return 0
        held = Letter.objects.filter(state=State.HELD, daily_mail=None)
        people = list(held.order_by("person").values_list("person", flat=True).distinct())
        mails = [Letter(event=DIGEST.name, key=key, person_id=each, not_before=now) for each in people]
        Letter.objects.bulk_create(mails, batch_size=500)
        own = Letter.objects.filter(key=key, person=OuterRef("person"), endpoint=None)
        held.filter(person__in=people).update(daily_mail=Subquery(own.values("pk")[:1]))
    return len(mails)


def deliver(letter: Letter, send: Callable[[Mail], object]) -> None:
    """Compose a daily mail, ``send`` it and write what came of it and of what it takes along.

    Raises what ``send`` raises: then it is to be tried again.
    """
    found = _composed(letter)
    if not found.sections:
        _close(letter, found, claims.drop)
        return
    mail = _mail(letter, found.sections)
    claims.begin(letter)
    try:
        send(mail)
    except Exception:
        claims.take_back(letter)
        raise
    _close(letter, found, claims.mark_sent)


def sample(person: User, language: str, unsubscribe: str) -> Mail:
    """A daily mail of invented events: of those that ``person`` wants once a day, or of the first two."""
    held, offered = preferences.preference_of(person), events.mailed_events(person)
    daily = [event for event in offered if preferences.pace_of(held, event.name) == Pace.DAILY] or offered[:2]
    sections = [
        parts for event in daily if event.sample and (parts := parts_of(event.templates, (language,), event.sample))
    ]
    return daily_mail(sections, unsubscribe)


def _mail(letter: Letter, sections: list[list[Part]]) -> Mail:
    assert letter.person is not None
    unsubscribe = unsubscribe_address(letter.person, DIGEST.name)
    mail = daily_mail(sections, unsubscribe)
    mail.headers.update(headers_of(letter, unsubscribe))
    return mail


def _composed(letter: Letter) -> Composed:
    person, found = letter.person, Composed()
    assert person is not None
    preference = preferences.preference_of(person)
    languages = preferences.languages_of(preference)
    for held in letter.parts.filter(state=State.HELD).order_by("created_at", "pk"):
        is_read = person.is_active and preferences.pace_of(preference, held.event) != Pace.NEVER
        try:
            event = events.event_of(held.event)
            parts = parts_of(event.templates, languages, _word_of(event, person, held)) if is_read else None
        except Exception as error:  # noqa: BLE001 - an event of another version, a template: the others are sent
            logger.warning("letter %s (%s) is left out of a daily mail: %s", held.pk, held.event, type(error).__name__)
            found.broken[held.pk] = type(error).__name__
            continue
        if parts is None:
            found.silent.append(held.pk)
        else:
            found.said.append(held.pk)
            found.sections.append(parts)
    return found


def _word_of(event: Event, person: User, held: Letter) -> Callable[[], Word | None]:
    return lambda: event.compose(person, held.facts)


def _close(letter: Letter, found: Composed, end: Callable[[Letter], None]) -> None:
    """``end`` the daily mail, and with it all that it takes along."""
    rows = Letter.objects.filter(state=State.HELD)
    with transaction.atomic():
        end(letter)
        rows.filter(pk__in=found.said).update(state=State.SENT, sent_at=timezone.now())
        rows.filter(pk__in=found.silent).update(state=State.DROPPED)
        for pk, error in found.broken.items():
            rows.filter(pk=pk).update(state=State.FAILED, error=error)
