"""Clients of the people behind a competition. Who of them may do what is in the two matrices of ``tests.web``."""

from __future__ import annotations

from django.test import Client

from malpan.competitions import roles
from malpan.competitions.models import Competition
from tests.factories import UserFactory


def client_with_role(competition: Competition, role: str, **fields: object) -> Client:
    """The browser of a new person with ``role`` in ``competition``."""
    person = UserFactory.create(**fields)
    roles.appoint(competition=competition, user=person, role=role, actor=None)
    return client_of(person)


def client_of(person: object) -> Client:
    client = Client()
    client.force_login(person)
    return client
