"""ROUGE-W (weight 1.2), ROUGE-S4 and ROUGE-SU4 (F, alpha 0.5) of captions on Okt morphs (0-1).

Values and odd points are those of rouge-metric's ``PyRouge`` (and of ROUGE-1.5.5, which it follows) given the same
tokens and one reference, with ``skip_gap=4`` and the text as one sentence:

* ROUGE-W rewards matches that follow one another: a run of k reference tokens counts k^1.2, and 1.2 is taken back by
  the root of precision and of recall. The reference's length is weighted *twice* there, the candidate's once, so a
  caption equal to its reference of n tokens has recall n^-0.2 and scores below 1: 0.77 for ten tokens. The trace back
  of the table prefers to skip a reference token, and a match is always taken, even where another way has more weight.
* ROUGE-S counts pairs of tokens in order with at most four others between them; ROUGE-SU also single tokens, except
  the last one of each text.

Several references: the best F, as in ``scoring.metrics.caption_rouge``. rouge-metric's ``multi_ref_mode="best"`` picks
by recall instead.

ROUGE-S is linear in the texts. ROUGE-W fills a table of reference tokens by candidate tokens: linear in the caption.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate
from typing import Any, Final

from scoring.errors import Message
from scoring.metrics.caption_rouge import CaptionRouge
from scoring.metrics.ngrams import clipped_matches
from scoring.metrics.rouge import ALPHA, f_measure

WEIGHT: Final = 1.2
SKIP_GAP: Final = 4

Skipped = tuple[str, ...]  # two tokens in order, or one


def rouge_w(reference: Sequence[str], candidate: Sequence[str]) -> float:
    """ROUGE-W F of two token sequences; 0.0 without a match."""
    matches: float = sum(length**WEIGHT for length in run_lengths(weighted_positions(reference, candidate)))
    if not matches:
        return 0.0
    precision: float = (matches / len(candidate) ** WEIGHT) ** (1 / WEIGHT)
    recall: float = (matches / (len(reference) ** WEIGHT) ** WEIGHT) ** (1 / WEIGHT)
    return precision * recall / (ALPHA * recall + (1 - ALPHA) * precision)


def weighted_positions(reference: Sequence[str], candidate: Sequence[str]) -> list[int]:
    """Positions in ``reference`` of the weighted common subsequence that the trace back finds, in order.

    A row of the table belongs to a candidate token: the weight of each beginning of the reference.
    """
    known = set(reference)
    gains = [(k + 1) ** WEIGHT - k**WEIGHT for k in range(min(len(reference), len(candidate)))]
    row, runs = [0.0] * (len(reference) + 1), [0] * (len(reference) + 1)
    rows = [row]
    for token in candidate:
        if token in known:
            row, runs = _next_row(row, runs, token, reference, gains)
        else:  # the same without a match, faster
            row, runs = list(accumulate(row, max)), [0] * len(row)
        rows.append(row)
    positions: list[int] = []
    i, j = len(candidate), len(reference)
    while i and j:
        if candidate[i - 1] == reference[j - 1]:
            i, j = i - 1, j - 1
            positions.append(j)
        elif rows[i][j] == rows[i][j - 1]:
            j -= 1
        else:
            i -= 1
    return positions[::-1]


def _next_row(
    before: list[float], runs: list[int], token: str, reference: Sequence[str], gains: Sequence[float]
) -> tuple[list[float], list[int]]:
    """The weights of the next row, and how many tokens in a run end at each match of it."""
    row, lengths = [0.0], [0]
    for position, other in enumerate(reference):
        if other == token:
            length = runs[position]
            row.append(before[position] + gains[length])
            lengths.append(length + 1)
        else:
            row.append(max(before[position + 1], row[position]))
            lengths.append(0)
    return row, lengths


def run_lengths(positions: Sequence[int]) -> list[int]:
    """The lengths of the runs of neighbouring ``positions``, which ascend."""
    lengths: list[int] = []
    for number, position in enumerate(positions):
        if number and position == positions[number - 1] + 1:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths


def skip_bigrams(tokens: Sequence[str], gap: int = SKIP_GAP) -> list[Skipped]:
    """Every pair of tokens in order with at most ``gap`` others between them."""
    return [pair for distance in range(1, gap + 2) for pair in zip(tokens, tokens[distance:], strict=False)]


def with_single_tokens(tokens: Sequence[str]) -> list[Skipped]:
    """The skip bigrams and every token but the last."""
    return [*skip_bigrams(tokens), *((token,) for token in tokens[:-1])]


def _overlap(reference: Sequence[Skipped], candidate: Sequence[Skipped]) -> float:
    return f_measure(clipped_matches(candidate, [reference]), len(candidate), len(reference))


class CaptionRougeW(CaptionRouge):
    """ROUGE-W F: common subsequence, runs of neighbours weighted."""

    name = "rougew_okt"
    label = Message("ROUGE-W", "ROUGE-W")
    rule = "caption-rouge-ws@1"
    card = "rouge_ws"
    score_names = ("rouge_w",)

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "weight": WEIGHT}

    def value(self, reference: Sequence[str], candidate: Sequence[str]) -> float:
        return rouge_w(reference, candidate)


class CaptionRougeS(CaptionRouge):
    """ROUGE-S4 F: pairs of morphs in order."""

    name = "rouges_okt"
    label = Message("ROUGE-S4", "ROUGE-S4")
    rule = "caption-rouge-ws@1"
    card = "rouge_ws"
    score_names = ("rouge_s",)

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "skip_gap": SKIP_GAP}

    def value(self, reference: Sequence[str], candidate: Sequence[str]) -> float:
        return _overlap(skip_bigrams(reference), skip_bigrams(candidate))


class CaptionRougeSU(CaptionRouge):
    """ROUGE-SU4 F: pairs of morphs in order, and single morphs."""

    name = "rougesu_okt"
    label = Message("ROUGE-SU4", "ROUGE-SU4")
    rule = "caption-rouge-ws@1"
    card = "rouge_ws"
    score_names = ("rouge_su",)

    def parameters(self) -> dict[str, Any]:
        return {**super().parameters(), "skip_gap": SKIP_GAP}

    def value(self, reference: Sequence[str], candidate: Sequence[str]) -> float:
        return _overlap(with_single_tokens(reference), with_single_tokens(candidate))
