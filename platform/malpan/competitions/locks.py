"""Rows of a competition, read and locked until the transaction ends. The order of locks is in ``core.locks``."""

from __future__ import annotations

from collections.abc import Collection

from malpan.competitions.models import Competition, Phase, Track
from malpan.core.locks import Level, lock_rows, lock_shared


def lock_phase(pk: int) -> Phase:
    """The phase, locked exclusively, with its track and competition."""
    return lock_rows(Phase.objects.select_related("track__competition"), Level.PHASE).get(pk=pk)


def lock_phases(keys: Collection[int]) -> dict[int, Phase]:
    """These phases by key, locked exclusively, with their competitions; those of a track share its object."""
    phases = list(lock_rows(Phase.objects.select_related("track__competition").filter(pk__in=keys), Level.PHASE))
    tracks = {phase.track_id: phase.track for phase in phases}
    for phase in phases:
        phase.track = tracks[phase.track_id]
    return {phase.pk: phase for phase in phases}


def lock_phase_shared(pk: int) -> Phase:
    """The phase, with a shared lock, with its track and competition.

    Uploads do not wait for each other here; changes of the phase and uploads do.
    """
    lock_shared(Phase, pk, Level.PHASE)
    return Phase.objects.select_related("track__competition").get(pk=pk)


def lock_track(pk: int) -> Track:
    """The track, locked exclusively."""
    return lock_rows(Track.objects.all(), Level.TRACK).get(pk=pk)


def lock_competition(pk: int) -> Competition:
    """The competition, locked exclusively: the last lock of a transaction, and only for a moment."""
    return lock_rows(Competition.objects.all(), Level.COMPETITION).get(pk=pk)
