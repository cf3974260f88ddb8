"""Who may do what in a competition: the table of the permissions, written once more."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from malpan.competitions.errors import ManageNotFound, NotAllowed
from malpan.competitions.models import Competition, CompetitionRole
from malpan.competitions.permissions import PERMISSIONS, Permission, may, permissions_of, require
from tests.factories import CompetitionFactory, UserFactory

pytestmark = pytest.mark.django_db
MAY = {
    "owner": {"view", "view_hidden", "operate", "manage", "view_answers", "own"},
    "organiser": {"view", "view_hidden", "operate", "manage", "view_answers"},
    "operator": {"view", "view_hidden", "operate"},
    "viewer": {"view", "view_hidden"},
}


@pytest.fixture
def competition() -> Competition:
    """One with a person of each role, beside another with an owner."""
    made = CompetitionFactory.create()
    for role in MAY:
        CompetitionRole.objects.create(competition=made, user=UserFactory.create(), role=role)
    CompetitionRole.objects.create(competition=CompetitionFactory.create(), user=UserFactory.create(), role="owner")
    return made


def test_every_role_is_in_the_table() -> None:
    assert set(CompetitionRole.Role.values) == set(PERMISSIONS) == set(MAY)


@pytest.mark.parametrize("role", MAY)
def test_a_role_may_what_the_table_says_and_no_more(competition: Competition, role: str) -> None:
    user = competition.roles.get(role=role).user
    assert permissions_of(user, competition) == MAY[role]
    for permission in Permission:
        assert may(user, competition, permission) is (permission in MAY[role])
        if permission in MAY[role]:
            assert require(user, competition, permission) == MAY[role]
        else:
            with pytest.raises(NotAllowed) as refused:
                require(user, competition, permission)
            assert refused.value.params == {"permission": permission}


@pytest.mark.parametrize("role", MAY)
def test_a_role_is_of_its_competition(competition: Competition, role: str) -> None:
    user = competition.roles.get(role=role).user
    other = Competition.objects.exclude(pk=competition.pk).get()
    assert permissions_of(user, other) == frozenset()
    with pytest.raises(ManageNotFound):
        require(user, other, Permission.VIEW)


def test_strangers_and_accounts_that_are_closed_may_nothing(competition: Competition) -> None:
    owner = competition.roles.get(role="owner").user
    owner.is_active = False
    for user in (AnonymousUser(), UserFactory.create(), owner, UserFactory.create(is_superuser=True, is_active=False)):
        assert permissions_of(user, competition) == frozenset()
        with pytest.raises(ManageNotFound):
            require(user, competition, Permission.VIEW)


def test_a_superuser_may_everything(competition: Competition) -> None:
    assert permissions_of(UserFactory.create(is_superuser=True), competition) == MAY["owner"]
