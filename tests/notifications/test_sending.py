"""The outbox: in the transaction of its event, each letter once, again after a failure, to nobody who left."""

from __future__ import annotations

import io
from datetime import timedelta
from smtplib import SMTPRecipientsRefused
from typing import Any

import pytest
from django.core import mail
from django.core.mail.backends.locmem import EmailBackend
from django.core.management import call_command
from django.db import transaction
from django.utils import timezone

from malpan.notifications import sending
from malpan.notifications.claims import LEASE, PAUSES, claim
from malpan.notifications.models import Letter
from malpan.notifications.outbox import post
from malpan.notifications.sending import deliver_due
from tests.factories import UserFactory
from tests.notifications.conftest import NAME, posted
from tests.threads import at_once

State = Letter.State
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("told")]


def due_now() -> None:
    Letter.objects.update(not_before=timezone.now())


def test_a_letter_is_sent_as_text_and_html_with_an_id_that_stays(settings: Any) -> None:
    settings.SITE_URL = "https://malpan.example"
    person = posted()

    assert deliver_due() == 1

    [message], letter = mail.outbox, Letter.objects.get()
    assert (letter.state, letter.attempts, message.to) == (State.SENT, 1, [person.email])
    assert letter.sent_at is not None
    assert message.extra_headers["Message-ID"] == f"<{letter.public_id}@malpan.example>"
    [(html, kind)] = message.alternatives  # type: ignore[attr-defined]
    assert kind == "text/html"
    assert "말 k" in message.body
    assert "말 k" in html
    assert "https://malpan.example/page/" in message.body
    assert "&lt;b&gt;대회&lt;/b&gt;" in html
    assert "<b>대회</b>" in message.body
    assert deliver_due() == 0


def test_a_letter_of_a_transaction_that_fails_does_not_exist() -> None:
    def fail_after() -> None:
        with transaction.atomic():
            posted()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_after()
    assert not Letter.objects.exists()


def test_nobody_has_an_event_twice() -> None:
    person = posted()
    posted(person=person)
    posted("another", person=person)
    deliver_due()
    assert len(mail.outbox) == 2


def test_who_cannot_log_in_is_not_written_to() -> None:
    demo, gone, erased, there = (UserFactory.create() for _ in range(4))
    demo.set_unusable_password()
    demo.save()
    gone.is_active = False
    gone.save()
    type(erased).objects.filter(pk=erased.pk).update(erased_at=timezone.now(), email="", name="", is_active=False)

    assert (
        post(event=NAME, key="k", people=[each.pk for each in (demo, gone, erased, there)], facts={"said": "말"}) == 1
    )
    assert Letter.objects.get().person == there


def test_who_left_after_the_event_is_not_written_to() -> None:
    person = posted()
    type(person).objects.filter(pk=person.pk).update(is_active=False)
    deliver_due()
    assert mail.outbox == []
    assert Letter.objects.get().state == State.DROPPED


def test_what_is_not_to_be_told_any_more_is_dropped(told: list[Any]) -> None:
    posted(silent=True)
    deliver_due()
    assert mail.outbox == []
    assert Letter.objects.get().state == State.DROPPED


def test_a_failure_is_tried_again_later_and_given_up_in_the_end(monkeypatch: pytest.MonkeyPatch, caplog: Any) -> None:
    person = posted()

    def refuse(*_: Any) -> int:
        raise SMTPRecipientsRefused({person.email: (550, b"no such mailbox")})

    send = EmailBackend.send_messages
    monkeypatch.setattr(EmailBackend, "send_messages", refuse)
    waits = []
    for _attempt in PAUSES:
        deliver_due()
        letter = Letter.objects.get()
        waits.append(round((letter.not_before - timezone.now()).total_seconds()))
        assert letter.state == State.WAITING
        assert deliver_due() == 0, "not before its time"
        due_now()
    deliver_due()

    letter = Letter.objects.get()
    assert waits == list(PAUSES)
    assert (letter.state, letter.attempts, letter.error) == (State.FAILED, len(PAUSES) + 1, "SMTPRecipientsRefused")
    assert person.email not in caplog.text

    monkeypatch.setattr(EmailBackend, "send_messages", send)
    call_command("resend_letters", stdout=(out := io.StringIO()))
    deliver_due()
    assert out.getvalue() == "1\n"
    assert [message.to for message in mail.outbox] == [[person.email]]
    call_command("resend_letters", stdout=(out := io.StringIO()))
    assert (out.getvalue(), deliver_due()) == ("0\n", 0)


def test_a_letter_that_cannot_be_written_holds_up_no_other() -> None:
    posted("first", broken=True)
    posted("second")
    deliver_due()
    assert [message.body.count("말 second") for message in mail.outbox] == [2]
    assert sorted(Letter.objects.values_list("key", "state")) == [("first", State.WAITING), ("second", State.SENT)]


def test_an_event_of_another_version_waits(told: list[Any]) -> None:
    post(event="of_tomorrow", key="k", people=[UserFactory.create().pk], facts={})
    deliver_due()
    letter = Letter.objects.get()
    assert (letter.state, letter.error) == (State.WAITING, "KeyError")


def test_a_letter_of_a_process_that_died_is_taken_over_after_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    posted()
    [taken] = claim(by_mail=True, most=9)
    assert deliver_due() == 0
    Letter.objects.update(not_before=taken.not_before - LEASE - timedelta(seconds=1))
    assert deliver_due() == 1
    assert (len(mail.outbox), Letter.objects.get().attempts) == (1, 2)


@pytest.mark.django_db(transaction=True)
def test_processes_side_by_side_send_each_letter_once(told: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "BATCH", 7)
    people = [UserFactory.create() for _ in range(5)]
    for number in range(20):
        post(event=NAME, key=f"k{number}", people=[each.pk for each in people], facts={"said": f"말 {number}"})

    at_once([deliver_due for _ in range(6)])

    sent = [message.extra_headers["Message-ID"] for message in mail.outbox]
    assert len(sent) == len(set(sent)) == 100
    assert set(Letter.objects.values_list("state", "attempts")) == {(State.SENT, 1)}
