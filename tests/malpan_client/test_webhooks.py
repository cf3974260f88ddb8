"""``malpan webhooks``: against the site itself, and what it says of what it finds."""

from __future__ import annotations

import io

import pytest
from django.utils import timezone

from malpan.competitions.roles import appoint
from malpan.notifications.models import Endpoint, Letter
from tests.factories import CompetitionFactory, UserFactory
from tests.malpan_client.scripted import NOW, problem

ONE = {
    "id": 7, "url": "https://a.example/x", "events": ["scored", "notice"], "is_on": True, "created_at": NOW,
    "failing_since": None, "off_at": None,
}  # fmt: skip


@pytest.mark.django_db(transaction=True)
def test_a_webhook_is_made_tried_changed_and_removed_by_the_command_alone(by_person):
    person = UserFactory.create()
    made = by_person(person, "webhooks", "create", "https://a.example/x", "--events", "scored, notice", "--json").json
    assert made["secret"].startswith("whsec_")
    number = str(made["id"])
    listed = by_person(person, "webhooks", "list").out
    assert "https://a.example/x" in listed
    assert "scored, notice" in listed
    assert made["secret"] not in listed
    by_person(person, "webhooks", "test", number)
    delivery = Letter.objects.get()
    assert delivery.webhook_id in by_person(person, "webhooks", "log", number).out
    Letter.objects.update(state="failed")
    by_person(person, "webhooks", "resend", number, str(delivery.pk))
    assert Letter.objects.get().state == "waiting"
    by_person(person, "webhooks", "update", number, "--url", "https://b.example/", "--events", "rescored", "--off")
    found = Endpoint.objects.get()
    assert (found.url, found.events, found.off_at is None) == ("https://b.example/", ["rescored"], False)
    assert "꺼져 있는" in by_person(person, "webhooks", "test", number, status=4).err
    by_person(person, "webhooks", "remove", number, "--yes")
    assert not Endpoint.objects.exists()
    assert "없습니다" in by_person(person, "webhooks", "list").out
    assert by_person(person, "webhooks", "log", number, status=6).out == ""


@pytest.mark.django_db(transaction=True)
def test_an_organiser_has_those_of_a_contest(by_person):
    competition, person = CompetitionFactory.create(), UserFactory.create()
    of_it = ("--contest", competition.slug)
    create = ("webhooks", "create", "https://a.example/x", "--events", "rescored", *of_it)
    assert by_person(person, *create, status=6).out == ""
    appoint(competition=competition, user=person, role="organiser", actor=None)
    number = str(by_person(person, *create, "--json").json["id"])
    assert "https://a.example/x" in by_person(person, "webhooks", "list", *of_it).out
    assert "없습니다" in by_person(person, "webhooks", "list").out
    by_person(person, "webhooks", "test", number, *of_it)
    delivery = Letter.objects.get()
    assert delivery.webhook_id in by_person(person, "webhooks", "log", number, *of_it).out
    Letter.objects.update(state="sent", sent_at=timezone.now())
    by_person(person, "webhooks", "resend", number, str(delivery.pk), *of_it)
    by_person(person, "webhooks", "update", number, "--off", *of_it)
    assert competition.endpoints.get().off_at is not None
    by_person(person, "webhooks", "remove", number, "--yes", *of_it)
    assert not Endpoint.objects.exists()


def test_the_secret_is_shown_and_an_address_may_be_read_instead(command, script, monkeypatch):
    script.on("POST", "webhooks/", ONE | {"secret": "whsec_abc"})
    monkeypatch.setattr("sys.stdin", io.StringIO("https://a.example/x\n"))
    done = command("webhooks", "create", "-", "--events", "scored,notice")
    assert "whsec_abc" in done.out
    assert script.asked("POST")[0].body == b'{"url": "https://a.example/x", "events": ["scored", "notice"]}'


@pytest.mark.parametrize(
    ("more", "said"),
    [({}, "켜짐"), ({"is_on": False}, "꺼짐"), ({"failing_since": NOW}, "실패하는 중 2026-11-20 14:00 KST")],
)
def test_the_state_is_told_in_words(command, script, more, said):
    script.on("GET", "webhooks/", {"items": [ONE | more], "next": None, "count": 1})
    assert said in command("webhooks", "list").out


def test_what_is_wrong_is_said(command, script):
    script.on("PATCH", "webhooks/7/", problem(422, "endpoint_address_refused", "https://로 시작해야 합니다."))
    done = command("webhooks", "update", "7", "--url", "http://a.example/")
    assert (done.status, "https://로" in done.err) == (1, True)
    assert command("webhooks", "update", "7").status == 2
    assert script.asked("DELETE") == []
    assert command("webhooks", "remove", "7").status == 2
