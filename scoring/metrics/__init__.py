"""The metric registry: a literal table, imported lazily so that asking for names never loads torch.

A metric is pure functions first, then a thin class. A pair metric scores aligned references and candidates:

    class Metric(Protocol):
        name: str
        def signature(self) -> dict[str, JSON]              what can change its numbers
        def score_pairs(references, candidates, progress)   -> list[float], one value a pair, 0-1
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final, Protocol

if TYPE_CHECKING:
    from scoring.checkpoints import Resources

PairProgress = Callable[[int, int], None]  # (pairs done, pairs in all)

METRICS: Final[dict[str, str]] = {
    "exact_match": "scoring.metrics.exact:ExactMatch",
    "accuracy": "scoring.metrics.accuracy:Accuracy",
    "rouge_1": "scoring.metrics.rouge:Rouge1",
    "rouge_2": "scoring.metrics.rouge:Rouge2",
    "rouge_l": "scoring.metrics.rouge:RougeL",
    "bleu_1": "scoring.metrics.bleu:SentenceBleu1",
    "bertscore": "scoring.metrics.bertscore:BertScore",
    "bleurt": "scoring.metrics.bleurt:Bleurt",
}


class Metric(Protocol):
    """One value for each aligned (reference, candidate) pair."""

    name: str

    def signature(self) -> dict[str, Any]: ...

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]: ...


def load_metric(name: str, resources: Resources | None = None) -> Metric:
    """The metric called ``name``. Raises ``KeyError`` for an unknown name.

    Neural metrics take their models from ``resources``; the others ignore it.
    """
    module_name, class_name = METRICS[name].split(":")
    metric: Metric = getattr(import_module(module_name), class_name)(resources)
    return metric
