"""The title of a page tells who listens to it that a form came back with errors, and only then."""

from __future__ import annotations

from typing import Any, Final

import pytest
from django.test import Client

from malpan.competitions.models import Phase
from malpan.teams.models import Team
from tests.factories import leader_of
from tests.web import html
from tests.web.conftest import Contest, client_of
from tests.web.manage_people import client_with_role

ERROR: Final = "오류 · "


def title_of(response: Any) -> str:
    return html.parse(response.content.decode()).one("head").one("title").text


def refused(address: str, client: Client, data: dict[str, Any]) -> str:
    """The title of the page that a form comes back with; without the form sent, the page has no such title."""
    assert not title_of(client.get(address, follow=True)).startswith(ERROR)
    return title_of(client.post(address, data, follow=True))


@pytest.mark.parametrize(
    ("address", "data"),
    [
        ("/accounts/login/", {"login": "nobody@example.com", "password": "x" * 9}),  # of the whole form
        ("/accounts/signup/", {"email": "not-an-address"}),  # of its fields
        ("/accounts/password/reset/", {"email": ""}),
    ],
)
def test_forms_of_accounts(db: None, address: str, data: dict[str, str]) -> None:
    assert refused(address, Client(), data).startswith(ERROR)


@pytest.mark.parametrize(
    ("page", "at", "data"),
    [
        ("team/", "team/rename/", {"name": "말\u200b글"}),
        ("team/", "team/invite/email/", {"email": "no address"}),
        ("team/", "team/leave/", {}),  # a box that was not ticked
        ("submit/", "submit/", {}),  # no file
        ("questions/", "questions/ask/", {}),
    ],
)
def test_forms_of_participants(contest: Contest, page: str, at: str, data: dict[str, str]) -> None:
    client = client_of(contest.leader)
    assert not title_of(client.get(contest.url(page))).startswith(ERROR)
    assert title_of(client.post(contest.url(at), data, follow=True)).startswith(ERROR)


def test_a_file_with_errors(contest: Contest) -> None:
    address = contest.url(f"submit/?rejection={contest.rejection.pk}")
    assert title_of(client_of(contest.leader).get(address)).startswith(ERROR)


@pytest.mark.parametrize("at", ["setup/texts/", "notices/new/", "phases/new/norms/", "teams/new/"])
def test_forms_of_organisers(contest: Contest, at: str) -> None:
    organiser = client_with_role(contest.competition, "organiser")
    assert refused(contest.url(f"manage/{at}"), organiser, {}).startswith(ERROR)


def test_a_form_with_an_address_of_its_own(contest: Contest) -> None:
    owner = client_with_role(contest.competition, "owner")
    assert not title_of(owner.get(contest.url("manage/roles/"))).startswith(ERROR)
    assert title_of(owner.post(contest.url("manage/roles/appoint/"), {})).startswith(ERROR)


def test_in_english_and_once(phase: Phase, team: Team) -> None:
    client = client_of(leader_of(team))
    address = f"/competitions/{phase.track.competition.slug}/team/rename/"
    response = client.post(address, {"name": "말\u200b글"}, headers={"accept-language": "en"})
    assert title_of(response).startswith("Error · Team")
    assert response.content.decode().count("Error · ") == 1


def test_words_that_people_typed_are_no_error(contest: Contest) -> None:
    contest.competition.summary_ko = 'aria-invalid="true" <ul class="errorlist"> class="notice error" role="alert"'
    contest.competition.save()
    assert not title_of(Client().get(contest.url())).startswith(ERROR)
