"""Making, seeing and revoking one's tokens to the API."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from malpan.accounts.errors import TooManyApiTokens
from malpan.accounts.models import ApiToken, User
from malpan.accounts.services import API_TOKENS_MAX, create_api_token, revoke_api_token
from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from tests.factories import UserFactory, finished_submission, leader_of
from tests.threads import at_once
from tests.web import html
from tests.web.conftest import client_of

PAGE = "/tokens/"


@pytest.fixture
def person(db: None) -> User:
    return UserFactory.create()


def made(client: Client, label: str = "laptop") -> str:
    """The token that the page shows after making one."""
    response = client.post(PAGE, {"label": label}, follow=True)
    assert response.redirect_chain == [(PAGE, 302)]
    return html.parse(response.content.decode()).one("section", "copy-box").one("input").attributes["value"]


def api_status(submission: Submission, token: str) -> int:
    headers = {"Authorization": f"Bearer {token}"}
    return Client().get(f"/api/v1/submissions/{submission.public_id}/", headers=headers).status_code


def test_a_made_token_opens_the_api_until_it_is_revoked(phase: Phase, team: Team, member: Client) -> None:
    submission = finished_submission(phase, team, 0.5, submitted_by=leader_of(team))
    token = made(member)
    assert api_status(submission, token) == 200
    response = member.post(f"{PAGE}{ApiToken.objects.get().pk}/revoke/", follow=True)
    assert "‘laptop’ 토큰을 폐기했습니다" in response.content.decode()
    assert api_status(submission, token) == 401
    row = html.parse(member.get(PAGE).content.decode()).one("tbody")
    assert "폐기함" in row.text
    assert row.all("form") == []


def test_a_token_is_shown_once_and_only_its_hash_is_kept(person: User) -> None:
    client = client_of(person)
    token = made(client)
    assert re.fullmatch(r"mlp_[\w-]{20,}", token)
    response = client.get(PAGE)
    assert token not in response.content.decode()
    assert "no-store" in response.headers["Cache-Control"]
    assert f"{token[:8]}…" in html.parse(response.content.decode()).one("tbody").text
    assert token not in str(ApiToken.objects.values().get())


def test_the_page_says_how_a_token_is_used(person: User) -> None:
    text = client_of(person).get(PAGE).content.decode()
    assert "Authorization: Bearer mlp_…" in text
    assert "http://testserver/api/v1/competitions/COMPETITION/tracks/TRACK/submissions/" in text


@pytest.mark.parametrize("label", ["", " ", "\u200b", "a" * 61])
def test_a_token_needs_a_name_that_fits(person: User, label: str) -> None:
    response = client_of(person).post(PAGE, {"label": label})
    assert response.status_code == 422
    assert html.parse(response.content.decode()).one("ul", "errorlist").text
    assert ApiToken.objects.count() == 0


def test_a_person_has_so_many_working_tokens_and_no_more(person: User) -> None:
    rows = [create_api_token(user=person, label=f"t{n}")[0] for n in range(API_TOKENS_MAX)]
    create_api_token(user=UserFactory.create(), label="another person's")
    client = client_of(person)
    response = client.post(PAGE, {"label": "one more"})
    assert response.status_code == 409
    assert "이미 10개 있습니다" in html.parse(response.content.decode()).one("div", "error").text
    revoke_api_token(api_token=rows[0], actor=person)
    assert made(client)


@pytest.mark.django_db(transaction=True)
def test_the_limit_holds_for_requests_at_once() -> None:
    person = UserFactory.create()
    outcomes = at_once([lambda: create_api_token(user=person, label="t")] * (API_TOKENS_MAX + 4))
    assert sum(isinstance(each, TooManyApiTokens) for each in outcomes) == 4
    assert person.api_tokens.count() == API_TOKENS_MAX


def test_other_peoples_tokens_are_neither_seen_nor_revoked(person: User) -> None:
    row, _token = create_api_token(user=UserFactory.create(), label="not yours")
    client = client_of(person)
    assert "not yours" not in client.get(PAGE).content.decode()
    for pk in (row.pk, row.pk + 1, 99999999999999999999):
        assert client.post(f"{PAGE}{pk}/revoke/").status_code == 404
    row.refresh_from_db()
    assert row.revoked_at is None


def test_a_visitor_is_sent_to_log_in(person: User) -> None:
    row, _token = create_api_token(user=person, label="t")
    for response in (Client().get(PAGE), Client().post(PAGE, {"label": "t"}), Client().post(f"{PAGE}{row.pk}/revoke/")):
        assert response.status_code == 302
        assert response.headers["Location"].startswith("/accounts/login/?next=")
    row.refresh_from_db()
    assert (row.revoked_at, ApiToken.objects.count()) == (None, 1)


def test_a_token_is_not_revoked_by_a_link(person: User) -> None:
    row, _token = create_api_token(user=person, label="t")
    assert client_of(person).get(f"{PAGE}{row.pk}/revoke/").status_code == 405


def test_the_menu_leads_to_the_page(person: User) -> None:
    menu = html.parse(client_of(person).get("/").content.decode()).one("div", "menu-list")
    assert PAGE in [a.attributes["href"] for a in menu.all("a")]
