"""The mail that confirms an address can be had again, and the consent to the privacy statement is kept."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core import mail
from django.core.cache import cache
from django.test import Client
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core.models import SiteText
from malpan.core.site_texts import STATEMENT, privacy_version
from tests.factories import PASSWORD, UserFactory
from tests.web import html

NEW = {"name": "김말판", "email": "new@example.com", "password1": PASSWORD, "password2": PASSWORD, "privacy": "on"}
RESEND = "/accounts/resend/"

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_limit_of_another_test() -> None:
    cache.clear()


def page_of(response: Any) -> html.Element:
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


def test_the_pages_after_signing_up_and_of_the_log_in_lead_to_it(client: Client) -> None:
    for address in ("/accounts/confirm-email/", "/accounts/login/"):
        assert page_of(client.get(address)).one("a", href=RESEND).text == "확인 메일 다시 받기"
    on_the_way = page_of(client.get("/accounts/login/?next=/invitations/a/"))
    (link,) = [each for each in on_the_way.all("a") if each.attributes["href"].startswith(RESEND)]
    form = page_of(client.get(link.attributes["href"])).one("form", "form")
    assert form.one("input", name="next").attributes["value"] == "/invitations/a/"


def test_the_mail_comes_again_and_confirms(client: Client) -> None:
    client.post("/accounts/signup/", NEW)
    cache.clear()
    answer = client.post(RESEND, {"email": "NEW@example.com", "next": "/invitations/a/"})
    assert answer["Location"] == "/accounts/confirm-email/"
    assert [message.to for message in mail.outbox] == [["new@example.com"]] * 2
    link = re.search(r"http://127.0.0.1:8000(\S+)", mail.outbox[-1].body)
    assert link is not None
    assert "invitations" in link[1]
    client.post(link[1])
    assert EmailAddress.objects.get().verified


def test_nobody_learns_who_has_an_account_and_nobody_else_gets_mail(client: Client) -> None:
    client.post("/accounts/signup/", NEW)
    known = UserFactory.create(email="known@example.com")
    EmailAddress.objects.create(user=known, email=known.email, verified=True, primary=True)
    barred = UserFactory.create(email="barred@example.com", is_active=False)
    EmailAddress.objects.create(user=barred, email=barred.email, verified=False, primary=True)
    cache.clear()
    mail.outbox.clear()
    answers = []
    for name in ("new", "known", "barred", "nobody"):
        answer = Client().post(RESEND, {"email": f"{name}@example.com"}, follow=True)
        answers.append((answer.redirect_chain, answer.content))
    assert len({each[1] for each in answers}) == 1
    assert len({str(each[0]) for each in answers}) == 1
    assert [message.to for message in mail.outbox] == [["new@example.com"]]


def test_a_mailbox_is_not_filled(client: Client) -> None:
    client.post("/accounts/signup/", NEW)
    statuses = [client.post(RESEND, {"email": NEW["email"]}).status_code for _ in range(6)]
    assert len(mail.outbox) == 1  # one in three minutes
    assert statuses == [302] * 5 + [429]


def test_what_is_no_address_is_said_beside_the_field(client: Client) -> None:
    response = client.post(RESEND, {"email": "nowhere"})
    assert response.status_code == 422
    assert page_of(response).one("ul", "errorlist").text == "올바른 형식으로 입력해 주십시오."


def test_nobody_signs_up_without_the_consent(client: Client) -> None:
    page = page_of(client.post("/accounts/signup/", {**NEW, "privacy": ""}))
    assert page.one("input", name="privacy").attributes["aria-invalid"] == "true"
    assert not User.objects.exists()


def test_the_consent_is_kept_with_its_version_and_moment_and_shown(client: Client) -> None:
    before = timezone.now()
    version = page_of(client.get("/accounts/signup/")).one("input", name="privacy_version").attributes["value"]
    assert version in page_of(client.get("/privacy/")).text
    client.post("/accounts/signup/", {**NEW, "privacy_version": version})
    person = User.objects.get()
    assert person.privacy_version == version == STATEMENT
    assert before <= person.privacy_accepted_at <= timezone.now()
    client.force_login(person)
    assert STATEMENT in page_of(client.get("/account/")).one("dl", "facts").text
    (row,) = json.loads(client.get("/account/export/").content)["data"]["accounts.user.id"]["rows"]
    assert row["privacy_version"] == STATEMENT
    assert row["privacy_accepted_at"]


def test_a_statement_that_changed_meanwhile_is_asked_about_again(client: Client) -> None:
    read = privacy_version()
    SiteText.objects.create(kind="privacy", text_ko="새 방침", changed_at=timezone.now())
    assert privacy_version() != read
    page = page_of(client.post("/accounts/signup/", {**NEW, "privacy_version": read}))
    assert "처리방침이 바뀌었습니다" in page.one("ul", "errorlist").text
    assert page.one("input", name="privacy_version").attributes["value"] == privacy_version()
    assert not User.objects.exists()
    client.post("/accounts/signup/", {**NEW, "privacy_version": privacy_version()})
    assert User.objects.get().privacy_version == privacy_version()


def test_who_was_never_asked_reads_so(client: Client) -> None:
    client.force_login(UserFactory.create())
    assert "따로 묻지 않았습니다" in page_of(client.get("/account/")).one("dl", "facts").text
