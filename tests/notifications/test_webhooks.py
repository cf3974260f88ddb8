"""Webhooks: signed by the standard, at least once and told apart by id, again after a failure, off after days."""

from __future__ import annotations

import io
import json
import random
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.db import DataError
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core.models import AuditEntry
from malpan.notifications import endpoints, public_http, sending, signatures, webhooks
from malpan.notifications.claims import PAUSES
from malpan.notifications.errors import EndpointAddressRefused, EndpointNotFound, EndpointOff, TooManyEndpoints
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.outbox import post
from tests.factories import UserFactory
from tests.notifications.conftest import NAME, posted
from tests.notifications.receiver import Answer, Receiver, is_signed, listening

State = Letter.State
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("told", "_all_public")]


@pytest.fixture
def _all_public(monkeypatch: pytest.MonkeyPatch) -> None:
    """The receivers of the tests are on this machine: ``test_public_http`` is about that."""
    monkeypatch.setattr(public_http, "is_public", lambda _address: True)


def endpoint_at(receiver: Receiver, person: User | None = None) -> Endpoint:
    return Endpoint.objects.create(person=person or UserFactory.create(), url=receiver.address, events=[NAME])


def calls() -> Any:
    return Letter.objects.exclude(endpoint=None)


def due_now() -> None:
    Letter.objects.update(not_before=timezone.now())


def test_the_signature_is_that_of_the_standard() -> None:
    """The example of its reference implementations."""
    headers = signatures.signed(
        secret="whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
        message_id="msg_p5jXN8AQM9LWM0D4loKWxJek",
        timestamp=1614265330,
        body=b'{"test": 2432232314}',
    )
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_a_program_hears_what_a_mail_says(settings: Any) -> None:
    settings.SITE_URL = "https://malpan.example"
    with listening() as receiver:
        endpoint = endpoint_at(receiver)
        posted(person=endpoint.person)
        assert webhooks.deliver_due() == 1
    [(key, [body])] = receiver.arrived.items()
    call = calls().get()
    assert (call.state, call.attempts, call.webhook_id) == (State.SENT, 1, key)
    said = json.loads(body)
    assert said["type"] == NAME
    assert said["data"] == {
        "competition": "<b>대회</b>", "title": "형식 & 글", "answer": "말 k", "url": "https://malpan.example/page/",
    }  # fmt: skip
    secret = signatures.secret_of(endpoint)
    assert is_signed(secret, receiver.headers[0], body)
    assert not is_signed(secret, receiver.headers[0], body + b" ")
    assert secret not in str(Endpoint.objects.values().get())
    assert sending.deliver_due() == 1, "and the mail goes its own way"


def test_200_events_arrive_each_once_by_its_id_though_30_percent_fail() -> None:
    chance = random.Random(17)
    lost = {}

    def answer(key: str, before: int) -> int:
        """Fails three times in ten."""
        if chance.random() >= 0.3:
            return 204
        lost[key] = before
        return chance.choice([500, 503, 429, 302])

    with listening(answer) as receiver:
        endpoint = endpoint_at(receiver)
        for number in range(200):
            posted(f"k{number}", person=endpoint.person)
        for _attempt in range(len(PAUSES) + 1):
            webhooks.deliver_due()
            Endpoint.objects.update(failing_since=None)
            due_now()
    said = {json.loads(body)["data"]["answer"] for [body] in receiver.arrived.values()}
    assert said == {f"말 k{number}" for number in range(200)}
    assert len(receiver.arrived) == 200, "none came twice after it was taken"
    assert len(lost) > 40
    assert set(calls().values_list("state", flat=True)) == {State.SENT}
    assert sum(receiver.calls.values()) == sum(calls().values_list("attempts", flat=True))


