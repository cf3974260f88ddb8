"""Accounts while the mail server is away: said so, nothing half made, nobody learns who has an account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.test import Client

from malpan.accounts.models import User
from tests.factories import PASSWORD, UserFactory

NEW = {"name": "김말판", "email": "new@example.com", "password1": PASSWORD, "password2": PASSWORD, "privacy": "on"}
AWAY = "메일 서버에 문제가 있어 메일을 보내지 못했습니다"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_counts() -> None:
    cache.clear()


@contextmanager
def mail_away(settings: Any) -> Iterator[None]:
    """Nothing listens where the mails go."""
    backends = settings.EMAIL_BACKEND, settings.MAIL_TRANSPORT
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 1
    settings.EMAIL_BACKEND = "malpan.core.mail_state.EmailBackend"
    settings.MAIL_TRANSPORT = "django.core.mail.backends.smtp.EmailBackend"
    try:
        yield
    finally:
        settings.EMAIL_BACKEND, settings.MAIL_TRANSPORT = backends


def answers(path: str, *forms: dict[str, str]) -> set[tuple[int, str]]:
    """What a browser of its own gets for each form, without the form's address."""
    found = set()
    for form in forms:
        answer = Client().post(path, form, follow=True)
        page = answer.content.decode().replace(form.get("email", "-"), "")
        assert AWAY in page
        found.add((answer.status_code, page))
    return found


def test_signing_up_makes_nothing_and_works_when_mail_is_back(
    client: Client, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    with mail_away(settings):
        for _again in range(2):
            answer = client.post("/accounts/signup/", NEW)
            assert (answer.status_code, AWAY in answer.content.decode()) == (503, True)
    assert "mail_not_sent at" in caplog.text
    assert not User.objects.exists()
    page = client.post("/accounts/signup/", NEW, follow=True).content.decode()
    assert "입력하신 주소로 확인 메일을 보냈습니다" in page
    assert [message.to for message in mail.outbox] == [["new@example.com"]]
    assert "주소를 확인해" in mail.outbox[0].subject, "not that there is an account already"


def test_signing_up_says_the_same_for_every_address(settings: Any) -> None:
    UserFactory.create(email="taken@example.com")
    with mail_away(settings):
        found = answers("/accounts/signup/", *(NEW | {"email": f"{name}@example.com"} for name in ("taken", "free")))
    assert [status for status, _page in found] == [503]


def test_a_reset_of_a_password_says_the_same_for_every_address(settings: Any) -> None:
    UserFactory.create(email="taken@example.com")
    with mail_away(settings):
        forms = ({"email": f"{name}@example.com"} for name in ("taken", "free"))
        assert [status for status, _page in answers("/accounts/password/reset/", *forms)] == [503]


def test_logging_in_unconfirmed_never_says_that_a_mail_went(client: Client, settings: Any) -> None:
    person = UserFactory.create(email="new@example.com")
    EmailAddress.objects.create(user=person, email=person.email, primary=True)
    form = {"login": person.email, "password": PASSWORD}
    with mail_away(settings):
        for _again in range(2):
            assert [status for status, _page in answers("/accounts/login/", form)] == [503]
    assert client.post("/accounts/login/", form)["Location"] == "/accounts/confirm-email/"
    assert len(mail.outbox) == 1


def test_an_address_is_not_added_without_its_mail(client: Client, settings: Any) -> None:
    person = UserFactory.create()
    client.force_login(person)
    form = {"action_add": "", "email": "second@example.com"}
    with mail_away(settings):
        assert client.post("/accounts/email/", form).status_code == 503
        assert not EmailAddress.objects.filter(email=form["email"]).exists()
    client.post("/accounts/email/", form)
    assert EmailAddress.objects.filter(email=form["email"]).exists()
