"""Rows of a competition, read as they are now and held until the transaction ends. The order: ``core.locks``."""

from __future__ import annotations

from malpan.competitions.models import Competition, Phase, Track
from malpan.core.locks import Level, lock_rows, lock_shared


def lock_phase(pk: int) -> Phase:
    """The phase, held alone, with its track and competition."""
    return lock_rows(Phase.objects.select_related("track__competition"), Level.PHASE).get(pk=pk)


def lock_phase_shared(pk: int) -> Phase:
    """The phase, held together with others who hold it so, with its track and competition.

    Uploads do not wait for one another here; they wait for whoever changes the phase, and are waited for.
    """
    lock_shared(Phase, pk, Level.PHASE)
    return Phase.objects.select_related("track__competition").get(pk=pk)


def lock_track(pk: int) -> Track:
    """The track, held alone."""
    return lock_rows(Track.objects.all(), Level.TRACK).get(pk=pk)


def lock_competition(pk: int) -> Competition:
    """The competition, held alone: the last lock of a transaction, and for a moment only."""
    return lock_rows(Competition.objects.all(), Level.COMPETITION).get(pk=pk)
