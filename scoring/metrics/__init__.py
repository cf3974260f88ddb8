"""The metrics by name: those of every module of this package, and those of plug-ins (``EXTENDING.md``)."""

from __future__ import annotations

import re
from inspect import isabstract
from typing import TYPE_CHECKING, Any, Final

from scoring.errors import Message
from scoring.metrics.base import (
    CorpusMetric,
    LexicalMetric,
    Metric,
    MetricOptions,
    PairMetric,
    PairProgress,
    RemoteMetric,
    Row,
    RowMetric,
)
from scoring.models.profile import JUDGE, ROLES
from scoring.registry import Registry, classes_in, require
from scoring.text.run_tokens import TEXT
from scoring.text.tokenization import TOKENIZERS

if TYPE_CHECKING:
    from scoring.models.store import ModelStore

__all__ = [
    "METRICS",
    "CorpusMetric",
    "LexicalMetric",
    "Metric",
    "MetricOptions",
    "PairMetric",
    "PairProgress",
    "RemoteMetric",
    "Row",
    "RowMetric",
    "implementation_of",
    "is_corpus_metric",
    "is_neural",
    "load_metric",
    "load_pair_metric",
]

_NAME: Final = re.compile("[a-z][a-z0-9_]*")


def load_metric(name: str, store: ModelStore | None = None, options: MetricOptions | None = None) -> Metric:
    """The metric called ``name``. Raises ``KeyError`` for an unknown name.

    A neural metric takes its model from ``store`` when its first pair is scored; the others ignore it.
    """
    return METRICS[name](store, options)


def load_pair_metric(name: str, store: ModelStore | None = None) -> PairMetric:
    """The pair metric called ``name``. Raises ``KeyError``, also for a corpus metric."""
    metric = load_metric(name, store)
    if not isinstance(metric, PairMetric):
        raise KeyError(name)
    return metric


def implementation_of(metric: Metric) -> dict[str, Any]:
    """What can change the numbers of ``metric``: its signature, and the plug-in that it comes from."""
    return {**metric.signature(), **METRICS.origin(metric.name)}


def is_corpus_metric(name: str) -> bool:
    """Whether the metric called ``name`` sees all references at once. Raises ``KeyError`` for an unknown name."""
    return issubclass(METRICS[name], CorpusMetric)


def is_neural(name: str) -> bool:
    """Whether the metric called ``name`` computes with a model. Raises ``KeyError`` for an unknown name."""
    return METRICS[name].model is not None


def _checked(name: str, offered: Any) -> type[Metric]:
    require(isinstance(offered, type) and issubclass(offered, (PairMetric, CorpusMetric)), "no subclass of a metric")
    require(_NAME.fullmatch(name) and getattr(offered, "name", None) == name, f"its name is not {name!r}")
    require(not isabstract(offered), f"it does not define {', '.join(sorted(offered.__abstractmethods__))}")
    inherits_scores = getattr(offered.scores, "__func__", None) is vars(Metric)["scores"].__func__
    require(offered.has_item_values or not inherits_scores, "its rows are no item values and it defines no scores")
    require(isinstance(getattr(offered, "label", None), Message), "label is no Message(ko, en)")
    require(isinstance(getattr(offered, "rule", None), str), "rule is no text")
    require(all(isinstance(score, str) for score in offered.score_names), "score_names are no texts")
    require(offered.reads in (TEXT, *TOKENIZERS), f"no tokenizer is called {offered.reads!r}")
    require(offered.model in (None, JUDGE, *ROLES), f"no profile has a model called {offered.model!r}")
    kind: type[Metric] = offered
    return kind


METRICS: Final[Registry[type[Metric]]] = Registry(
    "malpan.metrics",
    lambda: classes_in("scoring.metrics", Metric),
    _checked,
)
