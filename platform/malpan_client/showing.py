"""How results are written: tables, moments, sizes, the errors of a file; progress on a terminal."""

from __future__ import annotations

import json
import os
import sys
import time
import unicodedata
from codecs import lookup
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Any

from malpan_client.failing import DONE, Failure
from malpan_client.words import has, say

KST = timezone(timedelta(hours=9), "KST")
BAR = 24  # characters


@dataclass(frozen=True)
class Result:
    """What a command found: for programs, for people, and with which status the command ends."""

    data: Any
    text: str
    status: int = DONE


def write(text: str) -> None:
    """To the standard output, unless its reader, such as ``head``, has ended: that is no error of ours."""
    try:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def json_text(data: Any) -> str:
    """JSON for the standard output; where that is not in UTF-8, with escapes in the place of what is not ASCII."""
    is_utf8 = lookup(sys.stdout.encoding or "utf-8").name == "utf-8"
    return json.dumps(data, ensure_ascii=not is_utf8, indent=2)


def printable(text: str) -> str:
    """Without what would steer the terminal: names and messages are other people's."""
    return "".join(each for each in text if each in "\n\t" or unicodedata.category(each) not in ("Cc", "Cf", "Cs"))


def note(line: str) -> None:
    """Something to know meanwhile, beside the result; it goes on where nobody reads it any more."""
    with suppress(BrokenPipeError):
        sys.stderr.write(f"{printable(line)}\n")
        sys.stderr.flush()


# --- words and numbers ------------------------------------------------------------------------------------------------
def moment_of(text: str) -> datetime:
    """Raises ``ValueError``."""
    return datetime.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)


def moment(text: str | None) -> str:
    """``2026-11-20 23:50 KST``, as the pages write it."""
    if not text:
        return "–"
    try:
        return f"{moment_of(text).astimezone(KST):%Y-%m-%d %H:%M} KST"
    except ValueError:
        return text


def size(count: int) -> str:
    number, unit = float(count), "B"
    for unit in ("B", "KB", "MB", "GB"):
        if number < 1000 or unit == "GB":
            break
        number /= 1000
    return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"


def limit(count: int | None) -> str:
    return say("no_limit") if count is None else str(count)


def state(name: str | None) -> str:
    """The state of a run or a batch in words."""
    return say(f"state_{name}") if has(f"state_{name}") else str(name or "–")


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]], *, right: Sequence[int] = ()) -> str:
    """Columns that line up in a terminal, where Hangul takes two places. ``right``: columns that end together."""
    cells = [list(heads), *([printable("–" if each is None else str(each)) for each in row] for row in rows)]
    widths = [max(_width(row[place]) for row in cells) for place in range(len(heads))]
    lines = []
    for row in cells:
        padded = [
            " " * (widths[place] - _width(cell)) + cell
            if place in right
            else cell + " " * (widths[place] - _width(cell))
            for place, cell in enumerate(row)
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def _width(text: str) -> int:
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text
    )


def pairs(found: Mapping[str, Any]) -> str:
    """Lines of a name and its value."""
    widest = max((_width(name) for name in found), default=0)
    return "\n".join(
        f"{name}{' ' * (widest - _width(name))}  {'–' if value is None else value}" for name, value in found.items()
    )


# --- refusals ---------------------------------------------------------------------------------------------------------
def failure_text(failure: Failure) -> str:
    """What went wrong, where, and what to do next."""
    title = str(failure.problem.get("title") or say("failed"))
    lines = [f"{title}: {failure.text}", *_located(failure.problem)]
    if failure.problem.get("next_allowed_at"):
        lines.append(say("next_allowed", moment=moment(str(failure.problem["next_allowed_at"]))))
    if failure.http_status >= 500 and failure.request_id:
        lines.append(say("request_id", id=failure.request_id))
    if failure.hint:
        lines.append(say("next", hint=failure.hint))
    return "\n".join(lines)


def _located(problem: Mapping[str, Any]) -> list[str]:
    """The errors of a file or of the fields of a request: each message once, with every place."""
    errors = [each for each in problem.get("errors") or [] if isinstance(each, dict)]
    groups: dict[str, list[str]] = {}
    for each in errors:
        groups.setdefault(str(each.get("message", "")), []).append(_place(each))
    lines = [say("errors_shown", shown=len(errors), total=problem["total"])] if _are_cut(problem, errors) else []
    for message, places in groups.items():
        lines.append(f"- {message}" + (f" ({say('times', count=len(places))})" if len(places) > 1 else ""))
        if any(places):
            lines.append(f"    {'; '.join(places)}")
    return lines


def _are_cut(problem: Mapping[str, Any], errors: Sequence[Any]) -> bool:
    return isinstance(problem.get("total"), int) and problem["total"] > len(errors)


def _place(error: Mapping[str, Any]) -> str:
    parts = [
        say("line", number=error["line"]) if error.get("line") is not None else "",
        f"id {error['id']}" if error.get("id") is not None else "",
        ": ".join(filter(None, (error.get("place"), str(error.get("field") or "").replace("body.", "", 1)))),
    ]
    return ", ".join(part for part in parts if part)


# --- progress ---------------------------------------------------------------------------------------------------------
class Bar:
    """How far something is, on a terminal; silent anywhere else."""

    def __init__(self, label: str, *, is_shown: bool) -> None:
        self._label = label
        self._is_shown = is_shown and sys.stderr.isatty()
        self._last = 0.0

    def __call__(self, done: int, total: int) -> None:
        now = time.monotonic()
        if not self._is_shown or (done < total and now - self._last < 0.1):
            return
        self._last = now
        filled = BAR * done // total if total else BAR
        sys.stderr.write(
            f"\r{self._label} [{'#' * filled}{'.' * (BAR - filled)}] {size(done)} / {size(total)}\033[K"
            + ("\n" if done >= total else "")
        )
        sys.stderr.flush()
