"""Reads of competitions, tracks, phases and files. An unpublished competition does not exist for the public."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.db.models import F, Func, IntegerField, Max, Min, Q, QuerySet
from django.utils import timezone

from malpan.competitions.errors import (
    CompetitionNotFound,
    DataFileNotFound,
    NoticeNotFound,
    ReferencesNotPublished,
    TrackNotFound,
)
from malpan.competitions.models import Competition, DataFile, Notice, Phase, ReferenceVersion, Track
from malpan.core.database.prepared import Prepared
from malpan.core.errors import AddressNotFound


@dataclass(frozen=True, slots=True)
class Competitions:
    """Published competitions by state at ``now``: from the first start to the last end they are running.

    Each has ``starts_at`` and ``ends_at`` (``None`` if it has no phase yet, which makes it upcoming).
    """

    running: tuple[Competition, ...]
    upcoming: tuple[Competition, ...]
    past: tuple[Competition, ...]


def published_competitions(now: datetime | None = None) -> Competitions:
    """Running ones by nearest deadline, upcoming ones by nearest start, past ones newest first. One query."""
    now = now or timezone.now()
    rows = Competition.objects.filter(is_published=True).annotate(
        starts_at=Min("tracks__phases__starts_at"), ends_at=Max("tracks__phases__ends_at")
    )
    running, upcoming, undated, past = [], [], [], []
    for row in rows:
        starts_at, ends_at = _period(row)
        if starts_at is None or ends_at is None:
            undated.append(row)
        elif now < starts_at:
            upcoming.append((starts_at, row.pk, row))
        elif now < ends_at:
            running.append((ends_at, row.pk, row))
        else:
            past.append((ends_at, row.pk, row))
    return Competitions(
        running=tuple(row for *_key, row in sorted(running)),
        upcoming=(*(row for *_key, row in sorted(upcoming)), *undated),
        past=tuple(row for *_key, row in sorted(past, reverse=True)),
    )


def _period(competition: Any) -> tuple[datetime | None, datetime | None]:
    """The two moments annotated by ``published_competitions``."""
    return competition.starts_at, competition.ends_at


_COMPETITION: Final = Prepared(lambda slug: Competition.objects.filter(slug=slug), str)


def get_competition(slug: str, *, include_unpublished: bool = False) -> Competition:
    """The competition at ``slug``; raises ``CompetitionNotFound``. For organisers also an unpublished one."""
    competition = _COMPETITION.only(slug)
    if competition is None or not (include_unpublished or competition.is_published):
        raise CompetitionNotFound
    return competition


def tracks_of(competition: Competition) -> list[Track]:
    """The tracks in their order, with prefetched phases: two queries in all."""
    return list(competition.tracks.prefetch_related("phases"))


def get_track(competition: Competition, slug: str | None = None) -> Track:
    """The track at ``slug``, or the first one without ``slug``; raises ``TrackNotFound``."""
    tracks = competition.tracks.prefetch_related("phases")
    track = (tracks.filter(slug=slug) if slug else tracks).first()
    if track is None:
        raise TrackNotFound
    return track


def phases_of(competition: Competition) -> QuerySet[Phase]:
    """Every phase, by the order of its track, then its own."""
    phases = Phase.objects.filter(track__competition=competition).select_related("track__competition")
    return phases.order_by("track__position", "track", "position", "starts_at", "pk")


def phase_of(competition: Competition, pk: int) -> Phase:
    """The phase with primary key ``pk`` in ``competition``; raises ``AddressNotFound``."""
    phase = phases_of(competition).filter(pk=pk).first()
    if phase is None:
        raise AddressNotFound
    return phase


def phase_to_show(track: Track, now: datetime | None = None) -> Phase | None:
    """The phase to show on a page: the open one, else the one that ended last, else the next to begin.

    Of several open ones the one that began last. Uses the phases prefetched by ``tracks_of`` or ``get_track``.
    """
    now = now or timezone.now()
    phases = list(track.phases.all())
    begun = [phase for phase in phases if phase.starts_at <= now]
    if open_now := [phase for phase in begun if phase.is_open(now)]:
        return max(open_now, key=lambda phase: phase.starts_at)
    if begun:
        return max(begun, key=lambda phase: phase.ends_at)
    return min(phases, key=lambda phase: phase.starts_at, default=None)


def sample_file(track: Track) -> DataFile | None:
    """The sample submission shown next to the upload box."""
    return next((file for file in track.data_files.all() if file.kind == DataFile.Kind.SAMPLE), None)


def data_file(pk: int, file_name: str, *, include_unpublished: bool = False) -> DataFile:
    """A file for download by its number and name; raises ``DataFileNotFound``, also while its competition is hidden."""
    visible = Q() if include_unpublished else Q(track__competition__is_published=True)
    file = DataFile.objects.filter(visible, pk=pk).select_related("track__competition").first()
    if file is None or file.file_name != file_name:  # compared here: PostgreSQL refuses a name with a NUL
        raise DataFileNotFound
    return file


def is_blind(competition: Competition, now: datetime | None = None) -> bool:
    """Whether other teams are shown by number: the competition wants it and a phase is open. At most one query."""
    now = now or timezone.now()
    if not competition.has_blind_names:
        return False
    return Phase.objects.filter(track__competition=competition, starts_at__lte=now, ends_at__gt=now).exists()


def public_share(phase: Phase) -> int | None:
    """How many per cent of the items the public scores are of; ``None`` where they are of all. Without references, as
    it is set. One query.
    """
    size = Func(F("public_ids"), function="jsonb_array_length", output_field=IntegerField())
    rows = ReferenceVersion.objects.filter(phase=phase, is_current=True).values_list(size, "item_count")
    if not (found := rows.first()):
        return phase.public_percent
    public, all_items = found
    return None if public is None else round(100 * public / max(1, all_items))


def notices_of(competition: Competition, now: datetime | None = None) -> QuerySet[Notice]:
    """The notices published by ``now``, pinned ones first, then newest first."""
    return competition.notices.filter(published_at__lte=now or timezone.now())


def current_reference(phase: Phase) -> ReferenceVersion:
    """The reference version submissions of ``phase`` are scored with now; raises ``ReferencesNotPublished``."""
    version = phase.reference_versions.filter(is_current=True).first()
    if version is None:
        raise ReferencesNotPublished
    return version


def all_notices(competition: Competition) -> QuerySet[Notice]:
    """Every notice, also future ones, for organisers. Newest first, also pinned ones."""
    return competition.notices.order_by("-published_at", "-pk")


def notice_of(competition: Competition, pk: int) -> Notice:
    """The notice with primary key ``pk`` in ``competition``; raises ``NoticeNotFound``."""
    notice = competition.notices.filter(pk=pk).first()
    if notice is None:
        raise NoticeNotFound
    return notice
