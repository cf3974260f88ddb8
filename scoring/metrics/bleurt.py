"""BLEURT of Korean text, with the values of the bleurt-pytorch package 0.0.1.

A learnt metric: one transformer reads "[CLS] reference [SEP] candidate [SEP]", and a linear head on [CLS] gives the
score (Sellam et al. 2020, "BLEURT: Learning Robust Metrics for Text Generation"). Values are mostly within 0-1 but are
not clipped, as the contest does not clip them. Pairs are cut to the model's length, the longer text first.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scoring.metrics import PairProgress
from scoring.models.bleurt import VERSION, characters
from scoring.models.limits import Cut
from scoring.models.store import ModelStore, require


class Bleurt:
    """BLEURT with the model of the profile, reference first. The model is loaded when the first pair is scored."""

    name = "bleurt"

    def __init__(self, store: ModelStore | None) -> None:
        self._store = require(store, self.name)

    def signature(self) -> dict[str, Any]:
        return {"metric": self.name, "version": VERSION, **self._store.describe_model("bleurt")}

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]:
        """The score of each aligned pair; equal pairs are scored once. ``progress`` hears the pairs done."""
        pairs = list(zip(references, candidates, strict=True))
        if not pairs:
            return []
        # Sorted, so that shuffled input gives equal batches; longest first, so that a batch too large shows at once.
        distinct = sorted(set(pairs), key=lambda pair: (-characters(pair), pair))

        def report(done: int) -> None:
            if progress is not None:
                progress(len(pairs) * done // len(distinct), len(pairs))

        values = self._store.bleurt.score(distinct, report)
        return [values[pair] for pair in pairs]

    def cut(self, references: Sequence[str], candidates: Sequence[str]) -> list[Cut]:
        """Which texts of each aligned pair are longer than the model reads. Needs its tokenizer only."""
        return self._store.bleurt_tokenizer.cut(list(zip(references, candidates, strict=True)))

    def max_length(self) -> int:
        """How many tokens the model reads of a pair."""
        return self._store.text_limit("bleurt")
