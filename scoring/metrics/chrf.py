"""chrF2 of captions on characters (0-1).

The rule of Popović (2015) as sacrebleu's ``CHRF`` has it with its defaults (equal to 1e-9; sacrebleu shows 0-100):
n-grams of 1 to 6 characters of the text without white space, no word n-grams, beta 2, case kept, no epsilon. Matches
and n-grams are added up over the corpus; the score is the F of the mean precision and the mean recall over the orders
that both sides have ("effective order"). No analyser takes part: an ending or a particle that differs costs its
characters only, which suits Korean.

Several references: for each item the counts of the *best* reference, the one with which the item alone has the highest
F; of equals the first. Where a reference is too short for an order, the candidate's n-grams of that order do not count.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from scoring.metrics import PairProgress, Row
from scoring.metrics.ngrams import clipped_matches

if TYPE_CHECKING:
    from scoring.models.store import Resources

LONGEST: Final = 6
BETA: Final = 2


def best_counts(references: Sequence[str], candidate: str) -> Row:
    """For n = 1 to 6 the candidate's n-grams, the reference's and the matches, of the reference with the best F.

    Raises ``ValueError`` without a reference.
    """
    grams = character_ngrams(candidate)
    rows = [_counts(character_ngrams(reference), grams) for reference in references]
    return rows[0] if len(rows) == 1 else max(rows, key=f_score)


def character_ngrams(text: str) -> list[list[str]]:
    """The runs of 1 to 6 characters of ``text`` without white space: a list for each length."""
    characters = "".join(text.split())
    return [[characters[start : start + n] for start in range(len(characters) - n + 1)] for n in range(1, LONGEST + 1)]


def _counts(reference: Sequence[list[str]], candidate: Sequence[list[str]]) -> Row:
    row: list[float] = []
    for theirs, ours in zip(reference, candidate, strict=True):
        row += (len(ours) if theirs else 0, len(theirs), clipped_matches(ours, (theirs,)))
    return tuple(row)


def f_score(row: Row) -> float:
    """chrF2 of counts as ``best_counts`` gives them, of one item or added up. 0-1; 0.0 without a match."""
    precision = recall = 0.0
    orders = 0
    for ours, theirs, matches in zip(row[::3], row[1::3], row[2::3], strict=True):
        if ours and theirs:
            orders += 1
            precision += matches / ours
            recall += matches / theirs
    if not precision:
        return 0.0
    precision /= orders
    recall /= orders
    return (1 + BETA**2) * precision * recall / (BETA**2 * precision + recall)


class Chrf:
    """chrF2 of the corpus; items have counts, no values."""

    name = "chrf"
    score_names = ("chrf",)
    has_item_values = False

    def __init__(self, resources: Resources | None = None) -> None:
        """``resources`` is ignored: no model is needed."""

    def signature(self) -> dict[str, Any]:
        return {
            "metric": self.name,
            "rule": "sacrebleu-chrf@1",
            "n": LONGEST,
            "words": 0,
            "beta": BETA,
            "whitespace": False,
            "references": "best",
        }

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
    ) -> list[Row]:
        """One row an item: its ``best_counts``."""
        rows: list[Row] = []
        for texts, candidate in zip(references, candidates, strict=True):
            rows.append(best_counts(texts, candidate))
            if progress is not None:
                progress(len(rows), len(references))
        return rows

    def aggregate(self, rows: Sequence[Row]) -> Mapping[str, float]:
        return {self.name: f_score(tuple(math.fsum(column) for column in zip(*rows, strict=True)))}
