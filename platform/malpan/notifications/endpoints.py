"""Webhooks of a person: made, tried, switched and removed by their owner, who may have a delivery sent again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from urllib.parse import urlsplit

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from malpan.accounts.models import User
from malpan.core import audit
from malpan.notifications.errors import EndpointAddressRefused, EndpointNotFound, EndpointOff, TooManyEndpoints
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.webhooks import TEST

ENDPOINTS_MAX: Final = 5
State = Letter.State


def endpoints_of(person: User) -> QuerySet[Endpoint]:
    """The person's webhooks, the oldest first."""
    return Endpoint.objects.filter(person=person)


def deliveries_of(person: User) -> QuerySet[Letter]:
    """What was, or is to be, sent to the person's webhooks, the newest first."""
    return Letter.objects.filter(endpoint__person=person).select_related("endpoint")


def endpoint_of(person: User, pk: int) -> Endpoint:
    """One of the person's webhooks. Raises ``EndpointNotFound``."""
    found = endpoints_of(person).filter(pk=pk).first()
    if found is None:
        raise EndpointNotFound
    return found


def create_endpoint(*, person: User, url: str, events: Iterable[str]) -> Endpoint:
    """Have a program of the person hear of ``events`` at ``url``.

    Raises ``EndpointAddressRefused``, or ``TooManyEndpoints`` above ``ENDPOINTS_MAX``.
    """
    _check(url)
    with transaction.atomic():
        locked = User.objects.select_for_update(no_key=True).get(pk=person.pk)
        if locked.endpoints.count() >= ENDPOINTS_MAX:
            raise TooManyEndpoints(limit=ENDPOINTS_MAX)
        made = Endpoint.objects.create(person=person, url=url, events=list(events))
        audit.record(actor=person, action="endpoint.create", obj=made, after={"events": made.events}, person=person)
    return made


def remove_endpoint(*, endpoint: Endpoint, actor: User) -> None:
    """Remove it with its log."""
    with transaction.atomic():
        audit.record(actor=actor, action="endpoint.remove", obj=endpoint, person=endpoint.person)
        endpoint.delete()


def switch_endpoint(*, endpoint: Endpoint, actor: User) -> Endpoint:
    """Switch it off, or on again as if it had never failed."""
    with transaction.atomic():
        held = Endpoint.objects.select_for_update().get(pk=endpoint.pk)
        held.off_at, held.failing_since = (timezone.now() if held.off_at is None else None), None
        held.save(update_fields=["off_at", "failing_since"])
        action = "endpoint.switch_on" if held.off_at is None else "endpoint.switch_off"
        audit.record(actor=actor, action=action, obj=held, person=held.person)
    return held


def try_endpoint(*, endpoint: Endpoint) -> None:
    """Send it an event of the type ``test``, at most one a minute. Raises ``EndpointOff``."""
    if endpoint.off_at is not None:
        raise EndpointOff
    key = f"{TEST}:{timezone.now():%Y%m%d%H%M}"
    test = Letter(event=TEST, key=key, person_id=endpoint.person_id, endpoint=endpoint)
    Letter.objects.bulk_create([test], ignore_conflicts=True)


def send_again(*, person: User, pk: int) -> None:
    """Have a delivery that arrived or was given up sent once more, under its id. One that waits goes at once.

    Raises ``EndpointNotFound``, ``EndpointOff``.
    """
    with transaction.atomic():
        letter = deliveries_of(person).select_for_update(of=("self",)).filter(pk=pk).first()
        if letter is None or letter.endpoint is None:
            raise EndpointNotFound
        if letter.endpoint.off_at is not None:
            raise EndpointOff
        letter.state, letter.sent_at, letter.attempts, letter.not_before = State.WAITING, None, 0, timezone.now()
        letter.save(update_fields=["state", "sent_at", "attempts", "not_before"])


def _check(url: str) -> None:
    """Raises ``EndpointAddressRefused``. Whether the machine is a public one is asked at every delivery."""
    try:
        parts = urlsplit(url)
        port = parts.port or 443
    except ValueError as error:
        raise EndpointAddressRefused from error
    has_person = parts.username is not None or parts.password is not None
    if parts.scheme != "https" or not parts.hostname or has_person or (port != 443 and port < 1024):
        raise EndpointAddressRefused