def test_a_failure_is_tried_again_ever_later_with_jitter_and_given_up() -> None:
    with listening(lambda _key, _before: 500) as receiver:
        endpoint = endpoint_at(receiver)
        posted(person=endpoint.person)
        for pause in PAUSES:
            assert webhooks.deliver_due() == 1
            call = calls().get()
            wait = (call.not_before - timezone.now()).total_seconds()
            assert pause - 5 <= wait <= pause * webhooks.STRETCH_MOST
            assert (call.state, call.error) == (State.WAITING, "HTTP 500")
            assert webhooks.deliver_due() == 0
            due_now()
        webhooks.deliver_due()
    assert calls().get().state == State.FAILED
    assert list(receiver.calls.values()) == [len(PAUSES) + 1]
    call_command("resend_letters", stdout=io.StringIO())
    assert calls().get().state == State.FAILED, "its owner has it sent again"


@pytest.mark.parametrize(
    ("answer", "since", "is_off"),
    [
        (lambda _key, _before: 500, timedelta(days=4), True),
        (lambda _key, _before: 500, timedelta(days=2), False),
        (lambda _key, _before: 410, timedelta(0), True),
        (lambda _key, _before: 200, timedelta(days=4), False),
    ],
)
def test_who_fails_for_days_or_is_gone_is_switched_off_and_told(answer: Answer, since: timedelta, is_off: bool) -> None:
    with listening(answer) as receiver:
        endpoint = endpoint_at(receiver)
        Endpoint.objects.update(failing_since=timezone.now() - since)
        posted(person=endpoint.person)
        webhooks.deliver_due()
        endpoint.refresh_from_db()
        assert (endpoint.off_at is not None) == is_off
        assert AuditEntry.objects.filter(action="endpoint.switch_off").exists() == is_off
        posted("later", person=endpoint.person)
        assert calls().filter(key="later").exists() != is_off
    sending.deliver_due()
    told = [message for message in mail.outbox if "웹훅" in message.subject]
    assert len(told) == is_off
    if is_off:
        assert told[0].to == [endpoint.person.email]
        assert calls().get().state == State.FAILED


def test_only_chosen_events_of_the_own_person_are_sent() -> None:
    with listening() as receiver:
        endpoint = endpoint_at(receiver)
        posted()
        Endpoint.objects.update(events=["another"])
        posted("second", person=endpoint.person)
    assert not calls().exists()


def test_what_is_not_to_be_told_any_more_and_who_left_is_dropped() -> None:
    with listening() as receiver:
        first, second = endpoint_at(receiver), endpoint_at(receiver)
        posted("a", person=first.person, silent=True)
        posted("b", person=second.person)
        User.objects.filter(pk=second.person_id).update(is_active=False)
        webhooks.deliver_due()
    assert set(calls().values_list("state", flat=True)) == {State.DROPPED}
    assert receiver.calls == {}


def test_a_delivery_is_sent_again_under_its_id() -> None:
    with listening() as receiver:
        endpoint = endpoint_at(receiver)
        posted(person=endpoint.person)
        webhooks.deliver_due()
        call, own = calls().get(), endpoints.endpoints_of(endpoint.person)
        with pytest.raises(EndpointNotFound):
            endpoints.send_again(rows=endpoints.endpoints_of(UserFactory.create()), pk=call.pk)
        endpoints.send_again(rows=own, pk=call.pk)
        webhooks.deliver_due()
        assert receiver.calls == {call.webhook_id: 2}
        endpoints.switch_endpoint(endpoint=endpoint, actor=endpoint.person, is_on=False)
        with pytest.raises(EndpointOff):
            endpoints.send_again(rows=own, pk=call.pk)


def test_a_test_is_sent_once_a_minute() -> None:
    with listening() as receiver:
        endpoint = endpoint_at(receiver)
        for _ in range(2):
            endpoints.try_endpoint(endpoint=endpoint)
        Letter.objects.filter(event=webhooks.TEST).exclude(pk=Letter.objects.earliest("pk").pk).delete()
        webhooks.deliver_due()
    [[body]] = receiver.arrived.values()
    assert (json.loads(body)["type"], json.loads(body)["data"]) == ("test", {})


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com/", "https:///x", "https://a:b@example.com/", "https://example.com:22/"),
        *("https://example.com:99999/", "https://exa mple.com/", "https://example.com/" + "a" * 500),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(EndpointAddressRefused):
        endpoints.create_endpoint(person=UserFactory.create(), url=url, events=[NAME])


