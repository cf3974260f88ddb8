"""A metric of this package as a module of Hugging Face's ``evaluate`` (tried with 0.4.6).

    from scoring.adapters.hugging_face import as_module

    chrf = as_module("chrf")
    chrf.compute(predictions=["파도가 친다"], references=[["파도가 밀려온다"]])     # {"chrf": 0.23…}

References are a text or a list of texts for each item, as in ``scoring.score``, whose scores the result has by name.
Scores are 0-1 where metrics of ``evaluate`` often are 0-100. ``evaluate.combine`` takes such modules beside others.
"""

from __future__ import annotations

from typing import Any

from scoring.lists import ListMetric, metric
from scoring.lists.errors import BareText

try:
    import datasets
    import evaluate
except ImportError as error:
    raise ImportError("scoring.adapters.hugging_face needs evaluate: pip install evaluate") from error


class ListModule(evaluate.Metric):
    """``evaluate``'s view of one metric."""

    def __init__(self, scorer: ListMetric, **settings: Any) -> None:
        self._scorer = scorer
        # the name of its files, which two metrics at work in one folder must not share
        super().__init__(config_name=scorer.name, **settings)

    def _info(self) -> evaluate.MetricInfo:
        text = datasets.Value("string")
        return evaluate.MetricInfo(
            description=f"{self._scorer.name} of malpan-scoring: Korean text generation.",
            citation="",
            inputs_description="predictions: a text for each item; references: a text, or a list of texts.",
            features=[
                datasets.Features({"predictions": text, "references": [text]}),
                datasets.Features({"predictions": text, "references": text}),
            ],
        )

    def compute(self, *, predictions: Any = None, references: Any = None, **options: Any) -> Any:
        """As that of ``evaluate``, which would take the characters of a text for its items. Raises ``BareText``."""
        _require_lists(predictions=predictions, references=references)
        return super().compute(predictions=predictions, references=references, **options)

    def add_batch(self, *, predictions: Any = None, references: Any = None, **options: Any) -> None:
        """As that of ``evaluate``, which adds to what is said here. Raises ``BareText``."""
        _require_lists(predictions=predictions, references=references)
        super().add_batch(predictions=predictions, references=references, **options)

    def _compute(self, predictions: Any, references: Any) -> dict[str, float]:
        return dict(self._scorer.corpus_score(list(predictions), list(references)).scores)


def _require_lists(**given: Any) -> None:
    for name, value in given.items():
        if isinstance(value, str):
            raise BareText(name=name)


def as_module(name: str, *, cache_dir: str | None = None, keep_in_memory: bool = False, **settings: Any) -> ListModule:
    """The metric called ``name``; ``settings`` are those of ``scoring.metric``. Raises ``WrongArgument``."""
    return ListModule(metric(name, **settings), cache_dir=cache_dir, keep_in_memory=keep_in_memory)
