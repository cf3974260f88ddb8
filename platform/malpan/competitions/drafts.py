"""Draft reference versions: stored beside the current one, compared with it, published alone or by a rescoring batch.

A draft has ``published_at`` ``None`` and never ``is_current``. It becomes current in ``publish_draft`` while nothing
counts under the current version, else when the batch that scored with it is applied (``make_current``).
"""

from __future__ import annotations

from datetime import datetime
from typing import IO, TYPE_CHECKING, Any

from django.db import transaction
from django.utils import timezone

from malpan.competitions import services
from malpan.competitions.errors import AnswersWouldLeak, ReferenceDraftInUse, ReferenceNotDraft
from malpan.competitions.models import DataFile, Notice, Phase, ReferenceVersion
from malpan.competitions.phases import public_ids_for
from malpan.competitions.reference_diff import ReferenceDiff, diff_references
from malpan.competitions.references import load_references
from malpan.core import audit
from malpan.core.storage import store_private

if TYPE_CHECKING:
    from malpan.accounts.models import User

ERRATUM_TITLE_KO = "정답 정정 안내"
ERRATUM_TITLE_EN = "Correction of the reference answers"


def create_draft(
    *,
    phase: Phase,
    data: bytes,
    actor: User | None,
    note: str = "",
    erratum_ko: str = "",
    erratum_en: str = "",
    media: IO[bytes] | None = None,
) -> ReferenceVersion:
    """Check and store a set of reference answers that counts for nothing yet.

    ``erratum_*`` is what participants will read when it is published. Raises ``ReferencesRejected`` with located
    errors, ``MediaRejected``, ``SplitInvalid``, and ``AnswersWouldLeak`` when the very file is offered for download.
    """
    references = services.check_references(phase=phase, data=data)
    if DataFile.objects.filter(file_sha256=references.sha256).exists():
        raise AnswersWouldLeak
    media_sha256 = services.inherited_media(phase) if media is None else services._store_media(media, references)
    stored = store_private(data)
    with transaction.atomic():
        locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
        newest = ReferenceVersion.objects.filter(phase=phase).order_by("-number").first()
        version = ReferenceVersion.objects.create(
            phase=locked,
            number=newest.number + 1 if newest else 1,
            file_sha256=stored.sha256,
            media_sha256=media_sha256,
            item_count=len(references.answers),
            public_ids=public_ids_for(phase=locked, references=references),
            is_current=False,
            published_at=None,
            note=note,
            erratum_ko=erratum_ko,
            erratum_en=erratum_en,
            created_by=actor,
        )
        audit.record(actor=actor, action="reference_version.draft", obj=version, after=facts_of(version))
    return version


def edit_erratum(*, version: ReferenceVersion, erratum_ko: str, erratum_en: str, actor: User) -> ReferenceVersion:
    """Change what participants will read about a draft. Raises ``ReferenceNotDraft`` once it was published."""
    with transaction.atomic():
        draft = _locked_draft(version)
        before = {"erratum_ko": draft.erratum_ko, "erratum_en": draft.erratum_en}
        draft.erratum_ko, draft.erratum_en = erratum_ko, erratum_en
        draft.save(update_fields=["erratum_ko", "erratum_en"])
        after = {"erratum_ko": erratum_ko, "erratum_en": erratum_en}
        audit.record(actor=actor, action="reference_version.edit_erratum", obj=draft, before=before, after=after)
    return draft


def discard_draft(*, version: ReferenceVersion, actor: User) -> None:
    """Delete a draft nobody scored with; its number is free again, its file stays stored.

    Raises ``ReferenceNotDraft``, and ``ReferenceDraftInUse`` when runs or a rescoring batch name it.
    """
    with transaction.atomic():
        draft = _locked_draft(version)
        # by the table's reverse name: this app stands below submissions and must not import it
        if draft.runs.exists() or _is_named_by_a_batch(draft):
            raise ReferenceDraftInUse
        audit.record(actor=actor, action="reference_version.discard", obj=draft, before=facts_of(draft))
        draft.delete()


def publish_draft(*, version: ReferenceVersion, actor: User, now: datetime | None = None) -> ReferenceVersion:
    """Make a draft the current version of a phase in which nothing counts yet, and post its erratum as a notice.

    Raises ``ReferenceNotDraft``, and ``ReferencesInUse`` when submissions count: then a rescoring batch publishes it.
    """
    with transaction.atomic():
        draft = _locked_draft(version)
        services._refuse_in_use(draft.phase)
        make_current(version=draft, actor=actor, now=now)
    return draft


def make_current(*, version: ReferenceVersion, actor: User | None, now: datetime | None = None) -> Notice | None:
    """Put ``version`` in the place of the current one, post its erratum where it has one, and write the audit log.

    A piece of a larger change: call it in a transaction that holds the phase.
    """
    versions = ReferenceVersion.objects.filter(phase_id=version.phase_id)
    previous = versions.filter(is_current=True).values_list("number", flat=True).first()
    versions.filter(is_current=True).update(is_current=False)
    version.is_current, version.published_at = True, version.published_at or now or timezone.now()
    version.save(update_fields=["is_current", "published_at"])
    audit.record(
        actor=actor,
        action="reference_version.publish",
        obj=version,
        before={"current_number": previous},
        after=facts_of(version),
    )
    return _post_erratum(version, actor)


def diff_to_current(version: ReferenceVersion) -> ReferenceDiff:
    """How ``version`` differs from the current one of its phase. It holds reference answers: ``VIEW_ANSWERS`` only."""
    recipe = version.phase.track.recipe
    current = ReferenceVersion.objects.filter(phase_id=version.phase_id, is_current=True).first()
    return diff_references(load_references(current, recipe) if current else None, load_references(version, recipe))


def facts_of(version: ReferenceVersion) -> dict[str, Any]:
    """What the audit log keeps of a version: how many items are public, not which."""
    facts = audit.snapshot(version, leave_out=("public_ids",))
    return facts | {"public_count": None if version.public_ids is None else len(version.public_ids)}


def _post_erratum(version: ReferenceVersion, actor: User | None) -> Notice | None:
    if not version.erratum_ko.strip():
        return None
    track = version.phase.track
    return services.post_notice(
        competition=track.competition,
        title_ko=f"{ERRATUM_TITLE_KO}: {track.title_ko} · {version.phase.title_ko}"[:200],
        title_en=f"{ERRATUM_TITLE_EN}: {track.title_en or track.title_ko}"[:200] if version.erratum_en else "",
        body_ko=version.erratum_ko,
        body_en=version.erratum_en,
        actor=actor,
    )


def _locked_draft(version: ReferenceVersion) -> ReferenceVersion:
    """The draft, its phase held until the transaction ends."""
    Phase.objects.select_for_update(no_key=True).get(pk=version.phase_id)
    draft = ReferenceVersion.objects.select_related("phase__track__competition").filter(pk=version.pk).first()
    if draft is None or draft.is_current or draft.published_at is not None:
        raise ReferenceNotDraft
    return draft


def _is_named_by_a_batch(draft: ReferenceVersion) -> bool:
    return draft.phase.rescore_batches.filter(reference_version=draft.pk).exists()
