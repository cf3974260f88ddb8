"""What is put into the outbox: to whom, to which of their programs, when, and once."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from malpan.accounts.models import User
from malpan.notifications import events
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.outbox import call, forget_dropped, post, post_once
from tests.factories import UserFactory
from tests.notifications.conftest import NAME

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("told")]
FACTS = {"said": "말"}


def endpoint_of(person: User, **fields: Any) -> Endpoint:
    return Endpoint.objects.create(person=person, url="https://a.example/", **{"events": [NAME], **fields})


def test_people_and_those_of_their_programs_that_hear_of_it_have_a_letter_each() -> None:
    people = UserFactory.create_batch(3)
    last = endpoint_of(people[0], pk=2_000_000_000)  # though the database finds it first
    wanted = [endpoint_of(people[0], events=["another", NAME]), last, endpoint_of(people[1])]
    endpoint_of(people[0], events=["another"])
    endpoint_of(people[1], off_at=timezone.now())
    endpoint_of(UserFactory.create())
    User.objects.filter(pk=people[0].pk).update(name="다른 이름")  # so that the database finds it last

    assert post(event=NAME, key="k", people=[each.pk for each in reversed(people)], facts=FACTS) == 3

    letters = Letter.objects.order_by("pk")
    assert [each.person for each in letters.filter(endpoint=None)] == people
    called = letters.exclude(endpoint=None)
    assert [(each.endpoint, each.person) for each in called] == [(each, each.person) for each in wanted]
    assert {(each.event, each.key, each.facts["said"]) for each in letters} == {(NAME, "k", "말")}


def test_programs_are_called_that_hear_of_it_and_nobody_else() -> None:
    wanted, due = endpoint_of(UserFactory.create()), timezone.now() + timedelta(days=1)
    endpoint_of(wanted.person)
    deaf = endpoint_of(wanted.person, events=["another"])

    call(event=NAME, key="k", endpoints=Endpoint.objects.filter(pk__in=[wanted.pk, deaf.pk]), facts=FACTS, due=due)

    letter = Letter.objects.get()
    assert (letter.endpoint, letter.event, letter.key, letter.not_before) == (wanted, NAME, "k", due)


def test_it_is_sent_at_once_or_when_it_is_due() -> None:
    person, due = UserFactory.create(), timezone.now() + timedelta(days=1)
    endpoint_of(person)
    before = timezone.now()

    for key, moment in (("now", None), ("later", due)):
        post(event=NAME, key=key, people=User.objects.filter(pk=person.pk), facts=FACTS, due=moment)

    assert set(Letter.objects.filter(key="later").values_list("not_before", flat=True)) == {due}
    at_once = Letter.objects.filter(key="now").values_list("not_before", flat=True)
    assert len(at_once) == 2
    assert all(before <= each <= timezone.now() for each in at_once)


def test_of_an_event_without_a_mail_programs_alone_hear(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(events._events, NAME, replace(events.event_of(NAME), sample=None))
    person = UserFactory.create()
    endpoint = endpoint_of(person)

    assert post(event=NAME, key="k", people=[person.pk], facts=FACTS) == 1

    assert Letter.objects.get().endpoint == endpoint


def test_what_the_clock_made_happen_is_told_once_and_not_to_who_comes_later() -> None:
    person, later = UserFactory.create_batch(2)
    people = User.objects.filter(pk=person.pk)

    assert post_once(event=NAME, key="k", people=people, facts=FACTS)
    assert not post_once(event=NAME, key="k", people=User.objects.filter(pk=later.pk), facts=FACTS)
    assert post_once(event=NAME, key="another", people=people, facts=FACTS)

    assert list(Letter.objects.order_by("pk").values_list("key", "person")) == [
        ("k", person.pk), ("another", person.pk),
    ]  # fmt: skip


def test_what_was_dropped_can_be_posted_again_and_nothing_else() -> None:
    people = UserFactory.create_batch(3)
    for person in people:
        endpoint_of(person)
    keys = [each.pk for each in people]
    states = (Letter.State.DROPPED, Letter.State.SENT, Letter.State.FAILED)
    for key in ("k", "another"):
        post(event=NAME, key=key, people=keys, facts=FACTS)
    for person, state in zip(people, states, strict=True):
        sent_at = timezone.now() if state == Letter.State.SENT else None
        Letter.objects.filter(person=person).update(state=state, sent_at=sent_at)

    forget_dropped(["k"])
    for key in ("k", "another"):
        post(event=NAME, key=key, people=keys, facts=FACTS)

    again = Letter.objects.filter(state=Letter.State.WAITING)
    assert [(each.key, each.person) for each in again] == [("k", people[0])] * 2
    assert Letter.objects.count() == 12
