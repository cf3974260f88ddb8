"""Clients of the people behind a competition: one of each role, one of another competition, one without any."""

from __future__ import annotations

from django.test import Client

from malpan.competitions import roles
from malpan.competitions.models import Competition, CompetitionRole
from tests.factories import CompetitionFactory, UserFactory


def client_with_role(competition: Competition, role: str, **fields: object) -> Client:
    """The browser of a new person with ``role`` in ``competition``."""
    person = UserFactory.create(**fields)
    roles.appoint(competition=competition, user=person, role=role, actor=None)
    return client_of(person)


def client_of(person: object) -> Client:
    client = Client()
    client.force_login(person)
    return client


def strangers(competition: Competition) -> dict[str, Client]:
    """People who must not learn that there are manage pages: a participant, staff of the site, an owner elsewhere."""
    elsewhere = CompetitionFactory.create()
    return {
        "participant": client_of(UserFactory.create()),
        "staff": client_of(UserFactory.create(is_staff=True)),
        "owner of another competition": client_with_role(elsewhere, CompetitionRole.Role.OWNER),
    }


def statuses(competition: Competition, method: str, page: str) -> dict[str, int]:
    """How the site answers each kind of person at ``page`` of the manage pages."""
    address = f"/competitions/{competition.slug}/manage/{page}"
    people = {role: client_with_role(competition, role) for role in CompetitionRole.Role.values}
    people |= strangers(competition) | {"visitor": Client()}
    return {name: getattr(client, method)(address).status_code for name, client in people.items()}


def expected(*, owner: int, organiser: int, operator: int, viewer: int) -> dict[str, int]:
    """What ``statuses`` must say: people from elsewhere get 404, a visitor is sent to log in."""
    inside = {"owner": owner, "organiser": organiser, "operator": operator, "viewer": viewer}
    outside = {"participant": 404, "staff": 404, "owner of another competition": 404, "visitor": 302}
    return inside | outside
