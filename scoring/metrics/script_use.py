"""In which script captions are written: the share of Hangul among letters, and runs of letters of other scripts.

A Korean caption that switches to English, Chinese characters or Japanese is a known failure of multilingual models.

* ``hangul_share``: Hangul letters (syllables and jamo) over all letters of the file. Digits, punctuation, emoji and
  combining marks are no letters.
* ``foreign_runs``: runs of neighbouring letters none of which is Hangul, for each answered caption. A word of Latin
  letters is a run; so is a stretch of Chinese characters with kana.
* ``foreign_captions``: the share of answered captions with such a run.

It reads the caption alone. Without a letter, or without an answered caption, a score is 0.0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.metrics.base import Row, RowMetric

NAMES: Final = ("hangul_share", "foreign_runs", "foreign_captions")

# Jamo, compatibility jamo, extended jamo A, syllables, extended jamo B, halfwidth jamo.
_HANGUL: Final = "\u1100-\u11ff\u3131-\u318e\ua960-\ua97c\uac00-\ud7a3\ud7b0-\ud7fb\uffa0-\uffdc"
_HANGUL_LETTER: Final = re.compile(f"[{_HANGUL}]")
_FOREIGN: Final = re.compile(rf"[^\W\d_{_HANGUL}]+")


def foreign_runs(text: str) -> list[str]:
    """The runs of letters of ``text`` that are not Hangul, in order."""
    return [part for match in _FOREIGN.findall(text) for part in _letters(match)]


def _letters(run: str) -> list[str]:
    """``run`` without what ``\\w`` takes for letters though it is a number, such as ½ and ²."""
    if run.isalpha():
        return [run]
    return "".join(character if character.isalpha() else " " for character in run).split()


def script_row(text: str) -> Row:
    """(Hangul letters, letters, foreign runs, 1 if there is one, 1 if there is anything) of a caption."""
    hangul, runs = len(_HANGUL_LETTER.findall(text)), foreign_runs(text)
    return (hangul, hangul + sum(map(len, runs)), len(runs), int(bool(runs)), int(bool(text.strip())))


class ScriptUse(RowMetric):
    """Share of Hangul, and runs of other scripts, of the captions of a file."""

    name = "script_use"
    label = Message("언어 일관성", "Language consistency")
    rule = "script-use@1"
    group = "file"
    score_names = NAMES

    def parameters(self) -> dict[str, Any]:
        return {"hangul": _HANGUL.encode("unicode_escape").decode()}

    def row(self, references: Sequence[str], candidate: str) -> Row:
        return script_row(candidate)

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        hangul, letters, runs, with_runs, answered = sums
        shares = ratio(hangul, letters), ratio(runs, answered), ratio(with_runs, answered)
        return dict(zip(NAMES, shares, strict=True))
