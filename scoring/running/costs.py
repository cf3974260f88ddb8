"""What a scoring will cost, in model tokens, told from the texts alone: no tokenizer, no model library.

A scoring's time is almost all spent in the neural metrics, and theirs grows with the tokens that they read. What a
metric costs it says itself (``Metric.cost``); how tokens are estimated is in ``scoring.metrics.costs``.

An estimate orders a queue and foretells an end; no score depends on it.
"""

from __future__ import annotations

from typing import Final

from scoring.metrics import METRICS
from scoring.recipes import Recipe
from scoring.records import AnswerFile

BYTES_A_TOKEN: Final = 3  # of a whole file: a Hangul syllable is three bytes of UTF-8


def expected_tokens(recipe: Recipe, references: AnswerFile, predictions: AnswerFile) -> int:
    """Tokens that the metrics of ``recipe`` will read, at least 1. Raises ``MismatchedFiles``.

    Pairs that stand there twice are computed once, and count once. What earlier scorings may save is not known here,
    nor are the frames of an optional metric.
    """
    pairs = recipe.prepare(references, predictions).pairs
    costs = (METRICS[name].cost(pairs[name].references, pairs[name].candidates) for name in recipe.metrics)
    return max(1, sum(costs))


def tokens_of_file(size: int) -> int:
    """A rough guess from nothing but the size of a predictions file in bytes, at least 1."""
    return max(1, size // BYTES_A_TOKEN)
