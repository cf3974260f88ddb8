"""Loads the demo: sets up the competitions, then submits for their teams through the platform's usual service.

Every file is validated, charged, stored and queued like any participant's; the Celery workers score it. What exists
already is not changed, so an interrupted load is completed by the next one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Final

from django.db import connection, transaction
from django.utils import timezone

from malpan.competitions.models import Competition, Phase
from malpan.core.locks import own_rows
from malpan.demo.assembly import PHASE_SLUG, set_up
from malpan.demo.habits import DemoTeam, Packing, Upload
from malpan.demo.specs import COMPETITIONS, CompetitionSpec
from malpan.demo.tracks import TrackSpec
from malpan.submissions.errors import FileRejected
from malpan.submissions.intake import submit
from malpan.submissions.models import Rejection, Submission
from malpan.teams.models import Membership, Team

_LOCK_KEY: Final = 0x6D616C70  # "malp": any number that no other advisory lock of this database uses


class DemoAddressTaken(Exception):
    """A competition that is not the demo has the demo's address, ``slug``."""

    def __init__(self, slug: str) -> None:
        self.slug = slug
        super().__init__(slug)


@dataclass(slots=True)
class LoadCount:
    """What one load added."""

    competitions: int = 0
    submissions: int = 0
    rejections: int = 0


def load_demo(now: datetime | None = None) -> LoadCount:
    """Complete the demo; existing parts are not changed. Of two parallel loads the second waits.

    Raises ``DemoAddressTaken``, and what ``intake.submit`` raises for a file that should be valid.
    """
    count = LoadCount()
    with one_at_a_time():
        for spec in COMPETITIONS:
            load_competition(spec, now or timezone.now(), count)
    return count


def load_competition(spec: CompetitionSpec, now: datetime, count: LoadCount) -> None:
    """Complete the competition of ``spec`` as ``load_demo`` does, and add to ``count`` what was missing."""
    competition = _competition(spec, now, count)
    for track_spec in spec.tracks:
        _submit_track(competition, spec, track_spec, count)


def _competition(spec: CompetitionSpec, now: datetime, count: LoadCount) -> Competition:
    existing = Competition.objects.filter(slug=spec.slug).first()
    if existing is None:
        count.competitions += 1
        with transaction.atomic(), own_rows():
            return set_up(spec, now)
    if not existing.is_demo:
        raise DemoAddressTaken(spec.slug)
    return existing


def _submit_track(competition: Competition, spec: CompetitionSpec, track_spec: TrackSpec, count: LoadCount) -> None:
    """Submit the files of the teams of ``spec`` for one track, in the order of their moments."""
    phase = Phase.objects.select_related("track").get(
        track__competition=competition, track__slug=track_spec.slug, slug=PHASE_SLUG
    )
    uploads = [(team, upload) for team in spec.teams for upload in team.uploads if upload.track == track_spec.slug]
    for team, upload in sorted(uploads, key=lambda pair: pair[1].after):
        _submit_once(phase, team, upload, track_spec.upload_bytes(team, upload), count)


def _submit_once(phase: Phase, spec: DemoTeam, upload: Upload, data: bytes, count: LoadCount) -> None:
    team = Team.objects.get(competition_id=phase.track.competition_id, name=spec.name)
    if _is_there(phase, team, upload, data):
        return
    leader = Membership.objects.select_related("user").get(team=team, role=Membership.Role.LEADER).user
    try:
        submit(
            phase=phase,
            team=team,
            user=leader,
            file_name=upload.file_name,
            upload=data,
            memo=upload.memo,
            now=phase.starts_at + upload.after,
        )
    except FileRejected:
        if upload.packing is not Packing.BROKEN:
            raise
        count.rejections += 1
    else:
        count.submissions += 1


def _is_there(phase: Phase, team: Team, upload: Upload, data: bytes) -> bool:
    """Whether an earlier load has submitted this file; a rejection, without content, is found by name and size."""
    if upload.packing is Packing.BROKEN:
        return Rejection.objects.filter(
            phase=phase, team=team, file_name=upload.file_name, file_size=len(data)
        ).exists()
    return Submission.objects.filter(phase=phase, team=team, file_sha256=sha256(data).hexdigest()).exists()


@contextmanager
def one_at_a_time() -> Iterator[None]:
    """Hold an advisory lock of the database: a load or an evaluation that had to wait finds the work done."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_lock(%s)", [_LOCK_KEY])
        try:
            yield
        finally:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [_LOCK_KEY])
