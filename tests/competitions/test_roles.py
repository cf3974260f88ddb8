"""Roles: appoint, change, dismiss; a competition always keeps an owner who can log in; everything is audited."""

from functools import partial

import pytest
from django.db import IntegrityError, connection
from django.test.utils import CaptureQueriesContext

from malpan.accounts.errors import PersonNotFound
from malpan.competitions import roles
from malpan.competitions.errors import LastOwner, RoleAlreadyHeld, RoleNotFound
from malpan.competitions.models import CompetitionRole
from malpan.competitions.permissions import Permission, permissions_of
from malpan.core.models import AuditEntry
from malpan.teams.selectors import competing_with_a_role
from tests.factories import CompetitionFactory, TeamFactory, UserFactory, leader_of
from tests.locks import waits_for
from tests.threads import at_once

Role = CompetitionRole.Role
pytestmark = pytest.mark.django_db


def test_an_appointed_person_has_the_permissions_of_the_role_there_and_nowhere_else():
    competition, owner, person = CompetitionFactory.create(), UserFactory.create(), UserFactory.create()

    held = roles.appoint_by_email(
        competition=competition, email=f" {person.email.upper()} ", role="organiser", actor=owner
    )

    assert Permission.MANAGE in permissions_of(person, competition)
    assert permissions_of(person, CompetitionFactory.create()) == frozenset()
    entry = AuditEntry.objects.get(action="role.appoint")
    assert (entry.actor, entry.object_id, entry.competition_pk) == (owner, str(held.pk), competition.pk)
    assert (entry.after, entry.person) == ({"role": "organiser"}, person)


@pytest.mark.parametrize("fields", [{"email": "nobody@example.com"}, {"email": "gone@example.com"}])
def test_only_an_account_that_can_log_in_is_appointed(fields):
    UserFactory.create(email="gone@example.com", is_active=False)

    with pytest.raises(PersonNotFound):
        roles.appoint_by_email(competition=CompetitionFactory.create(), role="viewer", actor=None, **fields)


def test_a_person_has_one_role_per_competition():
    competition, person = CompetitionFactory.create(), UserFactory.create()
    roles.appoint(competition=competition, user=person, role="viewer", actor=None)

    with pytest.raises(RoleAlreadyHeld):
        roles.appoint(competition=competition, user=person, role="owner", actor=None)
    with pytest.raises(ValueError):
        roles.appoint(competition=competition, user=UserFactory.create(), role="emperor", actor=None)

    assert CompetitionRole.objects.get().role == Role.VIEWER


def test_a_change_stands_in_the_audit_log_with_before_and_after():
    competition, owner = CompetitionFactory.create(), UserFactory.create()
    held = roles.appoint(competition=competition, user=UserFactory.create(), role="viewer", actor=owner)

    roles.change(held=held, role="operator", actor=owner)
    roles.change(held=held, role="operator", actor=owner)

    entry = AuditEntry.objects.get(action="role.change")
    assert (entry.before["role"], entry.after["role"]) == ("viewer", "operator")


@pytest.mark.parametrize("act", [partial(roles.change, role="organiser"), roles.dismiss])
def test_the_last_owner_stays(act):
    competition, owner = CompetitionFactory.create(), UserFactory.create()
    held = roles.appoint(competition=competition, user=owner, role="owner", actor=owner)
    roles.appoint(competition=competition, user=UserFactory.create(is_active=False), role="owner", actor=owner)
    roles.appoint(competition=CompetitionFactory.create(), user=UserFactory.create(), role="owner", actor=owner)
    roles.appoint(competition=competition, user=UserFactory.create(), role="organiser", actor=owner)

    with pytest.raises(LastOwner):
        act(held=held, actor=owner)

    assert CompetitionRole.objects.get(pk=held.pk).role == Role.OWNER
    assert not AuditEntry.objects.filter(action__in=["role.change", "role.dismiss"]).exists()


def test_an_owner_goes_once_another_one_is_there():
    competition, owner, other = CompetitionFactory.create(), UserFactory.create(), UserFactory.create()
    held = roles.appoint(competition=competition, user=owner, role="owner", actor=owner)
    roles.appoint(competition=competition, user=other, role="owner", actor=owner)

    roles.dismiss(held=held, actor=other)

    assert [row.user for row in roles.roles_of(competition)] == [other]
    assert AuditEntry.objects.get(action="role.dismiss").person == owner
    with pytest.raises(RoleNotFound):
        roles.dismiss(held=held, actor=other)


def test_another_fault_of_the_database_is_not_taken_for_a_role_that_is_held(monkeypatch):
    def broken(**_facts):
        raise IntegrityError("another constraint")

    monkeypatch.setattr(roles.audit, "record", broken)
    with pytest.raises(IntegrityError):
        roles.appoint(competition=CompetitionFactory.create(), user=UserFactory.create(), role="viewer", actor=None)

    assert not CompetitionRole.objects.exists()


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("act", [partial(roles.change, role="organiser"), roles.dismiss])
def test_who_takes_an_owner_away_waits_for_whoever_changes_another(act):
    competition = CompetitionFactory.create()
    other, held = (
        roles.appoint(competition=competition, user=UserFactory.create(), role="owner", actor=None) for _ in range(2)
    )

    with waits_for(other):
        act(held=held, actor=None)
    with CaptureQueriesContext(connection) as captured:
        act(held=held, actor=None)

    locking = next(query["sql"] for query in captured if "FOR UPDATE" in query["sql"])
    assert locking.endswith('ORDER BY "competitions_competitionrole"."id" ASC FOR UPDATE'), "in one order: no deadlock"


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_dismiss_each_other_at_once_leave_one():
    competition = CompetitionFactory.create()
    held = [
        roles.appoint(competition=competition, user=UserFactory.create(), role="owner", actor=None) for _ in range(2)
    ]

    outcomes = at_once([partial(roles.dismiss, held=row, actor=None) for row in held])

    assert CompetitionRole.objects.filter(role="owner").count() == 1
    assert sum(isinstance(each, LastOwner) for each in outcomes) == 1


def test_a_role_of_another_competition_is_not_found():
    held = roles.appoint(competition=CompetitionFactory.create(), user=UserFactory.create(), role="owner", actor=None)

    other = roles.appoint(competition=CompetitionFactory.create(), user=held.user, role="viewer", actor=None)

    for competition, pk in ((other.competition, held.pk), (held.competition, other.pk)):
        with pytest.raises(RoleNotFound):
            roles.role_of(competition, pk)
    assert (roles.role_of(held.competition, held.pk), roles.role_of(other.competition, other.pk)) == (held, other)


def test_people_are_listed_by_rank_and_those_who_compete_are_named():
    competition = CompetitionFactory.create()
    team = TeamFactory.create(competition=competition, name="겸직")
    roles.appoint(competition=competition, user=leader_of(team), role="viewer", actor=None)
    owner = roles.appoint(competition=competition, user=UserFactory.create(), role="owner", actor=None)
    baseline = TeamFactory.create(competition=competition, is_baseline=True)
    roles.appoint(competition=competition, user=leader_of(baseline), role="operator", actor=None)
    roles.appoint(competition=CompetitionFactory.create(), user=UserFactory.create(), role="owner", actor=None)

    assert [row.role for row in roles.roles_of(competition)] == ["owner", "operator", "viewer"]
    assert competing_with_a_role(competition) == {leader_of(team).pk: "겸직"}
    assert roles.competitions_of(owner.user) == {competition.pk: "owner"}
