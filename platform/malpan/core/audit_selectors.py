"""Reads of the audit log: the entries of one competition, with search, and what one entry changed."""

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
    """The search; an empty field does not filter.

    ``actor`` is part of an e-mail address or name, or ``SYSTEM`` for the platform itself; ``until`` is excluded;
    ``text`` is part of any text in before or after, or of the name or address of the person it is about.
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
    """One column of an entry: its values as text, empty if it has none."""

    name: str
    before: str
    after: str
    is_changed: bool


def search_entries(competition_pk: int, search: AuditSearch) -> QuerySet[AuditEntry]:
    """The entries of a competition that match ``search``, newest first, with their people."""
    rows = AuditEntry.objects.filter(competition_pk=competition_pk).select_related("actor", "person")
    for condition in _conditions(search):
        rows = rows.filter(condition)
    if search.text:
        rows = rows.alias(before_text=Cast("before", TextField()), after_text=Cast("after", TextField()))
        quoted = json.dumps(search.text, ensure_ascii=False)[1:-1]  # as it is stored inside JSON
        about = Q(person__email__icontains=search.text) | Q(person__name__icontains=search.text)
        rows = rows.filter(Q(before_text__icontains=quoted) | Q(after_text__icontains=quoted) | about)
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
    """One entry of a competition, with its people. Raises ``AuditEntryNotFound``."""
    row = AuditEntry.objects.filter(competition_pk=competition_pk, pk=pk).select_related("actor", "person").first()
    if row is None:
        raise AuditEntryNotFound
    return row


def entries_about(object_type: str, object_id: object, *, limit: int = 50) -> list[AuditEntry]:
    """The newest entries about one row, with their people."""
    rows = AuditEntry.objects.filter(object_type=object_type, object_id=str(object_id))
    return list(rows.select_related("actor", "person")[:limit])


def known_actions(competition_pk: int) -> list[str]:
    """Every action in the competition's log."""
    return _known(competition_pk, "action")


def known_object_types(competition_pk: int) -> list[str]:
    """Every kind of row in the competition's log, as ``app.model``."""
    return _known(competition_pk, "object_type")


def _known(competition_pk: int, column: str) -> list[str]:
    rows = AuditEntry.objects.filter(competition_pk=competition_pk)
    return list(rows.order_by(column).values_list(column, flat=True).distinct())


def object_label(object_type: str) -> str:
    """The kind of row in the reader's language; ``object_type`` itself for a removed model."""
    try:
        return str(apps.get_model(object_type)._meta.verbose_name)
    except (LookupError, ValueError):
        return object_type


def changes_of(entry: AuditEntry) -> list[FieldChange]:
    """Every column of ``entry`` before and after, changed ones first."""
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
