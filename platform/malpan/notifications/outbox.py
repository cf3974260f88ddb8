"""Letters into the outbox, in the transaction of their event: neither exists without the other."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db import transaction
from django.db.models import QuerySet

from malpan.accounts.models import User
from malpan.notifications.events import Facts, is_mailed
from malpan.notifications.models import Endpoint, Letter, Told


def post(*, event: str, key: str, people: QuerySet[User] | Iterable[int], facts: Facts) -> int:
    """Post a letter about ``event`` to each of ``people`` who can log in, and to their endpoints that hear of it.

    Three queries; returns how many people there are. Nobody has the event called ``key`` twice. People who cannot log
    in are those of the demo and of an imported archive: nobody asked them. Nor can those who were erased. Call it in
    the transaction of the event.
    """
    keys = people.values_list("pk", flat=True) if isinstance(people, QuerySet) else list(people)
    reached = User.objects.filter(pk__in=keys, is_active=True)
    reached = reached.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).order_by("pk")
    mailed = reached if is_mailed(event) else []
    letters = [Letter(event=event, key=key, person=person, facts=dict(facts)) for person in mailed]
    listening = Endpoint.objects.filter(person__in=[each.pk for each in reached], events__contains=[event], off_at=None)
    calls = [Letter(event=event, key=key, person_id=at.person_id, endpoint=at, facts=dict(facts)) for at in listening]
    Letter.objects.bulk_create([*letters, *calls], batch_size=500, ignore_conflicts=True)
    return len(reached)


def post_once(*, event: str, key: str, people: QuerySet[User], facts: Facts) -> bool:
    """Post what the clock made happen, unless it was posted before: who comes later does not hear of it.

    Two processes at once post it once: the second waits for the first, whose row it then finds.
    """
    with transaction.atomic():
        _row, is_new = Told.objects.get_or_create(key=key)
        if is_new:
            post(event=event, key=key, people=people, facts=facts)
    return is_new
