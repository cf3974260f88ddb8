"""Metrics of this package in tasks of lm-evaluation-harness (tried with 0.4.13).

``register("chrf")`` before the tasks are made; then in a task of ``output_type: generate_until``::

    metric_list:
      - metric: malpan_chrf
        aggregation: malpan_chrf
        higher_is_better: true

The harness asks a metric about each document and aggregates: here the first only pairs the texts, and the aggregation
scores all pairs as ``scoring.score`` does, so that CIDEr-D has its whole corpus. Of several references the harness
makes a yes or no of its own; a task with them takes the pairs from ``several_references``::

    process_results: !function my_task.pairs      # my_task.py: pairs = several_references("answers", ["malpan_chrf"])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from scoring.errors import Message
from scoring.lists import metric
from scoring.lists.errors import WrongArgument
from scoring.metrics import METRICS

try:
    from lm_eval.api.registry import register_aggregation, register_metric
except ImportError as error:
    raise ImportError("scoring.adapters.lm_harness needs lm-evaluation-harness: pip install lm-eval") from error

PREFIX = "malpan_"  # the harness has metrics called bleu and chrf of its own


class Pair(NamedTuple):
    """What a document is scored by."""

    references: Any  # a text, or several
    prediction: str


class PairsLost(WrongArgument):
    """The harness made a yes or no of several references before the aggregation saw them."""

    code = "pairs_lost"
    words = Message(
        "문서마다 정답이 여럿인 과제입니다. process_results에 scoring.adapters.lm_harness.several_references(…)를 "
        "지정하십시오.",
        "The documents of this task have several references: give the task process_results of "
        "scoring.adapters.lm_harness.several_references(…).",
    )


def register(name: str, score: str | None = None, **settings: Any) -> str:
    """Register the metric called ``name``, and return what the harness calls it: ``malpan_`` and its score.

    ``score`` chooses one where the metric has several (``bleu_4`` of ``bleu``); ``settings`` are those of
    ``scoring.metric``. Raises ``WrongArgument``.
    """
    scorer = metric(name, **settings)
    wanted = score or name
    called = f"{PREFIX}{wanted}"

    def aggregate(pairs: Sequence[Pair]) -> float:
        if not all(isinstance(pair, tuple) for pair in pairs):
            raise PairsLost
        found = scorer.corpus_score([prediction for _, prediction in pairs], [references for references, _ in pairs])
        return found.scores[score] if score else found.score

    def collect(references: Sequence[Any], predictions: Sequence[str]) -> Pair:
        return Pair(references[0], predictions[0])

    register_aggregation(called)(aggregate)
    better = METRICS[name].higher_is_better
    register_metric(metric=called, higher_is_better=better, output_type=["generate_until"], aggregation=called)(collect)
    return called


def several_references(
    field: str, metrics: Sequence[str]
) -> Callable[[Mapping[str, Any], Sequence[str]], dict[str, Pair]]:
    """``process_results`` of a task whose documents have a list of references in ``field``, for these metrics."""

    def pairs(document: Mapping[str, Any], results: Sequence[str]) -> dict[str, Pair]:
        return dict.fromkeys(metrics, Pair(list(document[field]), results[0]))

    return pairs
