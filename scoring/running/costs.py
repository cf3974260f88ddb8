"""What a scoring will cost, in model tokens, told from the texts alone: no tokenizer, no model library.

A scoring's time is almost all spent in the neural metrics, and theirs grows with the tokens that they read. How many a
real tokenizer makes of a text is estimated by its letters: contest-like Korean gives about one token a letter with
multilingual BERT's kind of tokenizer (1.01 measured) and 0.8 with the SentencePiece of BLEURT-20's kind (the tests
measure both). A vocabulary with longer pieces gives fewer tokens of every text alike, which changes nothing: a
scoring's speed is measured in the same unit. English has about four letters a token, so a file of it counts for more
than it costs.

An estimate orders a queue and foretells an end; no score depends on it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from scoring.recipes import Pairs, Recipe
from scoring.records import AnswerFile

MODEL_TOKENS: Final = 512  # the longest input of the models; what is longer is cut by them too
SPECIAL_TOKENS: Final = 2  # [CLS] and [SEP]
LEXICAL_PAIR_TOKENS: Final = 4  # what a pair costs a metric without a model, as if it were tokens: milliseconds
BYTES_A_TOKEN: Final = 3  # of a whole file: a Hangul syllable is three bytes of UTF-8


def expected_tokens(recipe: Recipe, references: AnswerFile, predictions: AnswerFile) -> int:
    """Tokens that the metrics of ``recipe`` will read, at least 1. Raises ``MismatchedFiles``.

    Pairs that stand there twice are computed once, and count once. What earlier scorings may save is not known here.
    """
    pairs = recipe.prepare(references, predictions).pairs
    return max(1, sum(_cost_of(metric, pairs[metric]) for metric in recipe.metrics if metric in pairs))


def tokens_of_file(size: int) -> int:
    """A rough guess from nothing but the size of a predictions file in bytes, at least 1."""
    return max(1, size // BYTES_A_TOKEN)


def estimated_tokens(text: str) -> int:
    """Tokens of ``text`` without special ones: one a letter, as if nothing were cut."""
    return len(text) - text.count(" ")


def _cost_of(metric: str, pairs: Pairs) -> int:
    return MODEL_READS.get(metric, _lexical_cost)(pairs)


def _lexical_cost(pairs: Pairs) -> int:
    return LEXICAL_PAIR_TOKENS * len(pairs)


def _bertscore_tokens(pairs: Pairs) -> int:
    """Each distinct text is read once, by itself."""
    texts = {text for references in pairs.references for text in references} | set(pairs.candidates)
    return sum(min(estimated_tokens(text) + SPECIAL_TOKENS, MODEL_TOKENS) for text in texts)


def _bleurt_tokens(pairs: Pairs) -> int:
    """Each distinct pair is read as one text with two separators."""
    rows = zip(pairs.references, pairs.candidates, strict=True)
    distinct = {(reference, candidate) for references, candidate in rows for reference in references}
    return sum(
        min(estimated_tokens(reference) + estimated_tokens(candidate) + SPECIAL_TOKENS + 1, MODEL_TOKENS)
        for reference, candidate in distinct
    )


# The metrics that read with a model, and how. CLIPScore's frames are not known before they are read; it is optional.
MODEL_READS: Final[Mapping[str, Callable[[Pairs], int]]] = {
    "bertscore": _bertscore_tokens,
    "bleurt": _bleurt_tokens,
}
