"""The ranks as a day began, by which a board says who moved since: noted by the housekeeper after midnight in Korea.

Teams that others passed from one note to the next are told (``letters``).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from typing import Final

from django.db import transaction
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core.one_by_one import one_by_one
from malpan.core.times import kst_day, kst_day_bounds
from malpan.leaderboard import letters, standings
from malpan.leaderboard.models import DayRanks, Standing
from malpan.leaderboard.passing import Passed, passed_teams
from malpan.submissions.visibility import is_frozen, is_hidden

LATEST: Final = timedelta(hours=1)  # after midnight: later the ranks are no more those with which the day began


def keep_ranks(now: datetime | None = None) -> None:
    """Note the ranks of every running phase, once a day, and tell the teams that others passed since the day before.

    One query where that is done.
    """
    now = now or timezone.now()
    start, _end = kst_day_bounds(now)
    running = Phase.objects.filter(starts_at__lte=now, ends_at__gt=start, standings_version__isnull=False)
    due = running.exclude(day_ranks__day=kst_day(now)).select_related("track__competition")
    competitions = groupby(due.order_by("track__competition", "pk"), key=lambda phase: phase.track.competition_id)
    note = partial(_note_all, now=now, is_late=now - start >= LATEST)
    one_by_one((list(phases) for _competition, phases in competitions), note, "the competitions whose day began")


@transaction.atomic
def _note_all(phases: list[Phase], *, now: datetime, is_late: bool) -> None:
    """Note the ranks of all ``phases`` of one competition: a team has one letter of them all."""
    letters.tell_passed({phase: _note(phase, now, is_late=is_late) for phase in phases}, now)


def _note(phase: Phase, now: datetime, *, is_late: bool) -> dict[str, Passed]:
    """Note the ranks of ``phase`` in the place of those of another day; returns who was passed, if all may see it."""
    held = DayRanks.objects.select_for_update().filter(phase=phase).first()
    ranks = {} if is_late else _ranks(phase)
    is_of_yesterday = held is not None and held.day == kst_day(now) - timedelta(days=1)
    is_public = phase.track.competition.is_published and not (is_hidden(phase) or is_frozen(phase, now))
    before = held.ranks if held is not None and is_of_yesterday and is_public else {}
    DayRanks.objects.update_or_create(phase=phase, defaults={"day": kst_day(now), "ranks": ranks})
    return passed_teams(before, ranks)


def _ranks(phase: Phase) -> dict[str, int]:
    signature = standings.summary(phase, Standing.Scope.LIVE).signature_hash
    rows = standings.with_signature(phase, Standing.Scope.LIVE, signature).filter(is_baseline=False)
    teams = rows.order_by(*standings.ORDER).values_list("team", flat=True)
    return {str(team): rank for rank, team in enumerate(teams, 1)}
