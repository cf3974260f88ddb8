"""The cost of a scoring in model tokens, estimated from the texts alone: no tokenizer, no model library.

Almost all time of a scoring is spent in the neural metrics, and it grows with the tokens that they read. Each metric
defines its cost (``Metric.cost``); ``scoring.metrics.costs`` estimates tokens.

An estimate orders the queue and predicts an end; no score depends on it.
"""

from __future__ import annotations

from typing import Final

from scoring.metrics import METRICS
from scoring.models.profile import TEXT_ROLES
from scoring.recipes import Recipe
from scoring.records import Items

BYTES_A_TOKEN: Final = 3  # of a whole file: a Hangul syllable is three bytes of UTF-8


def expected_tokens(recipe: Recipe, references: Items, predictions: Items) -> int:
    """Tokens that the metrics of ``recipe`` will read, at least 1. Raises ``MismatchedFiles``.

    Equal pairs are computed once and count once. An optional metric that reads texts counts, though its model may be
    missing. Values saved by earlier scorings are not considered, nor are the frames of an optional metric.
    """
    pairs = recipe.prepare(references, predictions).pairs
    optional = (name for name in recipe.optional_metrics if METRICS[name].model in TEXT_ROLES)
    names = (*recipe.metrics, *optional)
    return max(1, sum(METRICS[name].cost(pairs[name].references, pairs[name].candidates) for name in names))


def tokens_of_file(size: int) -> int:
    """A rough guess from the size of a predictions file in bytes, at least 1."""
    return max(1, size // BYTES_A_TOKEN)
