"""How varied the captions of a file are, and how long: Distinct-1, Distinct-2, unique captions, length ratio.

None of these compares a caption with its reference's words; they expose a file with the same caption for every scene.

* ``distinct_1`` and ``distinct_2`` (Li et al. 2016): different n-grams of Okt morphs over all n-grams, of all captions
  together. They fall as a file grows, so they compare files with the same items only.
* ``unique_captions``: different captions over answered captions. Captions are compared after every run of white space
  became one space. An empty caption is unanswered and is not counted.
* ``length_ratio``: tokens of all captions over the closest reference lengths (as in BLEU: of several references the one
  with the length nearest to the caption's, of two equally near the shorter). 1.0: as long as the references; the ratio
  may be larger. An unanswered item has length 0 and keeps its reference's length.

Without a denominator (no answered caption, no bigram, empty references) a share is 0.0.

A row is what its item adds *to the items before it*. So only all rows of one call together have a meaning: their sums,
in any order, are the corpus's; those of a selection are not, and rows of two files must not be mixed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scoring.errors import Message
from scoring.figures import Figure, ratio
from scoring.metrics.base import CorpusMetric, PairProgress, Row, Tokenize
from scoring.metrics.ngrams import Ngram, closest_length, ngrams

NAMES: Final = ("distinct_1", "distinct_2", "unique_captions", "length_ratio")


class CaptionsSoFar:
    """The n-grams and captions of the items so far."""

    def __init__(self) -> None:
        self._grams: set[Ngram] = set()
        self._captions: set[str] = set()

    def row(self, references: Sequence[Sequence[str]], caption: str, tokens: Sequence[str]) -> Row:
        """What the next item adds: seven numbers.

        (new unigrams, unigrams, new bigrams, bigrams, new captions, captions, closest reference length). The unigrams
        are the caption's tokens, so their count is its length. Lengths in tokens.
        Raises ``ValueError`` without a reference.
        """
        numbers: list[int] = []
        for n in (1, 2):
            grams = ngrams(tokens, n)
            before = len(self._grams)
            self._grams.update(grams)
            numbers += [len(self._grams) - before, len(grams)]
        text = " ".join(caption.split())
        numbers += [int(bool(text) and text not in self._captions), int(bool(text))]
        self._captions.add(text)
        return (*numbers, closest_length(map(len, references), len(tokens)))


class Diversity(CorpusMetric):
    """Distinct-1, Distinct-2, share of unique captions and length ratio of the corpus."""

    name = "diversity"
    label = Message("다양성", "Diversity")
    rule = "caption-diversity@1"
    group = "file"
    score_names = NAMES
    reads = "okt"
    is_resampled = False

    def parameters(self) -> dict[str, Any]:
        return {"references": "closest length"}

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
        *,
        tokenize: Tokenize | None = None,
    ) -> list[Row]:
        """One row for each item: what it adds to those before it (see ``CaptionsSoFar.row``)."""
        read, so_far = self.reader(tokenize), CaptionsSoFar()
        rows: list[Row] = []
        for texts, candidate in zip(references, candidates, strict=True):
            rows.append(so_far.row([read(text) for text in texts], candidate, read(candidate)))
            if progress is not None:
                progress(len(rows), len(references))
        return rows

    @classmethod
    def scores(cls, sums: Sequence[Figure]) -> dict[str, Figure]:
        """The scores of the summed rows of one whole file."""
        new_1, all_1, new_2, all_2, new_texts, texts, lengths = sums
        shares = ratio(new_1, all_1), ratio(new_2, all_2), ratio(new_texts, texts), ratio(all_1, lengths)
        return dict(zip(NAMES, shares, strict=True))
