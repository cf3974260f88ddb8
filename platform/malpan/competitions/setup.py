"""Making a competition with its owner, copying one, publishing it, and removing unused rows."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from django.db import transaction
from django.db.models import ProtectedError
from django.utils import timezone

from malpan.accounts.models import User
from malpan.competitions.checklist import checklist
from malpan.competitions.checklist_facts import facts_of
from malpan.competitions.errors import CompetitionNotReady, ManageNotFound, MayNotCreate, PartInUse
from malpan.competitions.locks import lock_competition
from malpan.competitions.models import Competition, CompetitionRole, DataFile, Phase, Track
from malpan.competitions.permissions import Permission, may
from malpan.competitions.phases import SETTINGS
from malpan.competitions.roles import appoint
from malpan.competitions.services import create_competition, create_phase, create_track
from malpan.competitions.targets import set_targets, targets_of
from malpan.core import audit

if TYPE_CHECKING:
    from django.db import models

WEEK: Final = timedelta(weeks=1)
COPIED_TEXTS: Final = (
    *("summary_ko", "summary_en", "description_ko", "description_en", "organiser_ko", "organiser_en", "cover"),
    *("team_size_max", "terms_ko", "terms_en", "has_blind_names", "prize_places", "personal_data_months"),
)
COPIED_TRACK: Final = (
    *("slug", "title_ko", "title_en", "description_ko", "description_en", "recipe", "profile"),
    *("score_scale", "score_decimals", "composite", "position"),
)
OF_THIS_TIME: Final = frozenset({"starts_at", "ends_at", "board", "frozen_at"})  # settings that a copied phase has anew
COPIED_PHASE: Final = ("slug", *(name for name in SETTINGS if name not in OF_THIS_TIME))


def may_create(user: User) -> bool:
    """Whether ``user`` may make competitions: superusers, and people with the site's permission for it."""
    return user.is_active and user.has_perm("competitions.add_competition")


def require_may_create(user: User) -> None:
    """Raises ``MayNotCreate``."""
    if not may_create(user):
        raise MayNotCreate


def create_owned_competition(
    *, owner: User, slug: str, title_ko: str, title_en: str = "", copy_of: Competition | None = None
) -> Competition:
    """Make a hidden competition owned by ``owner``, empty or with the definition of ``copy_of``.

    Texts, terms, tracks with their targets, and phases are copied; never references, files, people, submissions or the
    seed of a split.
    Raises ``MayNotCreate`` without the permission, ``ManageNotFound`` without a role in ``copy_of``.
    """
    require_may_create(owner)
    if copy_of is not None and not may(owner, copy_of, Permission.VIEW):
        raise ManageNotFound
    texts = _columns(copy_of, COPIED_TEXTS) if copy_of else {}
    if texts.get("terms_ko") or texts.get("terms_en"):
        texts["terms_version"] = 1
    with transaction.atomic():
        competition = create_competition(actor=owner, slug=slug, title_ko=title_ko, title_en=title_en, **texts)
        appoint(competition=competition, user=owner, role=CompetitionRole.Role.OWNER, actor=owner)
        if copy_of is not None:
            _copy_tracks(copy_of, competition, owner)
    return competition


def _copy_tracks(source: Competition, target: Competition, actor: User) -> None:
    tracks = list(source.tracks.prefetch_related("phases"))
    starts = [phase.starts_at for track in tracks for phase in track.phases.all()]
    later = shift_to_future(min(starts), timezone.now()) if starts else timedelta(0)
    for track in tracks:
        copy = create_track(actor=actor, competition=target, **_columns(track, COPIED_TRACK))
        set_targets(track=copy, targets=targets_of(track), actor=actor)
        for phase in track.phases.all():
            create_phase(
                actor=actor,
                track=copy,
                starts_at=phase.starts_at + later,
                ends_at=phase.ends_at + later,
                **_columns(phase, COPIED_PHASE),
            )


def shift_to_future(first_start: datetime, now: datetime) -> timedelta:
    """How far to move a schedule so that it begins a week from ``now`` or later: whole weeks keep its weekdays."""
    earliest = now + WEEK
    if first_start >= earliest:
        return timedelta(0)
    return -((first_start - earliest) // WEEK) * WEEK


def publish_competition(*, competition: Competition, actor: User, accepts_gaps: bool = False) -> Competition:
    """Show ``competition`` to everybody. Raises ``CompetitionNotReady`` if the checklist has gaps, unless
    ``accepts_gaps``.
    """
    gaps = [item.code for item in checklist(facts_of(competition)) if item.is_gap]
    if gaps and not accepts_gaps:
        raise CompetitionNotReady(count=len(gaps))
    return _set_published(competition, True, "competition.publish", actor, gaps=gaps)


def hide_competition(*, competition: Competition, actor: User) -> Competition:
    """Hide ``competition`` from everybody without a role in it. Nothing is deleted."""
    return _set_published(competition, False, "competition.hide", actor)


def _set_published(
    competition: Competition, is_published: bool, action: str, actor: User, **facts: object
) -> Competition:
    with transaction.atomic():
        locked = lock_competition(competition.pk)
        if locked.is_published != is_published:
            locked.is_published = is_published
            locked.save(update_fields=["is_published"])
            before, after = {"is_published": not is_published}, {"is_published": is_published, **facts}
            audit.record(actor=actor, action=action, obj=locked, before=before, after=after)
    return locked


def remove_competition(*, competition: Competition, actor: User) -> None:
    """Delete a hidden competition without tracks and teams. Raises ``PartInUse``."""
    if competition.is_published:
        raise PartInUse
    _remove(competition, "competition.remove", actor)


def remove_track(*, track: Track, actor: User) -> None:
    """Delete a track without phases, with its files for download and its targets. Raises ``PartInUse``."""
    _remove(track, "track.remove", actor)


def remove_phase(*, phase: Phase, actor: User) -> None:
    """Delete a phase without references, submissions or other rows. Raises ``PartInUse``."""
    _remove(phase, "phase.remove", actor)


def remove_data_file(*, file: DataFile, actor: User) -> None:
    """Remove a file for download. Its bytes stay in the private store."""
    _remove(file, "data_file.remove", actor)


def _remove(row: models.Model, action: str, actor: User) -> None:
    try:
        with transaction.atomic():
            audit.record(actor=actor, action=action, obj=row, before=audit.snapshot(row))
            row.delete()
    except ProtectedError:
        raise PartInUse from None


def _columns(row: models.Model, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(row, name) for name in names}
