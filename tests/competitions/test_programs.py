"""Webhooks of a competition: its organisers' programs hear what organisers see, and of no person anything."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions import programs
from malpan.competitions.models import Competition, CompetitionEndpoint, CompetitionRole, Phase
from malpan.competitions.questions import ask_question
from malpan.competitions.roles import appoint
from malpan.competitions.setup import remove_competition
from malpan.core.models import AuditEntry
from malpan.notifications import endpoints, public_http, sending, signatures, webhooks
from malpan.notifications.errors import EndpointAddressRefused, EndpointNotFound, TooManyEndpoints
from malpan.notifications.models import Endpoint, Letter
from malpan.teams.telling import tell_due
from tests.factories import CompetitionFactory, PhaseFactory, TeamFactory, UserFactory, leader_of
from tests.notifications.receiver import is_signed, listening

pytestmark = pytest.mark.django_db
EVENTS = ["scored", "rescored", "question_asked", "phase_opened", "phase_closed"]


@pytest.fixture(autouse=True)
def _all_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_http, "is_public", lambda _address: True)


@pytest.fixture
def competition() -> Competition:
    """Not the first one: ids of another must not fit."""
    CompetitionFactory.create()
    return CompetitionFactory.create()


@pytest.fixture
def organiser(competition: Competition) -> User:
    return appointed(competition, CompetitionRole.Role.ORGANISER)


def appointed(competition: Competition, role: str) -> User:
    person = UserFactory.create()
    appoint(competition=competition, user=person, role=role, actor=None)
    return person


def made(competition: Competition, actor: User, url: str = "https://hooks.example.com/x") -> CompetitionEndpoint:
    return programs.create_endpoint(competition=competition, url=url, events=EVENTS, actor=actor)


def heard(competition: Competition) -> list[dict[str, Any]]:
    """What the programs of the competition are told now."""
    with listening() as receiver:
        Endpoint.objects.filter(pk__in=programs.endpoints_of(competition).values("pk")).update(url=receiver.address)
        webhooks.deliver_due()
    return [json.loads(body) for bodies in receiver.arrived.values() for body in bodies]


def test_a_question_is_told_of_without_who_asked_and_what(competition: Competition, organiser: User) -> None:
    made(competition, organiser)
    made(CompetitionFactory.create(), organiser)
    asker = UserFactory.create(name="이몽룡", email="mong@example.com")
    question = ask_question(competition=competition, asked_by=asker, title="제목 카나리아", body="본문 카나리아")
    assert Letter.objects.get().person is None
    [said] = heard(competition)
    assert said["type"] == "question_asked"
    assert said["data"].pop("url").endswith(f"/manage/questions/{question.pk}/")
    assert said["data"] == {"competition": competition.slug, "question": question.pk}


def test_phases_are_told_of_with_the_names_of_addresses(competition: Competition, organiser: User) -> None:
    now = timezone.now()
    phase = PhaseFactory.create(track__competition=competition, starts_at=now, ends_at=now + timedelta(days=9))
    TeamFactory.create(competition=competition)
    made(competition, organiser)
    tell_due()
    Phase.objects.update(starts_at=now - timedelta(days=3), ends_at=timezone.now())
    tell_due()
    [closed] = heard(competition)  # the opening is no longer true
    assert closed["type"] == "phase_closed"
    [line] = closed["data"]["phases"]
    assert (line["track"], line["phase"]) == (phase.track.slug, phase.slug)
    assert set(Letter.objects.filter(person=None).values_list("event", "state")) == {
        ("phase_opened", "dropped"), ("phase_closed", "sent"),
    }  # fmt: skip


def test_it_is_signed_and_tried_like_a_persons(competition: Competition, organiser: User) -> None:
    endpoint = made(competition, organiser)
    secret = signatures.secret_of(endpoint)
    with listening() as receiver:
        endpoints.update_endpoint(endpoint=endpoint, actor=organiser, url="https://b.example/")
        Endpoint.objects.update(url=receiver.address)
        tried = endpoints.try_endpoint(endpoint=endpoint)
        webhooks.deliver_due()
    assert is_signed(secret, receiver.headers[0], receiver.arrived[tried.webhook_id][0])
    own = programs.endpoints_of(competition)
    assert endpoints.send_again(rows=own, pk=tried.pk).state == "waiting"
    with pytest.raises(EndpointNotFound):
        endpoints.send_again(rows=programs.endpoints_of(CompetitionFactory.create()), pk=tried.pk)
    assert not endpoints.endpoints_of(organiser).exists(), "it is nobody's own"


def test_what_is_changed_is_in_the_log_of_the_competition(competition: Competition, organiser: User) -> None:
    endpoint = made(competition, organiser)
    change: dict[str, Any] = {"endpoint": endpoint, "actor": organiser}
    endpoints.update_endpoint(**change, events=["scored"])
    endpoints.switch_endpoint(**change, is_on=False)
    endpoints.remove_endpoint(**change)
    assert not Endpoint.objects.exists()
    rows = AuditEntry.objects.filter(competition_pk=competition.pk, object_type="competitions.competitionendpoint")
    actions = list(rows.order_by("pk").values_list("action", "actor"))
    assert actions == [(f"endpoint.{name}", organiser.pk) for name in ("create", "update", "switch_off", "remove")]


def test_who_may_change_it_hears_that_it_was_switched_off(competition: Competition, organiser: User) -> None:
    owner = appointed(competition, CompetitionRole.Role.OWNER)
    for role in ("operator", "viewer"):
        appointed(competition, role)
    with listening(lambda _key, _before: 410) as receiver:
        endpoint = made(competition, organiser)
        Endpoint.objects.update(url=f"{receiver.address}/geheim")
        endpoints.try_endpoint(endpoint=endpoint)
        webhooks.deliver_due()
    assert CompetitionEndpoint.objects.get().off_at is not None
    entry = AuditEntry.objects.get(action="endpoint.switch_off")
    assert (entry.competition_pk, entry.actor) == (competition.pk, None)
    sending.deliver_due()
    assert {message.to[0] for message in mail.outbox} == {owner.email, organiser.email}
    assert all("geheim" not in message.body and competition.title_ko in message.subject for message in mail.outbox)
    assert f"/competitions/{competition.slug}/manage/webhooks/" in mail.outbox[0].body


def test_an_organiser_who_was_dismissed_meanwhile_hears_nothing(competition: Competition, organiser: User) -> None:
    with listening(lambda _key, _before: 410) as receiver:
        endpoint = made(competition, organiser)
        Endpoint.objects.update(url=receiver.address)
        endpoints.try_endpoint(endpoint=endpoint)
        webhooks.deliver_due()
    CompetitionRole.objects.all().delete()
    sending.deliver_due()
    assert mail.outbox == []


def test_a_competition_has_so_many_and_no_bad_address(competition: Competition, organiser: User) -> None:
    made(CompetitionFactory.create(), organiser)
    for _ in range(endpoints.ENDPOINTS_MAX):
        made(competition, organiser)
    with pytest.raises(TooManyEndpoints):
        made(competition, organiser)
    with pytest.raises(EndpointAddressRefused):
        made(CompetitionFactory.create(), organiser, "http://hooks.example.com/")


def test_it_goes_with_its_competition() -> None:
    hidden, person = CompetitionFactory.create(is_published=False), UserFactory.create()
    made(hidden, person)
    remove_competition(competition=hidden, actor=person)
    assert not Endpoint.objects.exists()


def test_a_members_webhook_hears_nothing_of_the_organisers(competition: Competition, organiser: User) -> None:
    """Though its events are called the same."""
    person = leader_of(TeamFactory.create(competition=competition))
    Endpoint.objects.create(person=person, url="https://hooks.example.com/", events=EVENTS)
    ask_question(competition=competition, asked_by=person, title="제목", body="본문")
    assert not Letter.objects.exists()
