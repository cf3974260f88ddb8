"""Letters into the outbox, in the transaction of their event: neither exists without the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction
from django.db.models import QuerySet

from malpan.accounts.models import User
from malpan.notifications.events import Facts, is_mailed
from malpan.notifications.models import Endpoint, Letter, Told
from malpan.notifications.preferences import daily_readers


class Post(NamedTuple):
    """Word of an event: its ``facts`` for ``people``, by their keys. Nobody has the event called ``key`` twice."""

    key: str
    people: Collection[int]
    facts: Facts


def post(
    *, event: str, key: str, people: QuerySet[User] | Iterable[int], facts: Facts, due: datetime | None = None
) -> int:
    """Post a letter about ``event`` to each of ``people`` who can log in, and to their endpoints that hear of it. It is
    sent at once, or when it is ``due``; to who wants it once a day with the next mail of a day, whenever it is due.

    Returns how many people there are. Nobody has the event called ``key`` twice. People who cannot log in are those of
    the demo and of an imported archive: nobody asked them. Nor can those who were erased. Call it in the transaction of
    the event.
    """
    keys = people.values_list("pk", flat=True) if isinstance(people, QuerySet) else people
    return post_all(event=event, posts=[Post(key, tuple(keys), facts)], due=due)


def post_all(*, event: str, posts: Sequence[Post], due: datetime | None = None) -> int:
    """``post`` all of them, with as many statements as one; returns how many people are told, counted for each."""
    asked = {person for each in posts for person in each.people}
    able = User.objects.filter(pk__in=asked, is_active=True).exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX)
    reached = set(able.values_list("pk", flat=True))
    told = [(each, person) for each in posts for person in sorted(reached.intersection(each.people))]
    if told and is_mailed(event):
        daily = daily_readers(event, reached)
        states = {person: Letter.State.HELD if person in daily else Letter.State.WAITING for person in reached}
        letters = (
            Letter(event=event, key=each.key, person_id=person, facts=dict(each.facts), state=states[person])
            for each, person in told
        )
        _write(letters, due)
    listening: dict[int | None, list[Endpoint]] = defaultdict(list)
    for endpoint in _listening(event, Endpoint.objects.filter(person__in=reached)).order_by("pk"):
        listening[endpoint.person_id].append(endpoint)
    called = ((each, endpoint) for each, person in told for endpoint in listening[person])
    _write((_call(event, each.key, endpoint, each.facts) for each, endpoint in called), due)
    return len(told)


def call(*, event: str, key: str, endpoints: QuerySet[Any], facts: Facts, due: datetime | None = None) -> None:
    """Post word of ``event`` to those of ``endpoints`` that hear of it. Call it in the transaction of the event."""
    _write((_call(event, key, endpoint, facts) for endpoint in _listening(event, endpoints)), due)


def forget_dropped(keys: Collection[str]) -> None:
    """Forget the letters about the events called ``keys`` of which nothing was to be said when they were due: those can
    be posted again. Call it in the transaction that does.
    """
    Letter.objects.filter(key__in=keys, state=Letter.State.DROPPED).delete()


def _listening(event: str, endpoints: QuerySet[Endpoint]) -> QuerySet[Endpoint]:
    return endpoints.filter(events__contains=[event], off_at=None)


def _call(event: str, key: str, endpoint: Endpoint, facts: Facts) -> Letter:
    return Letter(event=event, key=key, person_id=endpoint.person_id, endpoint_id=endpoint.pk, facts=dict(facts))


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
