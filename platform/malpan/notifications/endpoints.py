"""Webhooks: made, changed, tried and removed by their owner, who may have a delivery sent again.

``rows`` is those of one owner: nobody reaches another's through a primary key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import ip_address
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core import audit
from malpan.notifications.errors import (
    EndpointAddressPrivate,
    EndpointAddressRefused,
    EndpointNotFound,
    EndpointOff,
    EventNotForYou,
    TooManyEndpoints,
)
from malpan.notifications.events import all_events
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.public_http import is_public
from malpan.notifications.webhooks import TEST

ENDPOINTS_MAX: Final = 5
State = Letter.State
E = TypeVar("E", bound=Endpoint)


def endpoints_of(person: User) -> QuerySet[Endpoint]:
    """The person's webhooks, the oldest first."""
    return Endpoint.objects.filter(person=person)


def deliveries_of(rows: QuerySet[E]) -> QuerySet[Letter]:
    """What was, or is to be, sent to ``rows``, the newest first."""
    return Letter.objects.filter(endpoint__in=rows.values("pk")).select_related("endpoint")


def endpoint_of(rows: QuerySet[E], pk: int) -> E:
    """One of ``rows``. Raises ``EndpointNotFound``."""
    found = rows.filter(pk=pk).first()
    if found is None:
        raise EndpointNotFound
    return found


def delivery_of(rows: QuerySet[E], pk: int) -> Letter:
    """One of what was sent to ``rows``. Raises ``EndpointNotFound``."""
    found = deliveries_of(rows).filter(pk=pk).first()
    if found is None:
        raise EndpointNotFound
    return found


def create_endpoint(*, person: User, url: str, events: Iterable[str]) -> Endpoint:
    """Have a program of the person hear of ``events`` at ``url``.

    Raises ``EndpointAddressRefused``, ``EventNotForYou``, or ``TooManyEndpoints`` above ``ENDPOINTS_MAX``.
    """
    with transaction.atomic():
        User.objects.select_for_update(no_key=True).get(pk=person.pk)
        new = Endpoint(person=person, url=url, events=_events(person, events))
        return add_endpoint(new, rows=endpoints_of(person), actor=person)


def add_endpoint(new: E, *, rows: QuerySet[E], actor: User) -> E:
    """Keep a ``new`` one of an owner who has ``rows`` and is locked.

    Raises ``EndpointAddressRefused`` and ``TooManyEndpoints``.
    """
    _check(new.url)
    if rows.count() >= ENDPOINTS_MAX:
        raise TooManyEndpoints(limit=ENDPOINTS_MAX)
    new.save()
    audit.record(actor=actor, action="endpoint.create", obj=new, after=_facts(new), person=new.person)
    return new


def update_endpoint(
    *, endpoint: Endpoint, actor: User, url: str | None = None, events: Iterable[str] | None = None
) -> Endpoint:
    """Send what comes from now on, and what waits, to another ``url``; let it hear of other ``events``.

    Raises ``EndpointAddressRefused`` and ``EventNotForYou``.
    """
    changes: dict[str, Any] = {}
    if url is not None:
        _check(url)
        changes["url"] = url
    if events is not None:
        changes["events"] = _events(endpoint.person, events)

    def change(held: Endpoint) -> bool:
        if all(getattr(held, name) == value for name, value in changes.items()):
            return False
        if held.url != changes.get("url", held.url):
            held.failing_since = None
        for name, value in changes.items():
            setattr(held, name, value)
        return True

    return _change(endpoint, actor, "endpoint.update", change)


def switch_endpoint(*, endpoint: Endpoint, actor: User, is_on: bool) -> Endpoint:
    """Switch it off, or on again as if it had never failed. A second time it changes nothing."""

    def change(held: Endpoint) -> bool:
        if (held.off_at is None) == is_on:
            return False
        held.off_at, held.failing_since = None if is_on else timezone.now(), None
        return True

    return _change(endpoint, actor, "endpoint.switch_on" if is_on else "endpoint.switch_off", change)


def remove_endpoint(*, endpoint: Endpoint, actor: User) -> None:
    """Remove it with its log."""
    with transaction.atomic():
        audit.record(actor=actor, action="endpoint.remove", obj=endpoint, person=endpoint.person)
        endpoint.delete()


def try_endpoint(*, endpoint: Endpoint) -> Letter:
    """Send it an event of the type ``test``, at most one a minute; returns that of this minute. Raises
    ``EndpointOff``.
    """
    if endpoint.off_at is not None:
        raise EndpointOff
    key = f"{TEST}:{timezone.now():%Y%m%d%H%M}"
    test = Letter(event=TEST, key=key, person_id=endpoint.person_id, endpoint_id=endpoint.pk)
    Letter.objects.bulk_create([test], ignore_conflicts=True)
    return endpoint.letters.get(key=key)


def send_again(*, rows: QuerySet[E], pk: int) -> Letter:
    """Have a delivery that arrived or was given up sent once more, under its id. One that waits goes at once.

    Raises ``EndpointNotFound``, ``EndpointOff``.
    """
    with transaction.atomic():
        letter = deliveries_of(rows).select_for_update(of=("self",)).filter(pk=pk).first()
        if letter is None or letter.endpoint is None:
            raise EndpointNotFound
        if letter.endpoint.off_at is not None:
            raise EndpointOff
        letter.state, letter.sent_at, letter.attempts, letter.not_before = State.WAITING, None, 0, timezone.now()
        letter.save(update_fields=["state", "sent_at", "attempts", "not_before"])
    return letter


def _change(endpoint: Endpoint, actor: User, action: str, change: Callable[[Endpoint], bool]) -> Endpoint:
    """``change`` the row under its lock; it says whether it did. Raises ``EndpointNotFound``."""
    with transaction.atomic():
        held = Endpoint.objects.select_for_update().filter(pk=endpoint.pk).first()
        if held is None:
            raise EndpointNotFound
        before = _facts(held)
        if change(held):
            held.save(update_fields=["url", "events", "off_at", "failing_since"])
            old, new = audit.changed(before, _facts(held))
            audit.record(actor=actor, action=action, obj=endpoint, before=old, after=new, person=held.person)
    return held


def _facts(endpoint: Endpoint) -> dict[str, Any]:
    """Of the address only the host: what follows may be a secret."""
    return {"host": urlsplit(endpoint.url).hostname, "events": endpoint.events}


def _events(person: User | None, names: Iterable[str]) -> list[str]:
    """``names`` once each. Raises ``EventNotForYou``."""
    chosen = list(dict.fromkeys(names))
    closed = {each.name for each in all_events()} - {each.name for each in all_events(person)}
    for name in chosen:
        if name in closed:
            raise EventNotForYou(event=name)
    return chosen


def _check(url: str) -> None:
    """Raises ``EndpointAddressRefused``. Whether the machine that a name means is a public one is asked at every
    delivery.
    """
    try:
        URLValidator(schemes=["https"])(url)
        parts = urlsplit(url)
        port = parts.port or 443
    except (ValidationError, ValueError) as error:
        raise EndpointAddressRefused from error
    has_person = parts.username is not None or parts.password is not None
    if _is_here(parts.hostname or ""):
        raise EndpointAddressPrivate
    if has_person or (port != 443 and port < 1024) or len(url) > Endpoint.URL_CHARS:
        raise EndpointAddressRefused


def _is_here(host: str) -> bool:
    """Whether ``host`` needs no look-up to be known as none of the internet."""
    name = host.rstrip(".").lower()
    if name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        return not is_public(ip_address(name))
    except ValueError:
        return False
