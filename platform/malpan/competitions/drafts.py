"""Draft reference versions: stored in addition to the current one, compared with it, edited and discarded.

A draft has ``published_at`` ``None`` and never ``is_current``. It becomes current by ``submissions.scoring_changes``
while no submission counts, else when the batch that scored with it is applied.
"""

from __future__ import annotations

from datetime import timedelta
from typing import IO, TYPE_CHECKING, Final

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from malpan.competitions.errors import ReferenceDraftInUse, ReferenceNotDraft
from malpan.competitions.locks import lock_phase
from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.reference_diff import ReferenceDiff, diff_references
from malpan.competitions.references import load_references
from malpan.competitions.room import require_room_at_last
from malpan.competitions.versions import add_version, facts_of, store_file
from malpan.core import audit
from malpan.core.models import AuditEntry

if TYPE_CHECKING:
    from malpan.accounts.models import User

OPENED: Final = "reference_version.open"
READING: Final = timedelta(minutes=10)


def create_draft(
    *,
    phase: Phase,
    data: bytes,
    actor: User | None,
    note: str = "",
    erratum_ko: str = "",
    erratum_en: str = "",
    media: IO[bytes] | None = None,
    synonyms: bytes | None = None,
) -> ReferenceVersion:
    """Check and store a set of reference answers that is not used yet.

    ``erratum_*`` is what participants will read when it is published. Raises as ``versions.store_file``, and
    ``SplitInvalid``.
    """
    file = store_file(phase=phase, data=data, media=media, synonyms=synonyms)
    texts = {"note": note, "erratum_ko": erratum_ko, "erratum_en": erratum_en}
    with transaction.atomic():
        version = add_version(phase=lock_phase(phase.pk), file=file, actor=actor, **texts)
        audit.record(actor=actor, action="reference_version.draft", obj=version, after=facts_of(version))
        require_room_at_last(phase.track.competition)
    return version


def edit_erratum(*, version: ReferenceVersion, erratum_ko: str, erratum_en: str, actor: User) -> ReferenceVersion:
    """Change what participants will read about a draft. Raises ``ReferenceNotDraft`` once it was published."""
    with transaction.atomic():
        draft = lock_draft(version)
        before = {"erratum_ko": draft.erratum_ko, "erratum_en": draft.erratum_en}
        draft.erratum_ko, draft.erratum_en = erratum_ko, erratum_en
        draft.save(update_fields=["erratum_ko", "erratum_en"])
        after = {"erratum_ko": erratum_ko, "erratum_en": erratum_en}
        audit.record(actor=actor, action="reference_version.edit_erratum", obj=draft, before=before, after=after)
    return draft


def discard_draft(*, version: ReferenceVersion, actor: User) -> None:
    """Delete a draft that was not used for scoring; its number is free again, its file stays stored.

    Raises ``ReferenceNotDraft``, and ``ReferenceDraftInUse`` if runs or a rescoring batch use it.
    """
    try:
        with transaction.atomic():
            draft = lock_draft(version)
            audit.record(actor=actor, action="reference_version.discard", obj=draft, before=facts_of(draft))
            draft.delete()
    except ProtectedError:
        raise ReferenceDraftInUse from None


def open_diff(*, version: ReferenceVersion, actor: User) -> ReferenceDiff:
    """How ``version`` differs from the current one of its phase. It has reference answers: ``VIEW_ANSWERS`` only, and
    the audit log says who read them, once a person and version within ``READING``.
    """
    entries = AuditEntry.objects.filter(object_type=version._meta.label_lower, object_id=str(version.pk))
    if not entries.filter(action=OPENED, actor=actor, created_at__gt=timezone.now() - READING).exists():
        audit.record(actor=actor, action=OPENED, obj=version, after={"number": version.number})
    recipe = version.phase.track.recipe
    current = ReferenceVersion.objects.filter(phase_id=version.phase_id, is_current=True).first()
    return diff_references(load_references(current, recipe) if current else None, load_references(version, recipe))


def lock_draft(version: ReferenceVersion) -> ReferenceVersion:
    """The draft; its phase is locked until the transaction ends. Raises ``ReferenceNotDraft`` if it was published."""
    lock_phase(version.phase_id)
    draft = ReferenceVersion.objects.select_related("phase__track__competition").filter(pk=version.pk).first()
    if draft is None or draft.is_current or draft.published_at is not None:
        raise ReferenceNotDraft
    return draft
