"""Erasing again whom an earlier erasure is recorded of, though the database holds them: it is that of an earlier day.

A record means one account, never an address: whoever signed up again, or has a number or an address that was another's,
stays. Doing it twice changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final

from django.db import transaction

from malpan.accounts.addresses import erasure_keys
from malpan.accounts.models import User
from malpan.core.one_by_one import one_by_one
from malpan.privacy.erasing import erase
from malpan.privacy.records import ErasureRecord, account_mark, addresses_in, key_mark, records

_BATCH: Final = 2000


@dataclass(slots=True)
class Redone:
    """``records``: how many there are. ``people``: the numbers of those who were erased again, or in a trial would be.

    ``unreadable``: moments of erasures that the database does not have, recorded under a key that the site does not.
    """

    records: int = 0
    people: list[int] = field(default_factory=list)
    unreadable: list[datetime] = field(default_factory=list)
    leaves_no_administrator: bool = False


def redo(*, is_trial: bool = False) -> Redone:
    """Erase again who was erased before, at the moment of then; with ``is_trial`` nothing changes.

    Nobody is asked to hand over a team or a competition first, and no mail is sent: both were done with the first
    erasure. Raises ``StorageUnavailable``; a rerun does the rest.
    """
    there = list(records())
    found = Redone(records=len(there))
    if there:
        found.unreadable = _unreadable(there)
        due = _people_of(there)
        if is_trial:
            found.people = [person.pk for person, _record in due]
        else:
            done = one_by_one(due, lambda each: each[0].pk if _erased_again(*each) else 0, "the people to erase again")
            found.people = [number for number in done if number]
        administrators = User.objects.filter(is_superuser=True, is_active=True)
        found.leaves_no_administrator = bool(found.people) and not administrators.exists()
    return found


def _people_of(there: Iterable[ErasureRecord]) -> list[tuple[User, ErasureRecord]]:
    """The accounts of these records that are not erased, by number."""
    by_marks = {(record.key, record.account): record for record in there}
    keys = [(key, key_mark(key)) for key in erasure_keys()]
    known = User.objects.filter(erased_at=None).values_list("pk", "date_joined").order_by("pk")
    found = [
        (number, by_marks[marks])
        for number, made_at in known.iterator(_BATCH)  # some 5 µs for each and each key
        for key, mark in keys
        if (marks := (mark, account_mark(number, made_at, key))) in by_marks
    ]
    people = User.objects.in_bulk([number for number, _record in found])
    return [(people[number], record) for number, record in dict(found).items()]


def _erased_again(person: User, record: ErasureRecord) -> bool:
    addresses = addresses_in(record)
    with transaction.atomic():
        if not erase(user=person, actor=None, force=True, tells=False, now=record.erased_at):
            return False
        person.refresh_from_db(fields=["former_addresses"])
        person.former_addresses = sorted({*person.former_addresses, *addresses})  # they may have got others since
        person.save(update_fields=["former_addresses"])
    return True


def _unreadable(there: Iterable[ErasureRecord]) -> list[datetime]:
    known = {key_mark(key) for key in erasure_keys()}
    done = set(User.objects.exclude(erased_at=None).values_list("erased_at", flat=True))
    return sorted({record.erased_at for record in there if record.key not in known} - done)
