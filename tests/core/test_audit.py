"""The audit log: who did what to which row, and only the columns that changed."""

import pytest

from malpan.competitions.models import CompetitionRole
from malpan.core import audit
from tests.factories import CompetitionFactory, UserFactory

pytestmark = pytest.mark.django_db


def test_entry_names_actor_action_and_row():
    actor, competition = UserFactory.create(), CompetitionFactory.create()

    entry = audit.record(actor=actor, action="competition.update", obj=competition, before={"a": 1}, after={"a": 2})

    assert (entry.actor, entry.action) == (actor, "competition.update")
    assert (entry.object_type, entry.object_id) == ("competitions.competition", str(competition.pk))


def test_entry_refers_to_the_person_it_is_about_and_holds_neither_name_nor_address():
    user, role = UserFactory.create(name="길동"), "viewer"
    held = CompetitionRole.objects.create(user=user, competition=CompetitionFactory.create(), role=role)
    before, after = audit.changed({"name": "옛 이름", "email": ""}, audit.snapshot(user))

    edited = audit.record(actor=None, action="user.update", obj=user, before=before, after=after)
    appointed = audit.record(actor=None, action="role.appoint", obj=held, after={"email": user.email, "role": role})
    led = audit.record(actor=None, action="team.hand_over", obj=held.competition, person=user)

    assert [entry.person for entry in (edited, appointed, led)] == [user] * 3
    assert (edited.before["name"], edited.after["name"], edited.before["email"]) == ("***", "***", "")
    assert appointed.after == {"email": "***", "role": role}


def test_snapshot_holds_columns_but_no_password():
    user = UserFactory.create()

    taken = audit.snapshot(user)

    assert taken["email"] == user.email
    assert "password" not in taken


def test_moments_and_durations_survive_the_way_into_the_database():
    competition = CompetitionFactory.create()

    entry = audit.record(actor=None, action="x.y", obj=competition, after=audit.snapshot(competition))
    entry.refresh_from_db()

    assert entry.after["created_at"].startswith(str(competition.created_at.year))


def test_changed_keeps_only_what_differs():
    assert audit.changed({"a": 1, "b": 2}, {"a": 1, "b": 3}) == ({"b": 2}, {"b": 3})
