"""Reads of the audit log: one competition's part of it, searched, and what one entry changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

from django.apps import apps
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast

from malpan.core.errors import AuditEntryNotFound
from malpan.core.models import AuditEntry


@dataclass(frozen=True, slots=True)
class AuditSearch:
    """What to look for; an empty field asks for nothing.

    ``actor`` is part of an e-mail address or name, ``SYSTEM`` for what the platform did by itself; ``until`` is not
    included; ``text`` is part of anything in before or after.
    """

    actor: str = ""
    action: str = ""
    object_type: str = ""
    object_id: str = ""
    since: datetime | None = None
    until: datetime | None = None
    text: str = ""

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))


SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One column of an entry: its values as text, empty where the side does not have it."""

    name: str
    before: str
    after: str
    is_changed: bool


def search_entries(competition_pk: int, search: AuditSearch) -> QuerySet[AuditEntry]:
    """The entries of a competition that meet every condition of ``search``, newest first, with their actors."""
    rows = AuditEntry.objects.filter(competition_pk=competition_pk).select_related("actor")
    for condition in _conditions(search):
        rows = rows.filter(condition)
    if search.text:
        rows = rows.alias(before_text=Cast("before", TextField()), after_text=Cast("after", TextField()))
        quoted = json.dumps(search.text, ensure_ascii=False)[1:-1]  # as the database writes it inside JSON
        rows = rows.filter(Q(before_text__icontains=quoted) | Q(after_text__icontains=quoted))
    return rows


def _conditions(search: AuditSearch) -> Iterator[Q]:
    if search.actor == SYSTEM:
        yield Q(actor=None)
    elif search.actor:
        yield Q(actor__email__icontains=search.actor) | Q(actor__name__icontains=search.actor)
    if search.action:
        yield Q(action=search.action)
    if search.object_type:
        yield Q(object_type=search.object_type)
    if search.object_id:
        yield Q(object_id=search.object_id)
    if search.since:
        yield Q(created_at__gte=search.since)
    if search.until:
        yield Q(created_at__lt=search.until)


def get_entry(competition_pk: int, pk: int) -> AuditEntry:
    """One entry of a competition, with its actor. Raises ``AuditEntryNotFound``."""
    row = AuditEntry.objects.filter(competition_pk=competition_pk, pk=pk).select_related("actor").first()
    if row is None:
        raise AuditEntryNotFound
    return row


def entries_about(object_type: str, object_id: object, *, limit: int = 50) -> list[AuditEntry]:
    """The newest entries about one row, with their actors."""
    rows = AuditEntry.objects.filter(object_type=object_type, object_id=str(object_id))
    return list(rows.select_related("actor")[:limit])


def known_actions(competition_pk: int) -> list[str]:
    """Every action that stands in the competition's log."""
    return _known(competition_pk, "action")


def known_object_types(competition_pk: int) -> list[str]:
    """Every kind of row that stands in the competition's log, as ``app.model``."""
    return _known(competition_pk, "object_type")


def _known(competition_pk: int, column: str) -> list[str]:
    rows = AuditEntry.objects.filter(competition_pk=competition_pk)
    return list(rows.order_by(column).values_list(column, flat=True).distinct())


def object_label(object_type: str) -> str:
    """The kind of row in the reader's language; ``object_type`` itself for a kind that is gone."""
    try:
        return str(apps.get_model(object_type)._meta.verbose_name)
    except (LookupError, ValueError):
        return object_type


def changes_of(entry: AuditEntry) -> list[FieldChange]:
    """Every column of ``entry``, those that changed first, each side by side."""
    names = dict.fromkeys([*entry.after, *entry.before])
    rows = [
        FieldChange(name, _text(entry.before, name), _text(entry.after, name), _differs(entry, name)) for name in names
    ]
    return sorted(rows, key=lambda row: not row.is_changed)


def changed_names(entry: AuditEntry) -> list[str]:
    """The names of the columns that ``entry`` changed."""
    return [row.name for row in changes_of(entry) if row.is_changed]


def _differs(entry: AuditEntry, name: str) -> bool:
    return name not in entry.before or name not in entry.after or entry.before[name] != entry.after[name]


def _text(side: dict[str, Any], name: str) -> str:
    if name not in side:
        return ""
    value = side[name]
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
