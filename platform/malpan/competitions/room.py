"""How much a competition stores, and how much it may: files for download, references with their frames, submissions.

The same bytes count once in each column that names them. An import is not refused: it is an administrator's.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Sum

from malpan.competitions.errors import CompetitionStorageFull
from malpan.competitions.locks import lock_competition
from malpan.competitions.models import Competition
from malpan.core import audit
from malpan.core.fields import StoredFileField, stored_file_fields


@dataclass(frozen=True, slots=True)
class Usage:
    """What a competition stores; ``limit`` in bytes, 0: none."""

    files: int
    size: int
    limit: int


def usage_of(competition: Competition) -> Usage:
    """What is stored now. One query for each column that names files, and one for the limit."""
    stored = [_stored(field, competition) for field in stored_file_fields() if field.competition]
    return Usage(sum(files for files, _ in stored), sum(size for _, size in stored), _limit_of(competition))


def require_room(competition: Competition, size: int = 0) -> None:
    """Refuse ``size`` more bytes above the limit. Raises ``CompetitionStorageFull``. Without a limit one query.

    A first look, before a file is stored: others may take the room meanwhile (``require_room_at_last``).
    """
    if not (limit := _limit_of(competition)):
        return
    if (used := usage_of(competition).size) + size > limit:
        raise CompetitionStorageFull(used_bytes=used, limit_bytes=limit)


def require_room_at_last(competition: Competition) -> None:
    """At the end of a transaction that stored something for ``competition``: refuse it above the limit.

    Under the competition's lock, so that two at once see each other. Raises ``CompetitionStorageFull``.
    """
    if _limit_of(competition):
        lock_competition(competition.pk)
        require_room(competition)


def set_storage_limit(*, competition: Competition, limit: int | None) -> Competition:
    """Let ``competition`` store ``limit`` bytes; 0: any number, ``None``: what the site says."""
    with transaction.atomic():
        locked = lock_competition(competition.pk)
        before = {"storage_limit": locked.storage_limit}
        locked.storage_limit = limit
        locked.save(update_fields=["storage_limit"])
        after = {"storage_limit": limit}
        audit.record(actor=None, action="competition.set_storage_limit", obj=locked, before=before, after=after)
    return locked


def _limit_of(competition: Competition) -> int:
    """As it is in the database: a caller may hold an older row."""
    own = Competition.objects.values_list("storage_limit", flat=True).get(pk=competition.pk)
    return int(settings.COMPETITION_STORAGE_BYTES if own is None else own)


def _stored(field: StoredFileField, competition: Competition) -> tuple[int, int]:
    """The number of distinct files that the rows of ``competition`` name in ``field``, and their bytes."""
    rows = field.model._base_manager.filter(**{field.competition: competition.pk}).exclude(**{field.name: ""})
    found = rows.order_by().values(field.name, field.size).distinct().aggregate(n=Count("*"), size=Sum(field.size))
    return found["n"], found["size"] or 0
