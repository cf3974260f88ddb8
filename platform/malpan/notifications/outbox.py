"""Letters into the outbox, in the transaction of their event: neither exists without the other."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction
from django.db.models import QuerySet

from malpan.accounts.models import User
from malpan.notifications.events import Facts, is_mailed
from malpan.notifications.models import Endpoint, Letter, Told


def post(
    *, event: str, key: str, people: QuerySet[User] | Iterable[int], facts: Facts, due: datetime | None = None
) -> int:
    """Post a letter about ``event`` to each of ``people`` who can log in, and to their endpoints that hear of it. It is
    sent at once, or when it is ``due``.

    Returns how many people there are. Nobody has the event called ``key`` twice. People who cannot log in are those of
    the demo and of an imported archive: nobody asked them. Nor can those who were erased. Call it in the transaction of
    the event.
    """
    keys = people.values_list("pk", flat=True) if isinstance(people, QuerySet) else list(people)
    reached = User.objects.filter(pk__in=keys, is_active=True)
    reached = reached.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).order_by("pk")
    if is_mailed(event):
        _write((Letter(event=event, key=key, person=person, facts=dict(facts)) for person in reached), due)
    endpoints = Endpoint.objects.filter(person__in=[each.pk for each in reached])
    call(event=event, key=key, endpoints=endpoints, facts=facts, due=due)
    return len(reached)


def call(*, event: str, key: str, endpoints: QuerySet[Any], facts: Facts, due: datetime | None = None) -> None:
    """Post word of ``event`` to those of ``endpoints`` that hear of it. Call it in the transaction of the event."""
    listening = endpoints.filter(events__contains=[event], off_at=None)
    letters = (
        Letter(event=event, key=key, person_id=at.person_id, endpoint_id=at.pk, facts=dict(facts)) for at in listening
    )
    _write(letters, due)


def _write(letters: Iterable[Letter], due: datetime | None) -> None:
    rows = list(letters)
    for row in rows:
        row.not_before = due or row.not_before
    Letter.objects.bulk_create(rows, batch_size=500, ignore_conflicts=True)


def is_first(key: str) -> bool:
    """Whether what the clock made happen was not told yet, and is from now on. Call it in the transaction that tells.

    Of two processes at once the second waits for the first, whose row it then finds.
    """
    _row, is_new = Told.objects.get_or_create(key=key)
    return is_new


def post_once(*, event: str, key: str, people: QuerySet[User], facts: Facts) -> bool:
    """Post what the clock made happen, unless it was told before: who comes later does not hear of it."""
    with transaction.atomic():
        is_new = is_first(key)
        if is_new:
            post(event=event, key=key, people=people, facts=facts)
    return is_new