def test_it_is_changed_and_switched_and_the_log_tells_of_the_address_the_host_alone() -> None:
    person = UserFactory.create()
    made = endpoints.create_endpoint(person=person, url="https://a.example/secret", events=[NAME, NAME])
    Endpoint.objects.update(failing_since=timezone.now())
    change = {"endpoint": made, "actor": person}
    changed = endpoints.update_endpoint(**change, events=["scored"])
    assert (changed.url, changed.events, changed.failing_since is None) == (made.url, ["scored"], False)
    for _twice in range(2):
        changed = endpoints.update_endpoint(**change, url="https://b.example/secret")
    assert (changed.url, changed.failing_since) == ("https://b.example/secret", None)
    Endpoint.objects.update(failing_since=timezone.now())
    assert endpoints.switch_endpoint(**change, is_on=True).failing_since is not None, "it is on"
    for is_on in (False, False, True):
        assert (endpoints.switch_endpoint(**change, is_on=is_on).off_at is None) == is_on
    assert Endpoint.objects.get().failing_since is None
    rows = list(AuditEntry.objects.order_by("pk").values_list("action", "before", "after"))
    assert rows == [
        ("endpoint.create", {}, {"host": "a.example", "events": [NAME]}),
        ("endpoint.update", {"events": [NAME]}, {"events": ["scored"]}),
        ("endpoint.update", {"host": "a.example"}, {"host": "b.example"}),
        ("endpoint.switch_off", {}, {}),
        ("endpoint.switch_on", {}, {}),
    ]
    with pytest.raises(EndpointAddressRefused):
        endpoints.update_endpoint(**change, url="http://b.example/")
    endpoints.remove_endpoint(**change)
    with pytest.raises(EndpointNotFound):
        endpoints.switch_endpoint(**change, is_on=False)


def test_a_person_has_so_many_and_no_more() -> None:
    person = UserFactory.create()
    for number in range(endpoints.ENDPOINTS_MAX):
        endpoints.create_endpoint(person=person, url=f"https://example.com/{number}", events=[NAME])
    with pytest.raises(TooManyEndpoints):
        endpoints.create_endpoint(person=person, url="https://example.com/", events=[NAME])


def test_an_event_of_another_version_waits() -> None:
    with listening() as receiver:
        endpoint = endpoint_at(receiver)
        Endpoint.objects.update(events=["of_tomorrow"])
        post(event="of_tomorrow", key="k", people=[endpoint.person_id], facts={})
        webhooks.deliver_due()
    assert (calls().get().state, calls().get().error) == (State.WAITING, "KeyError")


def test_one_that_cannot_be_signed_or_noted_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first is tried later, the second is sent once more under its id, the third is sent and noted."""
    secret_of, mark_sent = webhooks.secret_of, webhooks.mark_sent
    with listening() as receiver:
        found = [endpoint_at(receiver) for _ in range(3)]
        post(event=NAME, key="k", people=[each.person_id for each in found], facts={"said": "말"})
        with monkeypatch.context() as patched:
            patched.setattr(webhooks, "secret_of", lambda of: secret_of(of) if of != found[0] else _fail())
            patched.setattr(webhooks, "mark_sent", lambda of: mark_sent(of) if of.endpoint != found[1] else _fail())
            webhooks.deliver_due()
    by_endpoint = {letter.endpoint: (letter.state, letter.error) for letter in calls()}
    assert by_endpoint == {
        found[0]: (State.WAITING, "DataError"),
        found[1]: (State.WAITING, ""),
        found[2]: (State.SENT, ""),
    }


def test_daily_mails_that_cannot_be_gathered_stop_no_other_mail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending.digests, "gather", _fail)
    posted()
    assert sending.deliver_due() == 1
    assert len(mail.outbox) == 1


def _fail() -> None:
    raise DataError("bad")
