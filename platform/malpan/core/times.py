"""Times of the contests, in Korea Standard Time. A day is the calendar day from 00:00 KST."""

from __future__ import annotations

from datetime import date, datetime, time, timedelta
from typing import Final
from zoneinfo import ZoneInfo

KST: Final = ZoneInfo("Asia/Seoul")


def kst_text(moment: datetime, *, seconds: bool | None = None) -> str:
    """``2026-11-20 23:50 KST``. By default with seconds only if they are not zero, so that the moment stays exact."""
    local = moment.astimezone(KST)
    shows = bool(local.second) if seconds is None else seconds
    return local.strftime("%Y-%m-%d %H:%M:%S KST" if shows else "%Y-%m-%d %H:%M KST")


def kst_day(moment: datetime) -> date:
    """The KST calendar day of ``moment``."""
    return moment.astimezone(KST).date()


def kst_day_bounds(moment: datetime) -> tuple[datetime, datetime]:
    """The start (included) and the end (excluded) of the KST day of ``moment``."""
    start = datetime.combine(kst_day(moment), time.min, tzinfo=KST)
    return start, start + timedelta(days=1)
