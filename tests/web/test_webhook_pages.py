"""웹훅: making one, its secret that is shown once, what was sent, and what its owner does with it."""

from __future__ import annotations

import pytest
from django.test import Client

from malpan.accounts.models import User
from malpan.competitions.roles import appoint
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.signatures import secret_of
from tests.factories import CompetitionFactory, UserFactory
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


def test_it_is_changed_on_its_page(client: Client) -> None:
    client.post(PAGE, BODY)
    one = f"{PAGE}{Endpoint.objects.get().pk}/"
    shown = html.parse(client.get(one).content.decode())
    checked = [box.attributes["value"] for box in shown.all("input") if "checked" in box.attributes]
    assert checked == ["scored"]
    secret = secret_of(Endpoint.objects.get())
    changed = client.post(one, {"url": "https://b.example/", "events": ["notice", "scored"]}, follow=True)
    assert "저장했습니다" in changed.content.decode()
    held = Endpoint.objects.get()
    assert (held.url, held.events, secret_of(held)) == ("https://b.example/", ["notice", "scored"], secret)
    refused = client.post(one, {"url": "http://b.example/", "events": ["scored"]})
    assert refused.status_code == 422
    assert "errorlist" in refused.content.decode()
    assert client_of(UserFactory.create()).get(one).status_code == 404


def test_organisers_have_a_page_for_those_of_their_competition(person: User) -> None:
    competition, other = CompetitionFactory.create(), CompetitionFactory.create()
    for each in (competition, other):
        appoint(competition=each, user=person, role="organiser", actor=None)
    organiser, page = client_of(person), f"/competitions/{competition.slug}/manage/webhooks/"
    made = organiser.post(page, {"url": "https://a.example/x", "events": ["rescored"]}, follow=True)
    endpoint = competition.endpoints.get()
    assert html.parse(made.content.decode()).one("section", "copy-box").one("input").attributes["value"] == secret_of(
        endpoint
    )
    assert organiser.post(page, {"url": "https://a.example/x", "events": ["notice"]}).status_code == 422
    organiser.post(f"{page}{endpoint.pk}/test/")
    listed = organiser.get(page).content.decode()
    for text in ("https://a.example/x", "재채점을 적용했을 때", Letter.objects.get().webhook_id, "시험"):
        assert text in listed
    assert secret_of(endpoint) not in listed
    assert "https://a.example/x" not in organiser.get(PAGE).content.decode(), "it is nobody's own"
    elsewhere = f"/competitions/{other.slug}/manage/webhooks/{endpoint.pk}/"
    assert organiser.get(elsewhere).status_code == organiser.post(f"{elsewhere}test/").status_code == 404
    organiser.post(f"{page}{endpoint.pk}/remove/", {"confirm": "on"})
    assert not Endpoint.objects.exists()


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
    assert client.post(f"{PAGE}{pk}/remove/").status_code == 422
    assert Endpoint.objects.exists()
    client.post(f"{PAGE}{pk}/remove/", {"confirm": "on"})
    assert not Endpoint.objects.exists()
