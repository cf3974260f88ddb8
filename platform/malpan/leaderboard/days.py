"""The ranks as a day began, by which a board says who moved since: noted by the housekeeper after midnight in Korea.

Teams that others passed from one note to the next are told (``letters``).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils import timezone

from malpan.competitions.models import Phase
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
    due = list(running.exclude(day_ranks__day=kst_day(now)).select_related("track__competition"))
    if due:
        with transaction.atomic():
            letters.tell_passed({phase: _note(phase, now, is_late=now - start >= LATEST) for phase in due}, now)


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
