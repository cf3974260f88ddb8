"""The ranks as a day began, by which a board says who moved since: noted by the housekeeper after midnight in Korea."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.core.times import kst_day, kst_day_bounds
from malpan.leaderboard import standings
from malpan.leaderboard.models import DayRanks, Standing

LATEST: Final = timedelta(hours=1)  # after midnight: later the ranks are no more those with which the day began


def keep_ranks(now: datetime | None = None) -> None:
    """Note the ranks of every running phase, once a day. One query where that is done."""
    now = now or timezone.now()
    start, _end = kst_day_bounds(now)
    running = Phase.objects.filter(starts_at__lte=now, ends_at__gt=start, standings_version__isnull=False)
    for phase in running.exclude(day_ranks__day=kst_day(now)):
        ranks = _ranks(phase) if now - start < LATEST else {}
        DayRanks.objects.update_or_create(phase=phase, defaults={"day": kst_day(now), "ranks": ranks})


def _ranks(phase: Phase) -> dict[str, int]:
    signature = standings.summary(phase, Standing.Scope.LIVE).signature_hash
    rows = standings.with_signature(phase, Standing.Scope.LIVE, signature).filter(is_baseline=False)
    teams = rows.order_by(*standings.ORDER).values_list("team", flat=True)
    return {str(team): rank for rank, team in enumerate(teams, 1)}
