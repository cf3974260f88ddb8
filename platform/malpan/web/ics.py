"""Moments as a calendar file (iCalendar, RFC 5545), which calendars read again now and then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

LINE_OCTETS: Final = 75  # of a line without its end; a longer one continues in the next, after a space


@dataclass(frozen=True, slots=True)
class Moment:
    """One entry. ``uid`` stays while the entry moves, so that a calendar moves it and does not show a second one."""

    uid: str
    at: datetime
    summary: str
    url: str


def calendar(name: str, moments: Iterable[Moment], now: datetime) -> str:
    """The file, with CRLF at the end of each line. Times are in UTC, which every calendar shows in its own zone."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Malpan//Malpan//KO", f"X-WR-CALNAME:{_escaped(name)}"]
    for moment in moments:
        lines += [
            "BEGIN:VEVENT",
            f"UID:{moment.uid}",
            f"DTSTAMP:{_utc(now)}",
            f"DTSTART:{_utc(moment.at)}",
            f"SUMMARY:{_escaped(moment.summary)}",
            f"URL:{moment.url}",
            "END:VEVENT",
        ]
    lines.append("END:VCALENDAR")
    return "".join(f"{part}\r\n" for line in lines for part in _folded(line))


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y%m%dT%H%M%SZ")


def _escaped(text: str) -> str:
    """``text`` as a value (RFC 5545, 3.3.11)."""
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return "\\n".join(text.splitlines())


def _folded(line: str) -> Iterator[str]:
    """``line`` in parts of at most ``LINE_OCTETS``, cut between characters; all but the first begin with a space."""
    part, size = "", 0
    for character in line:
        octets = len(character.encode())
        if size + octets > LINE_OCTETS:
            yield part
            part, size = " ", 1
        part, size = part + character, size + octets
    yield part
