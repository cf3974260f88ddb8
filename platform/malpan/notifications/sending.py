"""Letters out of the outbox, by any number of processes at once: each letter by one of them at a time.

A process that dies while it sends leaves a letter that another takes over after ``LEASE``. If the mail server had it by
then, it comes a second time with the same ``Message-ID``: no server tells what it took from a connection that broke.
"""

from __future__ import annotations

import logging
from datetime import timedelta
from typing import Final

from django.core.mail import EmailMultiAlternatives, get_connection
from django.db import transaction
from django.db.models import F
from django.utils import timezone

from malpan.notifications.models import Letter
from malpan.notifications.rendering import Mail, render

logger = logging.getLogger(__name__)

BATCH: Final = 50  # letters a process takes at once, over one connection
LEASE: Final = timedelta(minutes=10)
PAUSES: Final = (30, 120, 600, 3_600, 4 * 3_600, 12 * 3_600, 24 * 3_600)  # seconds before the next attempt; then failed
ERROR_CHARS: Final = 200
State = Letter.State


def deliver_due() -> int:
    """Send what is due; returns how many letters were dealt with."""
    done = 0
    while letters := _claim():
        connection = get_connection()
        try:
            for letter in letters:
                _deliver(letter, connection)
        finally:
            connection.close()
        done += len(letters)
    return done


def send_failed_again() -> int:
    """Have every letter that was given up sent once more, from its first attempt on; returns how many these are."""
    return Letter.objects.filter(state=State.FAILED).update(state=State.WAITING, attempts=0, not_before=timezone.now())


def _claim() -> list[Letter]:
    """Letters that are due, which nobody else takes for ``LEASE``."""
    now = timezone.now()
    with transaction.atomic():
        due = Letter.objects.filter(state=State.WAITING, not_before__lte=now).select_related("person")
        letters = list(due.order_by("not_before", "pk").select_for_update(skip_locked=True, of=("self",))[:BATCH])
        keys = [letter.pk for letter in letters]
        Letter.objects.filter(pk__in=keys).update(not_before=now + LEASE, attempts=F("attempts") + 1)
    for letter in letters:
        letter.attempts += 1
    return letters


def _deliver(letter: Letter, connection: object) -> None:
    """Send one letter and write what came of it; no fault of one stops the others."""
    try:
        mail = render(letter)
        if mail is None:
            Letter.objects.filter(pk=letter.pk).update(state=State.DROPPED, error="")
            return
        _message(letter, mail, connection).send()
    except Exception as error:  # noqa: BLE001 - of the server, the network, a template: it waits for another attempt
        _postpone(letter, error)
        return
    Letter.objects.filter(pk=letter.pk).update(state=State.SENT, sent_at=timezone.now(), error="")


def _message(letter: Letter, mail: Mail, connection: object) -> EmailMultiAlternatives:
    message = EmailMultiAlternatives(
        mail.subject, mail.text, None, [letter.person.email], headers=mail.headers, connection=connection
    )
    message.attach_alternative(mail.html, "text/html")
    return message


def _postpone(letter: Letter, error: Exception) -> None:
    """Have it sent again later, or give it up. The log names no address: the error of a server may hold one."""
    logger.warning("letter %s (%s), attempt %s: %s", letter.pk, letter.event, letter.attempts, type(error).__name__)
    rows = Letter.objects.filter(pk=letter.pk)
    if letter.attempts > len(PAUSES):
        rows.update(state=State.FAILED, error=type(error).__name__[:ERROR_CHARS])
        return
    pause = timedelta(seconds=PAUSES[letter.attempts - 1])
    rows.update(not_before=timezone.now() + pause, error=type(error).__name__[:ERROR_CHARS])
