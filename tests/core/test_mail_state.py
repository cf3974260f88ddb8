"""Whether mails go is noted, and no mail waits for the note."""

from __future__ import annotations

from collections.abc import Iterator
from smtplib import SMTPRecipientsRefused, SMTPServerDisconnected
from typing import Any

import pytest
from django.core import mail
from django.core.cache import cache
from django.core.mail import EmailMessage, get_connection
from django.core.mail.backends.locmem import EmailBackend as Transport

from malpan.core.mail_state import mail_state

BACKEND = "malpan.core.mail_state.EmailBackend"


@pytest.fixture(autouse=True)
def _nothing_noted() -> Iterator[None]:
    cache.clear()
    yield
    cache.clear()


def send(**options: Any) -> int:
    connection = get_connection(BACKEND, **options)
    return connection.send_messages([EmailMessage("제목", "글", to=["a@example.org"], connection=connection)])


def no_server(*_args: Any, **_options: Any) -> int:
    raise SMTPServerDisconnected


def test_a_mail_goes_by_the_transport_and_is_noted() -> None:
    assert mail_state().sent_at is None
    assert send() == 1
    assert [message.subject for message in mail.outbox] == ["제목"]
    assert mail_state().sent_at is not None
    assert not mail_state().is_failing


def test_a_fault_is_noted_and_raised_and_over_with_the_next_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Transport, "send_messages", no_server)
        with pytest.raises(SMTPServerDisconnected):
            send()
        assert send(fail_silently=True) == 0
    assert (mail_state().is_failing, mail_state().fault) == (True, "SMTPServerDisconnected")
    send()
    assert not mail_state().is_failing


@pytest.mark.parametrize(
    ("reply", "is_failing"),
    [(b"5.1.1 no such mailbox", False), (b"5.7.1 relay access denied", True), (b"no such mailbox", True)],
)
def test_an_address_that_does_not_exist_is_no_fault_of_the_mails(
    reply: bytes, is_failing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_args: Any, **_options: Any) -> int:
        raise SMTPRecipientsRefused({"a@example.org": (550, reply)})

    monkeypatch.setattr(Transport, "send_messages", refuse)
    with pytest.raises(SMTPRecipientsRefused):
        send()
    assert mail_state().is_failing == is_failing


def test_a_mail_goes_where_the_cache_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_args: Any) -> None:
        raise ConnectionError

    monkeypatch.setattr("malpan.core.mail_state.cache.set", away)
    assert send() == 1
