"""Staff are told of an alarm of the operators' page once, and once when it is over; nobody else ever hears of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.urls import reverse

from malpan.accounts.models import Scope, User
from malpan.accounts.services import create_api_token
from malpan.core.mail_state import MailState
from malpan.core.models import Chore
from malpan.jobs.heartbeat import Scorers, beat, scorers
from malpan.jobs.models import Job
from malpan.notifications import preferences, webhooks
from malpan.notifications.endpoints import create_endpoint, update_endpoint
from malpan.notifications.errors import EventNotForYou
from malpan.notifications.events import mailed_events
from malpan.notifications.models import Letter
from malpan.notifications.sending import deliver_due
from malpan.operation import incidents, tasks
from malpan.operation.incidents import HOLD, QUIET, follow
from malpan.operation.models import Incident
from malpan.operation.site_page import facts
from tests.factories import UserFactory
from tests.threads import at_once

pytestmark = pytest.mark.django_db

NOW = datetime.fromisoformat("2026-11-27T12:00:00+09:00")
MINUTE = timedelta(minutes=1)
OPERATORS = ("queue_stuck", "worker_silent", "disk_low", "chain_broken", "chain_unchecked", "mail_failing")
WRONG: dict[str, dict[str, Any]] = {
    "queue_stuck": {"lanes": [facts.Lane(Job.Lane.LIVE, 3, 0, timedelta(minutes=40))]},
    "worker_silent": {"scorers": Scorers(())},
    "disk_low": {"disk": facts.Disk(5, 100)},
    "chain_broken": {"chores": {"chain_check": Chore(name="chain_check", done_at=NOW, facts={"broken": ["norms"]})}},
    "chain_unchecked": {
        "chores": {"chain_check": Chore(name="chain_check", done_at=NOW - timedelta(hours=27), facts={"broken": []})}
    },
    "mail_failing": {"mail": MailState(NOW - timedelta(hours=1), NOW, "ConnectionRefusedError")},
}
WORDS = {
    "queue_stuck": ("40분 넘게 기다린", "40 minutes"),
    "worker_silent": ("채점하는 서버가 없습니다", "systemctl"),
    "disk_low": ("5%만", "5%"),
    "chain_broken": ("norms", "norms"),
    "chain_unchecked": ("하루 넘게 검사하지 못했습니다", "verify_chain", "2026-11-26 09:00"),
    "mail_failing": ("ConnectionRefusedError", "EMAIL_URL"),
}


class Site:
    """A site where all is well but for what is ``wrong``, and its clock."""

    def __init__(self) -> None:
        self.now = NOW
        self.wrong: dict[str, Any] = {}

    def facts(self, _now: datetime) -> dict[str, Any]:
        chores = {name: Chore(name=name, done_at=self.now, facts={}) for name in Chore.Name.values}
        well = {"scorers": scorers(), "lanes": [], "disk": facts.Disk(50, 100), "mail": MailState(NOW, None, "")}
        well |= {"no_room_at": None, "lacking": [], "held": []}
        wrong = dict(self.wrong)
        return well | {"chores": chores | wrong.pop("chores", {}), "now": self.now} | wrong

    def lasts(self, time: timedelta, *, every: timedelta = MINUTE) -> None:
        """The clock looks ``every`` minute for so long."""
        until = self.now + time
        while self.now < until:
            self.now += every
            follow(self.now)


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    made = Site()
    beat("scoring@a/0", {})
    monkeypatch.setattr(incidents, "facts_of_alarms", made.facts)
    return made


@pytest.fixture
def staff() -> User:
    UserFactory.create()
    return UserFactory.create(is_staff=True)


def sent() -> list[str]:
    """What staff got since the last look."""
    before = len(mail.outbox)
    deliver_due()
    return [f"{message.subject}\n{message.body}" for message in mail.outbox[before:]]


@pytest.mark.parametrize("event", OPERATORS)
def test_staff_hear_once_that_it_began_and_once_that_it_is_over(site: Site, staff: User, event: str) -> None:
    site.wrong = WRONG[event]
    site.lasts(HOLD)
    assert sent() == [], "it may pass by itself"
    site.lasts(6 * QUIET)
    [began] = sent()
    for word in (*WORDS[event], "[말판] 운영:", "[Malpan] Site:", "/manage/site/", "2026-11-27 12:01 KST"):
        assert word in began
    site.wrong = {}
    site.lasts(6 * QUIET)
    [over] = sent()
    for word in (*WORDS[event], "운영, 해결:", "Site, resolved:", "13:02 KST"):
        assert word in over
    assert {message.to[0] for message in mail.outbox} == {staff.email}
    assert Incident.objects.get().ended_at is not None


def test_what_passes_by_itself_tells_nobody_and_leaves_nothing(site: Site, staff: User) -> None:
    site.wrong = WRONG["worker_silent"]
    site.lasts(MINUTE)
    site.wrong = {}
    site.lasts(2 * QUIET)
    assert not Incident.objects.exists()
    assert not Letter.objects.exists()


def test_what_comes_and_goes_is_one_incident_and_what_comes_back_later_another(site: Site, staff: User) -> None:
    for _time in range(5):
        site.wrong = WRONG["disk_low"]
        site.lasts(3 * MINUTE)
        site.wrong = {}
        site.lasts(QUIET - 2 * MINUTE)
    assert len(sent()) == 1
    site.lasts(2 * QUIET)
    assert len(sent()) == 1
    site.wrong = WRONG["disk_low"]
    site.lasts(QUIET)
    assert len(sent()) == 1
    assert Incident.objects.count() == 2


def test_another_broken_chain_is_another_incident(site: Site, staff: User) -> None:
    site.wrong = WRONG["chain_broken"]
    site.lasts(QUIET)
    assert len(sent()) == 1
    both = Chore(name="chain_check", done_at=NOW, facts={"broken": ["essays", "norms"]})
    site.wrong = {"chores": {"chain_check": both}}
    site.lasts(QUIET)
    [told] = sent()
    assert "essays, norms" in told
    assert set(Incident.objects.values_list("subject", flat=True)) == {"essays", "norms"}


def test_what_becomes_urgent_is_told_once_more(site: Site, staff: User, monkeypatch: pytest.MonkeyPatch) -> None:
    [working] = scorers().all
    silent = type(working)(working.worker, timedelta(minutes=3), is_silent=True)
    site.wrong = {"scorers": Scorers((working, silent))}
    site.lasts(QUIET)
    [told] = sent()
    assert "채점 프로세스 1개가 보고하지 않습니다" in told
    site.wrong = {"scorers": Scorers((silent, silent))}
    site.lasts(QUIET)
    [told] = sent()
    assert "채점하는 서버가 없습니다" in told
    site.wrong = {"scorers": Scorers((working, silent))}
    site.lasts(QUIET)
    assert sent() == []


def test_a_mail_that_comes_after_the_end_says_only_that_it_is_over(site: Site, staff: User) -> None:
    site.wrong = WRONG["queue_stuck"]
    site.lasts(QUIET)
    site.wrong = {}
    site.lasts(2 * QUIET)
    [told] = sent()
    assert "운영, 해결:" in told


def test_who_is_staff_no_more_hears_nothing(site: Site, staff: User) -> None:
    site.wrong = WRONG["queue_stuck"]
    site.lasts(QUIET)
    User.objects.update(is_staff=False)
    assert sent() == []


def test_programs_of_staff_hear_of_it_and_nobody_elses_can_ask_to(site: Site, staff: User) -> None:
    create_endpoint(person=staff, url="https://hooks.example.com/", events=["disk_low"])
    other = User.objects.exclude(pk=staff.pk).get()
    for refused in (
        lambda: create_endpoint(person=other, url="https://hooks.example.com/", events=["disk_low"]),
        lambda: update_endpoint(
            endpoint=create_endpoint(person=other, url="https://a.example/", events=["notice"]),
            actor=other,
            events=["notice", "disk_low"],
        ),
    ):
        with pytest.raises(EventNotForYou):
            refused()
    site.wrong = WRONG["disk_low"]
    site.lasts(QUIET)
    request = webhooks._written(Letter.objects.exclude(endpoint=None).get())
    assert request is not None
    said = json.loads(request.body)
    assert said["type"] == "disk_low"
    assert {"is_over": False, "is_urgent": True, "subject": ""}.items() <= said["data"].items()
    assert "5%만" in said["data"]["text"]


def test_the_api_says_whom_an_event_is_for(db: None) -> None:
    token = create_api_token(user=UserFactory.create(), label="t", scopes=[Scope.READ, Scope.SUBMIT])[1]
    client = Client(headers={"Authorization": f"Bearer {token}"})
    body = {"url": "https://hooks.example.com/", "events": ["queue_stuck"]}
    refused = client.post("/api/v1/webhooks/", json.dumps(body), content_type="application/json")
    assert (refused.status_code, refused.json()["code"]) == (422, "event_not_for_you")


@pytest.mark.parametrize("is_staff", [True, False])
def test_pages_offer_operators_events_to_staff_alone(db: None, is_staff: bool) -> None:
    client, person = Client(), UserFactory.create(is_staff=is_staff)
    client.force_login(person)
    for name in ("letters", "webhooks"):
        page = client.get(reverse(name)).content.decode()
        named = {"letters": 'name="pace_{}"', "webhooks": 'value="{}"'}[name]
        assert all((named.format(event) in page) == is_staff for event in OPERATORS)
    for event in OPERATORS:
        assert client.get(reverse("letter_preview", args=[event])).status_code == (200 if is_staff else 404)


def test_who_becomes_staff_hears_although_they_chose_before(site: Site) -> None:
    person = UserFactory.create()
    everything = {event.name: "never" for event in mailed_events()}
    preferences.set_preference(person=person, language="ko", paces=everything)
    person.is_staff = True
    person.save()
    site.wrong = WRONG["disk_low"]
    site.lasts(QUIET)
    assert len(sent()) == 1
    preferences.mute(person=person, event="disk_low")
    person.is_staff = False
    preferences.set_preference(person=person, language="en", paces=dict.fromkeys(everything, "at_once"))
    assert "disk_low" in preferences.preference_of(person).muted, "what is not offered stays as it was"


def test_the_clock_looks_at_the_site_as_the_page_does(staff: User) -> None:
    """Nobody ever scored here, and nothing was ever checked: the first is told."""
    tasks.follow_alarms()
    tasks.follow_alarms()
    told = Incident.objects.get(event="worker_silent")
    client = Client()
    client.force_login(staff)
    assert told.text_ko in client.get("/manage/site/").content.decode()


@pytest.mark.django_db(transaction=True)
def test_two_looks_at_once_tell_once(site: Site, staff: User) -> None:
    site.wrong = WRONG["disk_low"]
    site.lasts(HOLD)
    site.now += MINUTE
    at_once([lambda: follow(site.now)] * 4)
    assert Letter.objects.count() == 1
