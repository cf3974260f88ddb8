"""Versions of the reference answers of a phase: the only way to store them and to make them current.

``store_file`` checks and stores a file, ``add_version`` makes an unused version of it, and ``make_current`` replaces
the current version. Publishing, splitting again and drafts use these three. None of them checks whether submissions
count with the current version: ``submissions.scoring_changes`` does, which pages must call.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, Final

from django.utils import timezone

from malpan.competitions.errors import ReferencesArePublic, ReferencesRejected
from malpan.competitions.media import check_media
from malpan.competitions.models import DataFile, Phase, ReferenceVersion
from malpan.competitions.phases import public_ids_for
from malpan.competitions.references import load_references, recipe_of
from malpan.competitions.room import require_room
from malpan.competitions.services import post_notice
from malpan.competitions.synonyms import BUILT_IN, check_synonyms
from malpan.core import audit
from malpan.core.storage import StoredFile, store_private
from scoring.errors import InvalidFile
from scoring.reading import read_references
from scoring.records import Items

if TYPE_CHECKING:
    from malpan.accounts.models import User

ERRATUM_TITLE_KO: Final = "정답 정정 안내"
ERRATUM_TITLE_EN: Final = "Correction of the reference answers"


@dataclass(frozen=True, slots=True)
class StoredReferences:
    """Checked and stored reference answers: the file, those of the frames and the synonyms if there are any, and the
    answers.
    """

    file: StoredFile
    media: StoredFile | None
    synonyms: StoredFile | None
    answers: Items


def store_file(
    *, phase: Phase, data: bytes, media: IO[bytes] | None = None, synonyms: bytes | None = None
) -> StoredReferences:
    """Check a file of reference answers by the rules of the phase's recipe, and store it privately.

    ``media`` is a zip archive with the frames of every item, if the recipe uses pictures; without it those of the
    current version are kept, as corrected texts do not change them. ``synonyms`` is a table for the metrics that look
    words up, likewise; ``synonyms.BUILT_IN`` is the instrument's again.

    Raises ``ReferencesRejected``, whose errors have place and kind and no text of the file except ids and field names;
    ``MediaRejected``; ``SynonymsRejected``; ``ReferencesArePublic`` if the same file is offered for download;
    ``CompetitionStorageFull``.
    """
    try:
        answers = read_references(data, recipe_of(phase.track))
    except InvalidFile as error:
        raise ReferencesRejected(errors=error.errors, total=error.total) from None
    if DataFile.objects.filter(file_sha256=answers.sha256).exists():
        raise ReferencesArePublic
    require_room(phase.track.competition, len(data))
    if synonyms is not None:
        check_synonyms(phase.track, synonyms)
    current = ReferenceVersion.objects.filter(phase=phase, is_current=True).first()
    frames = _media_of(current) if media is None else _store_media(phase, media, answers)
    words = _synonyms_of(current) if synonyms is None else _store_synonyms(phase, synonyms)
    return StoredReferences(store_private(data), frames, words, answers)


def stored_file_of(version: ReferenceVersion) -> StoredReferences:
    """The stored file of ``version``, to make another version of it."""
    answers = load_references(version, version.phase.track.recipe)
    file = StoredFile(version.file_sha256, version.file_size)
    return StoredReferences(file, _media_of(version), _synonyms_of(version), answers)


def add_version(
    *,
    phase: Phase,
    file: StoredReferences,
    actor: User | None,
    public_ids: Collection[str] | None = None,
    **texts: str,
) -> ReferenceVersion:
    """A new, unused version of ``phase``. The caller must have locked the phase.

    ``public_ids`` as for ``phases.public_ids_for``: without it the phase's settings split the items. ``texts``: note,
    erratum_ko and erratum_en. Raises ``SplitInvalid``.
    """
    newest = ReferenceVersion.objects.filter(phase=phase).order_by("-number").first()
    return ReferenceVersion.objects.create(
        phase=phase,
        number=newest.number + 1 if newest else 1,
        file_sha256=file.file.sha256,
        file_size=file.file.size,
        media_sha256=file.media.sha256 if file.media else "",
        media_size=file.media.size if file.media else 0,
        synonyms_sha256=file.synonyms.sha256 if file.synonyms else "",
        synonyms_size=file.synonyms.size if file.synonyms else 0,
        item_count=len(file.answers.items),
        public_ids=public_ids_for(phase=phase, references=file.answers, public_ids=public_ids, actor=actor),
        is_current=False,
        published_at=None,
        created_by=actor,
        **texts,
    )


def make_current(
    *,
    version: ReferenceVersion,
    actor: User | None,
    action: str = "reference_version.publish",
    now: datetime | None = None,
    posts_erratum: bool = True,
) -> None:
    """Make ``version`` the current one, write the audit log and post its erratum, if it has one.

    Who posts the erratum within a notice of its own says so with ``posts_erratum``. Call it in a transaction that has
    locked the phase.
    """
    versions = ReferenceVersion.objects.filter(phase_id=version.phase_id)
    previous = versions.filter(is_current=True).values_list("number", flat=True).first()
    versions.filter(is_current=True).update(is_current=False)
    version.is_current, version.published_at = True, version.published_at or now or timezone.now()
    version.save(update_fields=["is_current", "published_at"])
    audit.record(actor=actor, action=action, obj=version, before={"current_number": previous}, after=facts_of(version))
    if posts_erratum:
        post_erratum(version, actor)


def post_erratum(version: ReferenceVersion, actor: User | None) -> None:
    """Post the erratum of ``version`` as a notice, if it has one."""
    if not version.erratum_ko.strip():
        return
    track, phase = version.phase.track, version.phase
    english = f"{track.title_en or track.title_ko} · {phase.title_en or phase.title_ko}"
    post_notice(
        competition=track.competition,
        title_ko=f"{ERRATUM_TITLE_KO}: {track.title_ko} · {phase.title_ko}"[:200],
        title_en=f"{ERRATUM_TITLE_EN}: {english}"[:200],
        body_ko=version.erratum_ko,
        body_en=version.erratum_en,
        actor=actor,
    )


def facts_of(version: ReferenceVersion) -> dict[str, Any]:
    """The facts of a version for the audit log: how many items are public, not which."""
    facts = audit.snapshot(version, leave_out=("public_ids",))
    return facts | {"public_count": None if version.public_ids is None else len(version.public_ids)}


def _media_of(version: ReferenceVersion | None) -> StoredFile | None:
    return StoredFile(version.media_sha256, version.media_size) if version and version.media_sha256 else None


def _synonyms_of(version: ReferenceVersion | None) -> StoredFile | None:
    return StoredFile(version.synonyms_sha256, version.synonyms_size) if version and version.synonyms_sha256 else None


def _store_media(phase: Phase, media: IO[bytes], answers: Items) -> StoredFile:
    check_media(media=media, references=answers)
    require_room(phase.track.competition, media.seek(0, os.SEEK_END))
    media.seek(0)
    return store_private(media)


def _store_synonyms(phase: Phase, synonyms: bytes) -> StoredFile | None:
    if synonyms == BUILT_IN:
        return None
    require_room(phase.track.competition, len(synonyms))
    return store_private(synonyms)
