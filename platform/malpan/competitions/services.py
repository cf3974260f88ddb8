"""Writes of competitions and what they are made of."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta
from pathlib import PurePath
from typing import IO, TYPE_CHECKING, Any

from django.db import models, transaction
from django.db.models import Max
from django.utils import timezone

from malpan.competitions.errors import AnswersWouldLeak, NoticeNotFound, ReferencesInUse, ReferencesRejected, RuleInUse
from malpan.competitions.media import check_media
from malpan.competitions.models import Competition, DataFile, Notice, Phase, ReferenceVersion, TermsAcceptance, Track
from malpan.competitions.phases import public_ids_for, split_facts
from malpan.competitions.references import recipe_named, recipe_of
from malpan.core import audit
from malpan.core.storage import store_private
from scoring.errors import InvalidFile
from scoring.reading import read_references
from scoring.records import AnswerFile

if TYPE_CHECKING:
    from malpan.accounts.models import User


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
    """Make a track scored by ``recipe`` (``rag-qa@1``); raises ``UnknownTrackRecipe``."""
    recipe_named(recipe)
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
    min_interval: timedelta = timedelta(0),
    **fields: Any,
) -> Phase:
    """Make a phase open from ``starts_at`` up to but not at ``ends_at``. A limit of ``None`` is no limit."""
    with transaction.atomic():
        phase = Phase(
            track=track,
            slug=slug,
            title_ko=title_ko,
            starts_at=starts_at,
            ends_at=ends_at,
            daily_limit=daily_limit,
            total_limit=total_limit,
            min_interval=min_interval,
            **fields,
        )
        phase.full_clean()
        phase.save()
        audit.record(actor=actor, action="phase.create", obj=phase, after=audit.snapshot(phase))
    return phase


def check_references(*, phase: Phase, data: bytes) -> AnswerFile:
    """Read a reference file by the rules of the phase's recipe; raises ``ReferencesRejected``.

    The errors say where and which kind, and keep no word of the file beside ids and field names.
    """
    try:
        return read_references(data, recipe_of(phase.track))
    except InvalidFile as error:
        raise ReferencesRejected(errors=error.errors, total=error.total) from None


def publish_reference_version(
    *,
    phase: Phase,
    data: bytes,
    actor: User | None,
    note: str = "",
    replace_in_use: bool = False,
    media: IO[bytes] | None = None,
    public_ids: Collection[str] | None = None,
) -> ReferenceVersion:
    """Check, store privately and make current a new set of reference answers of ``phase``.

    ``media`` is a zip archive with the frames of every item, where the recipe looks at pictures; without it those of
    the current version stay, as corrected texts do not change them. ``public_ids`` as for
    ``phases.public_ids_for``: without it the phase's settings split the items.

    Raises ``ReferencesRejected``, ``MediaRejected``, ``SplitInvalid``; ``AnswersWouldLeak`` when the very file is
    offered for download; and, while submissions of the phase count under the current version, ``ReferencesInUse``
    unless ``replace_in_use``: their scores leave the board until they are scored again.
    """
    references = check_references(phase=phase, data=data)
    if DataFile.objects.filter(file_sha256=references.sha256).exists():
        raise AnswersWouldLeak
    media_sha256 = inherited_media(phase) if media is None else _store_media(media, references)
    stored = store_private(data)
    with transaction.atomic():
        locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)  # publications at once take turns
        versions = ReferenceVersion.objects.filter(phase=phase)
        if not replace_in_use:
            _refuse_in_use(phase)
        public_part = public_ids_for(phase=locked, references=references, public_ids=public_ids, actor=actor)
        previous = versions.order_by("-number").first()
        versions.filter(is_current=True).update(is_current=False)
        version = ReferenceVersion.objects.create(
            phase=phase,
            number=previous.number + 1 if previous else 1,
            file_sha256=stored.sha256,
            media_sha256=media_sha256,
            item_count=len(references.answers),
            is_current=True,
            public_ids=public_part,
            published_at=timezone.now(),
            note=note,
            created_by=actor,
        )
        facts = audit.snapshot(version, leave_out=("public_ids",)) | split_facts(version)
        audit.record(actor=actor, action="reference_version.publish", obj=version, after=facts)
    return version


def inherited_media(phase: Phase) -> str:
    """The frames of the current version, or none."""
    current = ReferenceVersion.objects.filter(phase=phase, is_current=True).first()
    return current.media_sha256 if current else ""


def _store_media(media: IO[bytes], references: AnswerFile) -> str:
    check_media(media=media, references=references)
    media.seek(0)
    return store_private(media).sha256


def _refuse_in_use(phase: Phase) -> None:
    # by the reverse name: this app stands below submissions and must not import it
    count = Phase.objects.filter(pk=phase.pk, submissions__refunded_at=None, submissions__isnull=False).count()
    if count:
        raise ReferencesInUse(count=count)


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
    """Offer a file for download. Raises ``AnswersWouldLeak`` when it is, byte for byte, a reference file."""
    stored = store_private(data)
    if ReferenceVersion.objects.filter(file_sha256=stored.sha256).exists():
        raise AnswersWouldLeak
    with transaction.atomic():
        file = DataFile(
            track=track,
            kind=kind,
            title_ko=title_ko,
            title_en=title_en,
            file_name=PurePath(file_name).name,
            file_sha256=stored.sha256,
            file_size=stored.size,
            position=position,
        )
        file.full_clean()
        file.save()
        audit.record(actor=actor, action="data_file.add", obj=file, after=audit.snapshot(file))
    return file


def update_data_file(*, file: DataFile, actor: User | None, **fields: Any) -> DataFile:
    """Change kind, titles or place of a file for download; its content never changes. Raises ``ValidationError``."""
    with transaction.atomic():
        locked = DataFile.objects.select_for_update().get(pk=file.pk)
        before = audit.snapshot(locked)
        _set_columns(locked, fields, forbidden={"id", "track", "file_name", "file_sha256", "file_size", "created_at"})
        _save_changes(locked, before, "data_file.update", actor)
    return locked


def post_notice(
    *, competition: Competition, title_ko: str, body_ko: str, actor: User | None = None, **fields: Any
) -> Notice:
    """Announce something to the participants of ``competition``."""
    with transaction.atomic():
        notice = Notice(competition=competition, title_ko=title_ko, body_ko=body_ko, **fields)
        notice.full_clean()
        notice.save()
        audit.record(actor=actor, action="notice.post", obj=notice, after=audit.snapshot(notice))
    return notice


def set_board(*, phase: Phase, board: str, actor: User | None, now: datetime | None = None) -> Phase:
    """Show, freeze or hide the board of ``phase``. Freezing twice keeps the first moment."""
    with transaction.atomic():
        locked = Phase.objects.select_for_update(no_key=True).get(pk=phase.pk)
        before = {"board": locked.board, "frozen_at": locked.frozen_at}
        if board != Phase.Board.FROZEN:
            locked.frozen_at = None
        elif locked.board != Phase.Board.FROZEN:
            locked.frozen_at = now or timezone.now()
        locked.board = board
        locked.save(update_fields=["board", "frozen_at"])
        after = {"board": locked.board, "frozen_at": locked.frozen_at}
        audit.record(actor=actor, action="phase.set_board", obj=locked, before=before, after=after)
    return locked


# --- changes of what stands -------------------------------------------------------------------------------------------
def update_competition(
    *, competition: Competition, actor: User | None, renews_terms: bool = False, **fields: Any
) -> Competition:
    """Change columns of ``competition``; its terms keep their version unless ``renews_terms`` asks all to accept anew.

    Terms that are written get a version that nobody has accepted yet, terms that are emptied version 0. Publishing is
    ``setting_up.publish_competition``. Raises ``ValidationError``; ``TypeError`` for what is not the organiser's.
    """
    with transaction.atomic():
        locked = Competition.objects.select_for_update(no_key=True).get(pk=competition.pk)
        before = audit.snapshot(locked)
        _set_columns(locked, fields, forbidden={"id", "is_published", "is_demo", "terms_version", "created_at"})
        locked.terms_version = _version_of_terms(locked, renews_terms)
        _save_changes(locked, before, "competition.update", actor)
    return locked


def update_track(*, track: Track, actor: User | None, **fields: Any) -> Track:
    """Change columns of ``track``. Raises ``ValidationError``, ``UnknownTrackRecipe`` and ``TypeError``.

    Once scores count, another ``recipe`` or ``profile`` would take them off the board: ``RuleInUse``, it is changed by
    rescoring.
    """
    if "recipe" in fields:
        recipe_named(fields["recipe"])
    with transaction.atomic():
        locked = Track.objects.select_for_update(no_key=True).get(pk=track.pk)
        before = audit.snapshot(locked)
        _set_columns(locked, fields, forbidden={"id", "competition", "competition_id"})
        if (locked.recipe, locked.profile) != (before["recipe"], before["profile"]):
            _refuse_rule_in_use(locked)
        _save_changes(locked, before, "track.update", actor)
    return locked


def scores_that_count(track: Track) -> int:
    """How many submissions of ``track`` have a score that counts."""
    # by the reverse name, as in ``_refuse_in_use``
    scored = Track.objects.filter(
        pk=track.pk, phases__submissions__live_run__isnull=False, phases__submissions__refunded_at=None
    )
    return scored.count()


def _refuse_rule_in_use(track: Track) -> None:
    if count := scores_that_count(track):
        raise RuleInUse(count=count)


def update_notice(*, notice: Notice, actor: User | None, **fields: Any) -> Notice:
    """Change columns of ``notice``: texts, place, moment. Raises ``ValidationError`` and ``NoticeNotFound``."""
    with transaction.atomic():
        locked = _locked_notice(notice)
        before = audit.snapshot(locked)
        _set_columns(locked, fields, forbidden={"id", "competition", "competition_id"})
        _save_changes(locked, before, "notice.update", actor)
    return locked


def withdraw_notice(*, notice: Notice, actor: User | None) -> None:
    """Take ``notice`` down for good; the audit log keeps its words. Raises ``NoticeNotFound``."""
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
