"""How values are written on the pages: scores, times, days left. Pure functions; the template filters are thin."""

from __future__ import annotations

from datetime import datetime
from typing import Final
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

KST: Final = ZoneInfo("Asia/Seoul")
SHORT_DECIMALS: Final = {1: 4, 100: 2}  # decimals of secondary scores on a phone, by the track's scale


def score_text(value: float | None, scale: int, decimals: int) -> str:
    """A score 0-1 as the track shows it: times ``scale``, with exactly ``decimals`` decimals; ``–`` for none."""
    return "–" if value is None else f"{value * scale:.{decimals}f}"


def kst_text(moment: datetime, *, seconds: bool = False) -> str:
    """``2026-11-20 23:50 KST``, with seconds where the reader counts on them."""
    return moment.astimezone(KST).strftime("%Y-%m-%d %H:%M:%S KST" if seconds else "%Y-%m-%d %H:%M KST")


def days_left_text(until: datetime, now: datetime) -> str:
    """Calendar days in KST from ``now`` to ``until``, as contests write them: ``D-3``, ``D-DAY`` on the last day."""
    days = (until.astimezone(KST).date() - now.astimezone(KST).date()).days
    if days <= 0:
        return _("D-DAY")
    return ngettext("D-%(days)d", "D-%(days)d", days) % {"days": days}
