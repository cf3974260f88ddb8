"""chrF2 of captions on characters (0-1).

The rule of Popović (2015) as in sacrebleu's ``CHRF`` with its defaults (equal to 1e-9; sacrebleu shows 0-100): n-grams
of 1 to 6 characters of the text without white space, no word n-grams, beta 2, case kept, no epsilon. Matches and
n-grams are added up over the corpus; the score is the F of the mean precision and the mean recall over the orders that
both sides have ("effective order"). No analyser is used: a different ending or particle costs only its characters,
which suits Korean.

Several references: for each item the counts of the *best* reference, the one with the highest F for this item alone
(the first of equals). If a reference is too short for an order, the candidate's n-grams of that order do not count.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.metrics.base import Row, RowMetric
from scoring.metrics.ngrams import clipped_matches

LONGEST: Final = 6
BETA: Final = 2


def best_counts(references: Sequence[str], candidate: str) -> Row:
    """For n = 1 to 6 the candidate's n-grams, the reference's and the matches, for the reference with the best F.

    Raises ``ValueError`` without a reference.
    """
    grams = [(ours, frozenset(ours)) for ours in character_ngrams(candidate)]
    rows = [_counts(character_ngrams(reference), grams) for reference in references]
    return rows[0] if len(rows) == 1 else max(rows, key=f_score)


def character_ngrams(text: str) -> list[list[str]]:
    """The runs of 1 to 6 characters of ``text`` without white space: a list for each length."""
    characters = "".join(text.split())
    return [[characters[start : start + n] for start in range(len(characters) - n + 1)] for n in range(1, LONGEST + 1)]


def _counts(reference: Sequence[list[str]], candidate: Sequence[tuple[list[str], frozenset[str]]]) -> Row:
    row: list[float] = []
    for theirs, (ours, distinct) in zip(reference, candidate, strict=True):
        row += (len(ours) if theirs else 0, len(theirs), clipped_matches(ours, (theirs,), distinct))
    return tuple(row)


def f_score(sums: Sequence[Figure]) -> Figure:
    """chrF2 from the counts of ``best_counts``, of one item or summed. 0-1; 0.0 without a match."""
    precision: Figure = 0.0
    recall: Figure = 0.0
    orders: Figure = 0
    for ours, theirs, matches in zip(sums[::3], sums[1::3], sums[2::3], strict=True):
        both = (ours > 0) * (theirs > 0) * 1.0
        orders = orders + both
        precision = precision + ratio(matches, ours) * both
        recall = recall + ratio(matches, theirs) * both
    precision, recall = ratio(precision, orders), ratio(recall, orders)
    return ratio((1 + BETA**2) * precision * recall, BETA**2 * precision + recall)


class Chrf(RowMetric):
    """chrF2 of the corpus; items have counts, no values."""

    name = "chrf"
    label = Message("chrF", "chrF")
    rule = "sacrebleu-chrf@1"

    def parameters(self) -> dict[str, Any]:
        return {"n": LONGEST, "words": 0, "beta": BETA, "whitespace": False, "references": "best"}

    def row(self, references: Sequence[str], candidate: str) -> Row:
        return best_counts(references, candidate)

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        return {cls.name: f_score(sums)}


class JamoChrf(Chrf):
    """chrF2 of the decomposed text (NFD), where a Hangul syllable is its two or three jamo. Experimental.

    Equal to sacrebleu's of the same text. A run of six jamo is about two syllables, so it looks at less than ``chrf``.
    """

    name = "chrf_jamo"
    label = Message("자모 chrF(실험)", "Jamo chrF (experimental)")
    rule = "sacrebleu-chrf-nfd@1"

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "unicode": "NFD", "is_experimental": True}

    def row(self, references: Sequence[str], candidate: str) -> Row:
        decomposed = [unicodedata.normalize("NFD", text) for text in references]
        return best_counts(decomposed, unicodedata.normalize("NFD", candidate))
