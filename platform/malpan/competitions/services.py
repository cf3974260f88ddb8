"""Writes of competitions, tracks, phases, files and notices."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any

from django.db import models, transaction
from django.db.models import Max

from malpan.competitions import composites
from malpan.competitions.errors import AnswersWouldLeak, NoticeNotFound
from malpan.competitions.locks import lock_competition, lock_track
from malpan.competitions.models import Competition, DataFile, Notice, Phase, ReferenceVersion, TermsAcceptance, Track
from malpan.competitions.references import recipe_named
from malpan.competitions.room import require_room, require_room_at_last
from malpan.core import audit
from malpan.core.storage import store_private
from malpan.core.text import without_unseen

if TYPE_CHECKING:
    from malpan.accounts.models import User

ENDING_CHARS = 12  # of a file's name, kept however long that is


def create_competition(*, actor: User | None = None, slug: str, title_ko: str, **fields: Any) -> Competition:
    """Make a competition. ``fields`` are further columns of the model; it is hidden until ``is_published``."""
    with transaction.atomic():
        competition = Competition(slug=slug, title_ko=title_ko, **fields)
        competition.full_clean()
        competition.save()
        audit.record(actor=actor, action="competition.create", obj=competition, after=audit.snapshot(competition))
    return competition


def create_track(
    *, actor: User | None = None, competition: Competition, slug: str, title_ko: str, recipe: str, **fields: Any
) -> Track:
    """Make a track scored by ``recipe`` (``rag-qa@1``); raises ``UnknownTrackRecipe`` and ``CompositeInvalid``."""
    composites.require_sound(fields.get("composite", ()), recipe_named(recipe))
    with transaction.atomic():
        track = Track(competition=competition, slug=slug, title_ko=title_ko, recipe=recipe, **fields)
        track.full_clean()
        track.save()
        audit.record(actor=actor, action="track.create", obj=track, after=audit.snapshot(track))
    return track


def create_phase(
    *,
    actor: User | None = None,
    track: Track,
    slug: str,
    title_ko: str,
    starts_at: datetime,
    ends_at: datetime,
    daily_limit: int | None = None,
    total_limit: int | None = None,
    **fields: Any,
) -> Phase:
    """Make a phase open from ``starts_at`` up to but not at ``ends_at``. A limit of ``None`` is no limit.

    Raises ``ValidationError`` and ``CountingInvalid``.
    """
    with transaction.atomic():
        phase = Phase(
            track=track,
            slug=slug,
            title_ko=title_ko,
            starts_at=starts_at,
            ends_at=ends_at,
            daily_limit=daily_limit,
            total_limit=total_limit,
            **fields,
        )
        phase.full_clean()
        composites.require_sound_counting(phase)
        phase.save()
        audit.record(actor=actor, action="phase.create", obj=phase, after=audit.snapshot(phase))
    return phase


def add_data_file(
    *,
    track: Track,
    kind: str,
    title_ko: str,
    title_en: str = "",
    file_name: str,
    data: bytes | IO[bytes],
    position: int = 0,
    actor: User | None = None,
) -> DataFile:
    """Offer a file for download.

    Raises ``AnswersWouldLeak`` if it is, byte for byte, a reference file, and ``CompetitionStorageFull``.
    """
    require_room(track.competition, _size(data))
    stored = store_private(data)
    if ReferenceVersion.objects.filter(file_sha256=stored.sha256).exists():
        raise AnswersWouldLeak
    with transaction.atomic():
        file = DataFile(
            track=track,
            kind=kind,
            title_ko=title_ko,
            title_en=title_en,
            file_name=_kept_name(file_name),
            file_sha256=stored.sha256,
            file_size=stored.size,
            position=position,
        )
        file.full_clean()
        file.save()
        audit.record(actor=actor, action="data_file.add", obj=file, after=audit.snapshot(file))
        require_room_at_last(track.competition)
    return file


def _kept_name(file_name: str) -> str:
    """The last part of ``file_name``, as long as the column takes, with its ending."""
    name = PurePath(without_unseen(file_name)).name or "data"
    most = DataFile._meta.get_field("file_name").max_length or 0
    if len(name) <= most:
        return name
    ending = PurePath(name).suffix[:ENDING_CHARS]
    return name[: most - len(ending)] + ending


def _size(data: bytes | IO[bytes]) -> int:
    """The bytes from the current position to the end."""
    if isinstance(data, bytes):
        return len(data)
    start = data.tell()
    size = data.seek(0, os.SEEK_END) - start
    data.seek(start)
    return size


def update_data_file(*, file: DataFile, actor: User | None, **fields: Any) -> DataFile:
    """Change kind, titles or position of a file for download; its content never changes. Raises ``ValidationError``."""
    with transaction.atomic():
        locked = DataFile.objects.select_for_update().get(pk=file.pk)
        before = audit.snapshot(locked)
        _set_columns(locked, fields, forbidden={"id", "track", "file_name", "file_sha256", "file_size", "created_at"})
        _save_changes(locked, before, "data_file.update", actor)
    return locked


def post_notice(
    *, competition: Competition, title_ko: str, body_ko: str, actor: User | None = None, **fields: Any
) -> Notice:
    """Make a notice for the participants of ``competition``."""
    with transaction.atomic():
        notice = Notice(competition=competition, title_ko=title_ko, body_ko=body_ko, **fields)
        notice.full_clean()
        notice.save()
        audit.record(actor=actor, action="notice.post", obj=notice, after=audit.snapshot(notice))
    return notice


# --- changes of existing rows
# -------------------------------------------------------------------------------------------
def update_competition(
    *, competition: Competition, actor: User | None, renews_terms: bool = False, **fields: Any
) -> Competition:
    """Change columns of ``competition``; its terms keep their version unless ``renews_terms`` asks all to accept again.

    New terms get a version that nobody has accepted yet, empty terms version 0. ``setup.publish_competition``
    publishes. Raises ``ValidationError``, and ``TypeError`` for columns that organisers may not change.
    """
    with transaction.atomic():
        locked = lock_competition(competition.pk)
        before = audit.snapshot(locked)
        decided_elsewhere = {"id", "is_published", "is_demo", "storage_limit", "terms_version", "created_at"}
        _set_columns(locked, fields, forbidden=decided_elsewhere)
        locked.terms_version = _version_of_terms(locked, renews_terms)
        _save_changes(locked, before, "competition.update", actor)
    return locked


def update_track(*, track: Track, actor: User | None, **fields: Any) -> Track:
    """Change columns of ``track``. Raises ``ValidationError``, ``UnknownTrackRecipe``, ``CompositeInvalid`` and
    ``TypeError``.

    Pages must call ``submissions.scoring_changes``, which checks whether another ``recipe`` or ``profile`` would remove
    counting scores from the board, and another ``composite`` rank them otherwise.
    """
    with transaction.atomic():
        locked = lock_track(track.pk)
        before = audit.snapshot(locked)
        _set_columns(locked, fields, forbidden={"id", "competition", "competition_id"})
        if fields.keys() & {"recipe", "composite"}:
            composites.require_sound(locked.composite, recipe_named(locked.recipe))
        _save_changes(locked, before, "track.update", actor)
    return locked


def update_notice(*, notice: Notice, actor: User | None, **fields: Any) -> Notice:
    """Change columns of ``notice``: texts, pinning, moment. Raises ``ValidationError`` and ``NoticeNotFound``."""
    with transaction.atomic():
        locked = _locked_notice(notice)
        before = audit.snapshot(locked)
        _set_columns(locked, fields, forbidden={"id", "competition", "competition_id"})
        _save_changes(locked, before, "notice.update", actor)
    return locked


def withdraw_notice(*, notice: Notice, actor: User | None) -> None:
    """Delete ``notice``; the audit log keeps its text. Raises ``NoticeNotFound``."""
    with transaction.atomic():
        locked = _locked_notice(notice)
        audit.record(actor=actor, action="notice.withdraw", obj=locked, before=audit.snapshot(locked))
        locked.delete()


def _locked_notice(notice: Notice) -> Notice:
    locked = Notice.objects.select_for_update().filter(pk=notice.pk).first()
    if locked is None:
        raise NoticeNotFound
    return locked


def _version_of_terms(competition: Competition, renews: bool) -> int:
    if not competition.terms_ko and not competition.terms_en:
        return 0
    if competition.terms_version and not renews:
        return competition.terms_version
    accepted = TermsAcceptance.objects.filter(competition=competition).aggregate(last=Max("version"))["last"] or 0
    return max(competition.terms_version, accepted) + 1


def _set_columns(row: models.Model, fields: dict[str, Any], *, forbidden: set[str]) -> None:
    known = {field.name for field in row._meta.concrete_fields} - forbidden
    if foreign := fields.keys() - known:
        raise TypeError(f"not to be set on {row._meta.label}: {sorted(foreign)}")
    for name, value in fields.items():
        setattr(row, name, value)


def _save_changes(row: models.Model, before: dict[str, Any], action: str, actor: User | None) -> None:
    row.full_clean()
    was, then = audit.changed(before, audit.snapshot(row))
    if then:
        row.save(update_fields=list(then))
        audit.record(actor=actor, action=action, obj=row, before=was, after=then)
