"""What a process takes out of the outbox, and what it writes there when it is done: the same for mail and webhooks."""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from malpan.notifications.models import Letter

logger = logging.getLogger(__name__)

LEASE: Final = timedelta(minutes=10)
PAUSES: Final = (30, 120, 600, 3_600, 4 * 3_600, 12 * 3_600, 24 * 3_600)  # seconds before the next attempt; then failed
ERROR_CHARS: Final = 200
INTERRUPTED: Final = "Interrupted"  # while it was sent: whether it arrived, nobody knows
State = Letter.State


def claim(*, by_mail: bool, most: int) -> list[Letter]:
    """Letters that are due, at most so many, which nobody else takes for ``LEASE``."""
    now = timezone.now()
    with transaction.atomic():
        due = Letter.objects.filter(state=State.WAITING, not_before__lte=now, endpoint__isnull=by_mail)
        rows = due.select_related("person", "endpoint").order_by("not_before", "pk")
        letters = list(rows.select_for_update(skip_locked=True, of=("self",))[:most])
        keys = [letter.pk for letter in letters]
        Letter.objects.filter(pk__in=keys).update(not_before=now + LEASE, attempts=F("attempts") + 1)
    for letter in letters:
        letter.attempts += 1
    return letters


def begin(letter: Letter) -> None:
    """Write that it is being sent, so that nobody sends it again if this process dies: it is given up until then."""
    Letter.objects.filter(pk=letter.pk).update(state=State.FAILED, error=INTERRUPTED)


def take_back(letter: Letter) -> None:
    """Write that it was not sent after all."""
    Letter.objects.filter(pk=letter.pk, state=State.FAILED).update(state=State.WAITING)


def mark_sent(letter: Letter) -> None:
    """Write that it arrived."""
    Letter.objects.filter(pk=letter.pk).update(state=State.SENT, sent_at=timezone.now(), error="")


def drop(letter: Letter) -> None:
    """Write that there is nothing to say, or nobody to say it to."""
    Letter.objects.filter(pk=letter.pk).update(state=State.DROPPED, error="")


def postpone(letter: Letter, error: str, *, stretch: float = 1) -> None:
    """Have it sent again later, ``stretch`` times the pause, or give it up. ``error`` names no address."""
    logger.warning("letter %s (%s), attempt %s: %s", letter.pk, letter.event, letter.attempts, error)
    rows = Letter.objects.filter(pk=letter.pk)
    if letter.attempts > len(PAUSES):
        rows.update(state=State.FAILED, error=error[:ERROR_CHARS])
        return
    pause = timedelta(seconds=PAUSES[letter.attempts - 1] * stretch)
    rows.update(not_before=timezone.now() + pause, error=error[:ERROR_CHARS])
