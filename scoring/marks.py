"""Combining marks that follow each other without end: Python puts them in order, as every normal form of Unicode asks,
in quadratic time.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from itertools import groupby, islice
from typing import Final

MAX_MARKS: Final = 30  # the Stream-Safe Text Format of Unicode Standard Annex 15


def has_stacked_marks(text: str) -> bool:
    """Whether more than ``MAX_MARKS`` combining marks follow each other."""
    if text.isascii():
        return False
    suspects = (match[0] for match in _suspect_runs().finditer(text))
    return any(is_mark and sum(1 for _ in run) > MAX_MARKS for suspect in suspects for is_mark, run in _runs(suspect))


def without_stacked_marks(text: str) -> str:
    """``text`` with the first ``MAX_MARKS`` of marks that follow each other; no language has more."""
    return text if text.isascii() else _suspect_runs().sub(_cut, text)


def _cut(match: re.Match[str]) -> str:
    return "".join("".join(islice(run, MAX_MARKS if is_mark else None)) for is_mark, run in _runs(match[0]))


def _runs(suspect: str) -> Iterator[tuple[bool, Iterator[str]]]:
    return groupby(suspect, lambda character: unicodedata.combining(character) > 0)


@cache
def _suspect_runs() -> re.Pattern[str]:
    """Runs of characters that may be marks: of the Basic Multilingual Plane exactly those, above it (marks of music
    and of rare scripts, but emoji too) all. A class that lists the upper marks as well searches thirty times slower.
    """
    marks = "".join(chr(code) for code in range(0x300, 0x10000) if unicodedata.combining(chr(code)))
    suspect = f"[{marks}\U00010000-\U0001ffff]"
    return re.compile(f"{suspect}{suspect}{{{MAX_MARKS},}}")  # one class alone first: Python scans faster so
