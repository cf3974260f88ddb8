"""Letters out of the outbox by mail, by any number of processes at once: each letter by one of them at a time.

A process that dies while it sends leaves a letter that another takes over after ``LEASE``. If the mail server had it by
then, it comes a second time with the same ``Message-ID``: no server tells what it took from a connection that broke. A
daily mail (``digests``) never comes a second time so.
"""

from __future__ import annotations

from typing import Final

from django.core.mail import EmailMultiAlternatives, get_connection
from django.utils import timezone

from malpan.core.one_by_one import step_by_step
from malpan.notifications import digests
from malpan.notifications.claims import claim, drop, mark_sent, postpone
from malpan.notifications.events import DIGEST
from malpan.notifications.models import Letter
from malpan.notifications.rendering import Mail, render

BATCH: Final = 50  # letters a process takes at once, over one connection
State = Letter.State


def deliver_due() -> int:
    """Send what is due, at their hour also the mails of the day; returns how many letters were dealt with."""
    step_by_step("the steps before the mails", digests.gather)
    done = 0
    while letters := claim(by_mail=True, most=BATCH):
        connection = get_connection()
        try:
            for letter in letters:
                _deliver(letter, connection)
        finally:
            connection.close()
        done += len(letters)
    return done


def send_failed_again() -> int:
    """Have every mail that was given up sent once more, from its first attempt on; returns how many these are."""
    given_up = Letter.objects.filter(state=State.FAILED, endpoint=None)
    return given_up.update(state=State.WAITING, attempts=0, not_before=timezone.now())


def _deliver(letter: Letter, connection: object) -> None:
    """Send one letter and write what came of it; no fault of one stops the others."""
    try:
        if letter.event == DIGEST.name:
            digests.deliver(letter, lambda mail: _message(letter, mail, connection).send())
            return
        mail = render(letter)
        if mail is None:
            drop(letter)
            return
        _message(letter, mail, connection).send()
    except Exception as error:  # noqa: BLE001 - of the server, the network, a template: it waits for another attempt
        postpone(letter, type(error).__name__)
        return
    mark_sent(letter)


def _message(letter: Letter, mail: Mail, connection: object) -> EmailMultiAlternatives:
    assert letter.person is not None
    message = EmailMultiAlternatives(
        mail.subject, mail.text, None, [letter.person.email], headers=mail.headers, connection=connection
    )
    message.attach_alternative(mail.html, "text/html")
    return message
