"""웹훅: making one, its secret that is shown once, what was sent, and what its owner does with it."""

from __future__ import annotations

import pytest
from django.test import Client

from malpan.accounts.models import User
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.signatures import secret_of
from tests.factories import UserFactory
from tests.web import html
from tests.web.conftest import client_of

PAGE = "/account/webhooks/"
BODY = {"url": "https://hooks.example.com/x", "events": ["scored"]}
REFUSED = ({}, BODY | {"events": []}, BODY | {"url": "http://a.example"}, BODY | {"events": "x"})


@pytest.fixture
def person(db: None) -> User:
    return UserFactory.create()


@pytest.fixture
def client(person: User) -> Client:
    return client_of(person)


def test_a_secret_is_shown_once(client: Client) -> None:
    made = client.post(PAGE, BODY, follow=True)
    shown = html.parse(made.content.decode()).one("section", "copy-box").one("input").attributes["value"]
    assert shown == secret_of(Endpoint.objects.get())
    page = client.get(PAGE)
    assert shown not in page.content.decode()
    assert "hooks.example.com" in page.content.decode()
    assert "no-store" in page.headers["Cache-Control"]


@pytest.mark.parametrize(
    "body", [{}, BODY | {"events": []}, BODY | {"url": "http://a.example"}, BODY | {"events": "x"}]
)
def test_a_refusal_is_at_the_form(client: Client, body: dict[str, object]) -> None:
    refused = client.post(PAGE, body)
    assert refused.status_code == 422
    assert "errorlist" in refused.content.decode()
    assert not Endpoint.objects.exists()


def test_what_was_sent_is_listed_and_sent_again(client: Client, person: User) -> None:
    client.post(PAGE, BODY)
    endpoint = Endpoint.objects.get()
    client.post(f"{PAGE}{endpoint.pk}/test/")
    Letter.objects.update(state="failed", error="HTTP 500", attempts=8)
    letter = Letter.objects.get()
    table = html.parse(client.get(PAGE).content.decode()).all("tbody")[1].text
    assert letter.webhook_id in table
    assert "HTTP 500" in table
    again = client.post(f"{PAGE}deliveries/{letter.pk}/resend/", follow=True)
    assert "곧 다시 보냅니다" in again.content.decode()
    assert Letter.objects.get().state == "waiting"


def test_it_is_switched_and_removed_by_its_owner_alone(client: Client) -> None:
    client.post(PAGE, BODY)
    pk = Endpoint.objects.get().pk
    stranger = client_of(UserFactory.create())
    for action in ("switch", "test", "remove"):
        assert stranger.post(f"{PAGE}{pk}/{action}/").status_code == 404
    client.post(f"{PAGE}{pk}/switch/")
    assert Endpoint.objects.get().off_at is not None
    assert "꺼져 있는 웹훅" in client.post(f"{PAGE}{pk}/test/", follow=True).content.decode()
    client.post(f"{PAGE}{pk}/switch/", {"is_on": "yes"})
    assert Endpoint.objects.get().off_at is None
    client.post(f"{PAGE}{pk}/remove/")
    assert not Endpoint.objects.exists()
