"""Letters into the outbox, in the transaction of their event: neither exists without the other."""

from __future__ import annotations

from collections.abc import Iterable

from django.contrib.auth.hashers import UNUSABLE_PASSWORD_PREFIX
from django.db.models import QuerySet

from malpan.accounts.models import User
from malpan.notifications.events import Facts
from malpan.notifications.models import Endpoint, Letter


def post(*, event: str, key: str, people: QuerySet[User] | Iterable[int], facts: Facts) -> int:
    """Post a letter about ``event`` to each of ``people`` who can log in, and to their endpoints that hear of it.

    Three queries; returns how many people there are. Nobody has the event called ``key`` twice. People who cannot log
    in are those of the demo and of an imported archive: nobody asked them. Nor can those who were erased. Call it in
    the transaction of the event.
    """
    keys = people.values_list("pk", flat=True) if isinstance(people, QuerySet) else list(people)
    reached = User.objects.filter(pk__in=keys, is_active=True)
    reached = reached.exclude(password__startswith=UNUSABLE_PASSWORD_PREFIX).order_by("pk")
    letters = [Letter(event=event, key=key, person=person, facts=dict(facts)) for person in reached]
    listening = Endpoint.objects.filter(person__in=[each.pk for each in reached], events__contains=[event], off_at=None)
    calls = [Letter(event=event, key=key, person_id=at.person_id, endpoint=at, facts=dict(facts)) for at in listening]
    Letter.objects.bulk_create([*letters, *calls], batch_size=500, ignore_conflicts=True)
    return len(letters)
