"""The rationales of predicted essay scores, seen from outside: length, quotations, language, repetition. Ranks nobody.

* ``rationale_length``: mean characters of the rationales that are not blank.
* ``rationale_quotes``: the share of them that quote the essay: some ``QUOTED`` letters or digits in a row of the
  rationale are so in the essay, whatever the spaces, punctuation and quotation marks between them.
* ``rationale_hangul``: Hangul letters over all letters of the rationales (``metrics.script_use``).

One rationale for many essays is warned of: the row of an item has a code of each of its rationales.

Of a very long text the first ``READ_CHARS`` letters are compared. Without a rationale every score is 0.0.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.metrics.base import Row, RowMetric
from scoring.metrics.classification import label_code
from scoring.metrics.script_use import script_row
from scoring.records import ScoreWarning
from scoring.text.cutting import READ_CHARS
from scoring.text.essays import TRAITS, answer_of

NAMES: Final = ("rationale_length", "rationale_quotes", "rationale_hangul")
QUOTED: Final = 10  # letters or digits in a row
REPEATED_ITEMS: Final = 5
REPEATED_PERCENT: Final = 10.0

_COUNTS: Final = 5
_BETWEEN: Final = re.compile(r"[\W_]+")


def letters_of(text: str) -> str:
    """The letters and digits of ``text``, at most ``READ_CHARS``."""
    return _BETWEEN.sub("", text)[:READ_CHARS]


def runs_of(text: str) -> set[str]:
    """Every run of ``QUOTED`` letters or digits of ``text``."""
    letters = letters_of(text)
    return {letters[start : start + QUOTED] for start in range(len(letters) - QUOTED + 1)}


def rationale_row(essay: str, rationales: Sequence[str]) -> Row:
    """(rationales, characters, those that quote, Hangul letters, letters, a code of each rationale; 0 for a blank)."""
    given = [text.strip() for text in rationales if text.strip()]
    runs = runs_of(essay) if given else set()
    quoting = sum(not runs.isdisjoint(runs_of(text)) for text in given)
    hangul, letters = (sum(parts) for parts in zip((0, 0), *(script_row(text)[:2] for text in given), strict=True))
    codes = (label_code(" ".join(text.split())) if text.strip() else 0.0 for text in rationales)
    return (float(len(given)), float(sum(map(len, given))), float(quoting), float(hangul), float(letters), *codes)


class EssayRationales(RowMetric):
    """Length, quotations and language of the rationales."""

    name = "essay_rationales"
    label = Message("채점 근거", "Rationales")
    rule = "essay-rationales@1"
    group = "file"
    score_names = NAMES
    texts = "essays"
    reads_whole = True
    is_cheap = True
    is_resampled = False
    warning_texts = {
        "rationale_repeated": Message(
            "글 {items}편 가운데 {count}편({percent:.1f}%)의 채점 근거에 똑같은 글이 쓰였습니다. 글을 읽지 않고 적은 "
            "근거일 수 있으니 몇 편을 직접 읽어 보십시오.",
            "One and the same rationale stands with {count} of {items} essays ({percent:.1f}%). It may have been "
            "written without reading them: read a few.",
        )
    }

    def parameters(self) -> dict[str, Any]:
        return {"quoted": QUOTED, "read": READ_CHARS}

    def row(self, references: Sequence[str], candidate: str) -> Row:
        answer = answer_of(candidate)
        rationales = [""] * len(TRAITS) if answer is None else [answer[trait].rationale for trait in TRAITS]
        return rationale_row(json.loads(references[0])["essay"], rationales)

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        given, characters, quoting, hangul, letters = sums[:_COUNTS]
        shares = ratio(characters, given), ratio(quoting, given), ratio(hangul, letters)
        return dict(zip(NAMES, shares, strict=True))

    def warnings(self, rows: Sequence[Row]) -> list[ScoreWarning]:
        counts = Counter(code for row in rows for code in {*row[_COUNTS:]} - {0.0})
        count = max(counts.values(), default=0)
        if count < REPEATED_ITEMS or 100 * count < REPEATED_PERCENT * len(rows):
            return []
        params = {"count": count, "items": len(rows), "percent": 100 * count / len(rows)}
        return [ScoreWarning("rationale_repeated", params)]
