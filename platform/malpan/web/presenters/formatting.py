"""How values are written on the pages: scores, times, days left. Pure functions; the template filters are thin."""

from __future__ import annotations

import unicodedata
from datetime import datetime
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from malpan.competitions.shown_scores import scaled_text as scaled_text
from malpan.competitions.shown_scores import signed_text as signed_text
from malpan.core.times import KST, kst_day, kst_text

SHORT_DECIMALS: Final = {1: 4, 100: 2}  # decimals of secondary scores on a phone, by the track's scale
_PAST: Final = {
    "minute": ngettext_lazy("%(count)d분 전", "%(count)d분 전", "count"),
    "hour": ngettext_lazy("%(count)d시간 전", "%(count)d시간 전", "count"),
    "day": ngettext_lazy("%(count)d일 전", "%(count)d일 전", "count"),
    "month": ngettext_lazy("%(count)d개월 전", "%(count)d개월 전", "count"),
    "year": ngettext_lazy("%(count)d년 전", "%(count)d년 전", "count"),
}
_COMING: Final = {
    "minute": ngettext_lazy("%(count)d분 뒤", "%(count)d분 뒤", "count"),
    "hour": ngettext_lazy("%(count)d시간 뒤", "%(count)d시간 뒤", "count"),
    "day": ngettext_lazy("%(count)d일 뒤", "%(count)d일 뒤", "count"),
    "month": ngettext_lazy("%(count)d개월 뒤", "%(count)d개월 뒤", "count"),
    "year": ngettext_lazy("%(count)d년 뒤", "%(count)d년 뒤", "count"),
}


def percent_text(value: float) -> str:
    """A change in per cent with its sign: ``+12.3%``; a true minus sign, as wide as the plus."""
    return f"{value:+.1f}%".replace("-", "−")


def rough_text(count: int) -> str:
    """A whole number rounded to two digits: ``120,000`` for 123456."""
    return f"{round(count, 2 - len(str(abs(count)))):,}"


def range_text(low: int, high: int) -> str:
    """``2–3``, or ``2`` where both are the same."""
    return str(low) if low == high else f"{low}–{high}"


def text_width(text: str) -> int:
    """Columns that ``text`` takes, a Hangul syllable counting two."""
    return sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in text)


def short_time(moment: datetime) -> str:
    """``2026-11-20 23:50`` in KST, where a heading says so."""
    return kst_text(moment, seconds=False).removesuffix(" KST")


def expected_end_text(end: datetime, now: datetime) -> str:
    """``예상 완료 21:34 KST (약 3분 뒤)``, with the date if on another day; from an hour on to five minutes."""
    clock = end.astimezone(KST).strftime("%H:%M" if kst_day(end) == kst_day(now) else "%Y-%m-%d %H:%M")
    minutes = max(1, round((end - now).total_seconds() / 60))
    if minutes < 60:
        text = ngettext(
            "예상 완료 %(clock)s KST (약 %(count)d분 뒤)", "예상 완료 %(clock)s KST (약 %(count)d분 뒤)", minutes
        )
        return text % {"clock": clock, "count": minutes}
    hours, rest = divmod(5 * round(minutes / 5), 60)
    if not rest:
        return _("예상 완료 %(clock)s KST (약 %(hours)d시간 뒤)") % {"clock": clock, "hours": hours}
    text = _("예상 완료 %(clock)s KST (약 %(hours)d시간 %(minutes)d분 뒤)")
    return text % {"clock": clock, "hours": hours, "minutes": rest}


def closes_in_text(ends_at: datetime, now: datetime) -> str:
    """Calendar days in KST until the deadline, as usual in contests: ``마감 D-3``, on the last day ``마감 D-DAY``."""
    days = _days_between(now, ends_at)
    return ngettext("마감 D-%(days)d", "마감 D-%(days)d", days) % {"days": days} if days > 0 else _("마감 D-DAY")


def starts_in_text(starts_at: datetime, now: datetime) -> str:
    """Calendar days in KST until the start: ``시작 D-12``, on the day itself ``시작 D-DAY``."""
    days = _days_between(now, starts_at)
    return ngettext("시작 D-%(days)d", "시작 D-%(days)d", days) % {"days": days} if days > 0 else _("시작 D-DAY")


def ago_text(then: datetime, now: datetime) -> str:
    """How far ``then`` is from ``now``, in the largest unit that fits: ``3일 전``, ``2시간 뒤``, ``방금``, ``곧``.

    From a day on, calendar days in KST.
    """
    is_past, seconds = then <= now, abs((now - then).total_seconds())
    if seconds < 60:
        return _("방금") if is_past else _("곧")
    minutes, days = int(seconds // 60), abs(_days_between(then, now))
    if minutes < 60:
        unit, count = "minute", minutes
    elif minutes < 24 * 60:
        unit, count = "hour", minutes // 60
    elif days < 60:
        unit, count = "day", days
    else:
        unit, count = ("month", days // 30) if days < 2 * 365 else ("year", days // 365)
    return str((_PAST if is_past else _COMING)[unit] % {"count": count})


def _days_between(now: datetime, then: datetime) -> int:
    return (kst_day(then) - kst_day(now)).days
