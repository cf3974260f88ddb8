"""Roles on the manage pages: owners alone appoint, change and dismiss, and one of them always stays."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from malpan.accounts.models import User
from malpan.competitions import roles
from malpan.competitions.models import Competition, CompetitionRole
from malpan.core.models import AuditEntry
from tests.factories import CompetitionFactory, TeamFactory, UserFactory, leader_of
from tests.web import html
from tests.web.manage_people import client_of


@pytest.fixture
def competition(db: None) -> Competition:
    return CompetitionFactory.create()


@pytest.fixture
def owner(competition: Competition) -> User:
    person = UserFactory.create(name="주인")
    roles.appoint(competition=competition, user=person, role="owner", actor=None)
    return person


def access(competition: Competition, page: str = "") -> str:
    return f"/competitions/{competition.slug}/manage/roles/{page}"


def page_of(response: Any) -> html.Element:
    page = html.parse(response.content.decode())
    assert html.problems(page) == []
    return page


def held_by(person: User) -> CompetitionRole:
    return CompetitionRole.objects.get(user=person)


def test_an_owner_appoints_by_the_email_of_an_account(competition: Competition, owner: User) -> None:
    person = UserFactory.create(email="helper@example.com", name="도우미")
    response = client_of(owner).post(
        access(competition, "appoint/"), {"email": "Helper@Example.com", "role": "operator"}, follow=True
    )
    assert "도우미" in page_of(response).one("table").text
    assert held_by(person).role == "operator"
    assert client_of(person).get(f"/competitions/{competition.slug}/manage/").status_code == 200


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"email": "nobody@example.com", "role": "viewer"}, "가입한 계정이 없습니다"),
        ({"email": "not an address", "role": "viewer"}, "올바른 형식으로"),
        ({"email": "owner@example.com", "role": "viewer"}, "이미 이 대회에서 역할을 맡은"),
        ({"email": "nobody@example.com", "role": "emperor"}, ""),
    ],
)
def test_a_refused_appointment_is_explained_beside_its_field(
    competition: Competition, owner: User, fields: dict[str, str], words: str
) -> None:
    User.objects.filter(pk=owner.pk).update(email="owner@example.com")
    response = client_of(owner).post(access(competition, "appoint/"), fields)
    assert 400 <= response.status_code < 500
    assert words in page_of(response).all("ul", "errorlist")[0].text
    assert CompetitionRole.objects.count() == 1


def test_an_owner_changes_and_dismisses(competition: Competition, owner: User) -> None:
    person = UserFactory.create()
    held = roles.appoint(competition=competition, user=person, role="viewer", actor=owner)
    client = client_of(owner)
    client.post(access(competition, f"{held.pk}/"), {"role": "organiser"})
    assert held_by(person).role == "organiser"
    assert AuditEntry.objects.get(action="role.change").actor == owner
    client.post(access(competition, f"{held.pk}/dismiss/"))
    assert held_by(person).role == "organiser"
    client.post(access(competition, f"{held.pk}/dismiss/"), {"confirm": "on"})
    assert not CompetitionRole.objects.filter(user=person).exists()
    assert client_of(person).get(f"/competitions/{competition.slug}/manage/").status_code == 404


@pytest.mark.parametrize(("page", "fields"), [("", {"role": "viewer"}), ("dismiss/", {"confirm": "on"})])
def test_the_last_owner_is_told_why_nothing_changed(
    competition: Competition, owner: User, page: str, fields: dict[str, str]
) -> None:
    response = client_of(owner).post(access(competition, f"{held_by(owner).pk}/{page}"), fields, follow=True)
    assert "소유자가 한 명은 있어야 합니다" in page_of(response).one("div", "messages").text
    assert held_by(owner).role == "owner"


def test_an_owner_who_steps_down_is_led_away(competition: Competition, owner: User) -> None:
    roles.appoint(competition=competition, user=UserFactory.create(), role="owner", actor=owner)
    client = client_of(owner)
    response = client.post(access(competition, f"{held_by(owner).pk}/"), {"role": "viewer"})
    assert response["Location"] == "/"
    assert client.get(access(competition)).status_code == 403


def test_a_role_of_another_competition_is_not_found(competition: Competition, owner: User) -> None:
    held = roles.appoint(competition=CompetitionFactory.create(), user=UserFactory.create(), role="owner", actor=None)
    client = client_of(owner)
    assert client.post(access(competition, f"{held.pk}/"), {"role": "viewer"}).status_code == 404
    assert client.post(access(competition, f"{held.pk}/dismiss/"), {"confirm": "on"}).status_code == 404
    assert held_by(held.user).role == "owner"


def test_people_who_also_compete_are_marked(competition: Competition, owner: User) -> None:
    team = TeamFactory.create(competition=competition, name="겸직 팀")
    roles.appoint(competition=competition, user=leader_of(team), role="viewer", actor=owner)
    assert "참가 팀: 겸직 팀" in page_of(client_of(owner).get(access(competition))).one("table").text


def test_the_menu_shows_the_page_to_owners_alone(competition: Competition, owner: User) -> None:
    organiser = UserFactory.create()
    roles.appoint(competition=competition, user=organiser, role="organiser", actor=owner)

    def menu(person: User) -> list[str]:
        page = page_of(client_of(person).get(f"/competitions/{competition.slug}/manage/"))
        return [a.attributes["href"] for a in page.one("nav", "rail").all("a")]

    assert access(competition) in menu(owner)
    assert access(competition) not in menu(organiser)
    assert Client().get(access(competition)).status_code == 302
