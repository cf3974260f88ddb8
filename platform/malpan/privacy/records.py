"""What is written down of every erasure outside the database, as notes beside the private files: a database restored
from an earlier backup does not know of it, and holds the person again (``redoing``).

A record names nobody. Its name has keyed hashes, of the key itself and of the account (its number and the moment it was
made, so that another account of the same number or address is never meant), and the moment of the erasure; its body the
hashes of addresses that the row of the person keeps as well (``accounts.addresses``).
"""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, Self

from django.conf import settings
from django.utils import timezone
from django.utils.crypto import salted_hmac

from malpan.accounts.addresses import erasure_keys
from malpan.accounts.models import User
from malpan.core.errors import SystemFault
from malpan.core.storage.places import configured

logger = logging.getLogger(__name__)

_FOLDER: Final = "erasures"
_SALT: Final = "malpan.privacy.records"
_MOMENT: Final = "%Y%m%dT%H%M%S%f"
_NAME: Final = re.compile(rf"{_FOLDER}/([0-9a-f]{{16}})\.([0-9a-f]{{64}})\.(\d{{8}}T\d{{12}})")


@dataclass(frozen=True, slots=True)
class ErasureRecord:
    """That an account was erased. ``key``: hash of the key that ``account``, a hash itself, was made with."""

    key: str
    account: str
    erased_at: datetime

    @property
    def name(self) -> str:
        """Of its note."""
        return f"{_FOLDER}/{self.key}.{self.account}.{self.erased_at.astimezone(UTC).strftime(_MOMENT)}"

    @classmethod
    def of(cls, person: User) -> Self:
        """That of somebody whose data were erased, under the key of today."""
        assert person.erased_at is not None
        key = erasure_keys()[0]
        return cls(key_mark(key), account_mark(person.pk, person.date_joined, key), person.erased_at)


def records() -> Iterator[ErasureRecord]:
    """All that are in the store. Raises ``StorageUnavailable``."""
    for name in configured().notes():
        if found := _NAME.fullmatch(name):
            key, account, moment = found.groups()
            yield ErasureRecord(key, account, datetime.strptime(moment, _MOMENT).replace(tzinfo=UTC))


def addresses_in(record: ErasureRecord) -> list[str]:
    """The hashes of the addresses that the person had."""
    return [str(each) for each in json.loads(configured().read_note(record.name))]


def write_record(person: User) -> None:
    """Write down that the person's data were erased. If the store is away, ``write_missing`` does so later."""
    try:
        _write(person)
    except SystemFault:
        logger.exception("the erasure of person %s is not recorded beside the files; tonight it is", person.pk)


def write_missing(now: datetime | None = None) -> int:
    """Write the records that are not there, or only under an earlier key; returns how many. Raises as ``records``."""
    there = {record.name for record in records()}
    rows = User.objects.exclude(former_addresses=[]).filter(erased_at__gt=reach(now)).order_by("pk")
    missing = [person for person in rows if ErasureRecord.of(person).name not in there]
    for person in missing:
        _write(person)
    return len(missing)


def forget_old(*, is_trial: bool = False, now: datetime | None = None) -> int:
    """Remove records that no kept backup is older than; returns how many. Raises as ``records``."""
    old = [record for record in records() if record.erased_at <= reach(now)]
    for record in old if not is_trial else ():
        configured().remove_note(record.name)
    return len(old)


def reach(now: datetime | None = None) -> datetime:
    """Erasures before this moment have no record any more: a backup that is older must not be restored."""
    days = settings.RETENTION_ERASURE_RECORDS_DAYS
    return (now or timezone.now()) - timedelta(days=days) if days else datetime.min.replace(tzinfo=UTC)


def key_mark(key: str) -> str:
    """Tells keys apart, and gives none away."""
    return salted_hmac(_SALT, "key", secret=key, algorithm="sha256").hexdigest()[:16]


def account_mark(number: int, made_at: datetime, key: str) -> str:
    """The same for the same account; worth nothing without the key."""
    text = f"{number} {made_at.astimezone(UTC).strftime(_MOMENT)}"
    return salted_hmac(_SALT, text, secret=key, algorithm="sha256").hexdigest()


def _write(person: User) -> None:
    configured().write_note(ErasureRecord.of(person).name, json.dumps(person.former_addresses).encode())
