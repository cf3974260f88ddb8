"""Letters out of the outbox to the endpoints of people: signed, at least once, again after a failure.

A receiver tells one that comes twice by its id, which stays. As letters, they say what the site may say when they are
sent. One process at a time does this: a receiver that hangs does not keep the housekeeper from its other work.
"""

from __future__ import annotations

import json
import random
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from http.client import HTTPException
from typing import Any, Final

from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection, transaction
from django.dispatch import Signal
from django.utils import timezone, translation

from malpan.core.one_by_one import one_by_one
from malpan.notifications import events, preferences, public_http
from malpan.notifications.claims import claim, drop, mark_sent, postpone
from malpan.notifications.letters import tell_off
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.rendering import absolute
from malpan.notifications.signatures import secret_of, signed

BATCH: Final = 20
THREADS: Final = 10
RUN_SECONDS: Final = 20  # then other chores have their turn
FAILING: Final = timedelta(days=3)  # then an endpoint is switched off
STRETCH_MOST: Final = 1.2  # of a pause, so that not all come back at once
BODY_BYTES_MAX: Final = 64 * 1024
TEST: Final = "test"
switched_off: Final = Signal()  # an ``endpoint`` that failed for days; in the transaction of that
_LOCK: Final = 20261126  # any number that no other advisory lock of this database uses


@dataclass(frozen=True, slots=True)
class Request:
    """What is sent where."""

    letter: Letter
    url: str
    body: bytes
    headers: dict[str, str]


def deliver_due() -> int:
    """Send what is due; returns how many deliveries were tried. Nothing, if another process is at it."""
    done, until = 0, time.monotonic() + RUN_SECONDS
    with _alone() as is_alone:
        while is_alone and time.monotonic() < until and (letters := claim(by_mail=False, most=BATCH)):
            requests = [request for letter in letters if (request := _written(letter)) is not None]
            with ThreadPoolExecutor(THREADS) as pool:
                sent = zip((request.letter for request in requests), pool.map(_send, requests), strict=True)
                one_by_one(sent, lambda each: _note(*each), "the deliveries to note")
            done += len(letters)
    return done


@contextmanager
def _alone() -> Iterator[bool]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [_LOCK])
        (is_alone,) = cursor.fetchone()
        try:
            yield is_alone
        finally:
            if is_alone:
                cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK])


def _written(letter: Letter) -> Request | None:
    """The request of ``letter``; ``None`` if there is none now, which is then written in the outbox."""
    endpoint = letter.endpoint
    assert endpoint is not None
    try:
        is_read = endpoint.off_at is None and (letter.person is None or letter.person.is_active)
        data = _data(letter) if is_read else None
        if data is None:
            drop(letter)
            return None
        said = {"type": letter.event, "timestamp": letter.created_at, "data": data}
        body = json.dumps(said, cls=DjangoJSONEncoder, ensure_ascii=False).encode()
        if len(body) > BODY_BYTES_MAX:
            raise ValueError("too long")
        secret, moment = secret_of(endpoint), int(time.time())
        headers = signed(secret=secret, message_id=letter.webhook_id, timestamp=moment, body=body)
    except Exception as error:  # noqa: BLE001 - an event of another version, a row that is broken: it waits
        postpone(letter, type(error).__name__)
        return None
    headers |= {"Content-Type": "application/json; charset=utf-8", "User-Agent": "Malpan-Webhooks/1"}
    return Request(letter, endpoint.url, body, headers)


def _data(letter: Letter) -> dict[str, Any] | None:
    """What is said of the event: what a mail would fill its text with, and the address of the page."""
    if letter.event == TEST:
        return {}
    if letter.person is None:
        language = "ko"
    else:
        language, *_others = preferences.languages_of(preferences.preference_of(letter.person))
    with translation.override(language):
        word = _word(letter)
        return None if word is None else {**_plain(word.context), "url": absolute(word.path)}


def _word(letter: Letter) -> events.Word | None:
    if letter.person is None:
        return events.happening_of(letter.event).compose(letter.facts)
    return events.event_of(letter.event).compose(letter.person, letter.facts)


def _plain(context: Any) -> dict[str, Any]:
    """``context`` with the words of the language that is active."""
    found: dict[str, Any] = json.loads(json.dumps(dict(context), cls=DjangoJSONEncoder))
    return found


def _send(request: Request) -> str:
    """Send one; returns what went wrong, empty if it arrived. It runs in a thread and touches no database."""
    try:
        status = public_http.post(request.url, request.body, request.headers)
    except (OSError, ValueError, HTTPException, public_http.AddressRefused) as error:
        return type(error).__name__
    return "" if 200 <= status < 300 else f"HTTP {status}"


def _note(letter: Letter, error: str) -> None:
    """Write what came of it; who is gone (410), or fails for days, is switched off."""
    assert letter.endpoint is not None
    endpoint = Endpoint.objects.filter(pk=letter.endpoint.pk).first()
    if endpoint is None:  # removed meanwhile, with its letters
        return
    if not error:
        mark_sent(letter)
        Endpoint.objects.filter(pk=endpoint.pk).exclude(failing_since=None).update(failing_since=None)
        return
    postpone(letter, error, stretch=random.uniform(1, STRETCH_MOST))
    now = timezone.now()
    since = endpoint.failing_since or now
    Endpoint.objects.filter(pk=endpoint.pk, failing_since=None).update(failing_since=now)
    if error == "HTTP 410" or now - since > FAILING:
        _switch_off(endpoint)


def _switch_off(endpoint: Endpoint) -> None:
    """Send nothing more to ``endpoint``, and tell its owner. What waits is given up, and can be sent again by hand."""
    with transaction.atomic():
        if not Endpoint.objects.filter(pk=endpoint.pk, off_at=None).update(off_at=timezone.now()):
            return
        endpoint.letters.filter(state=Letter.State.WAITING).update(state=Letter.State.FAILED)
        tell_off(endpoint)
        switched_off.send(Endpoint, endpoint=endpoint)
