"""The metric registry: a literal table, imported lazily so that asking for names never loads torch.

A metric is pure functions first, then a thin class. There are two kinds:

* a *pair metric* gives every (reference, candidate) pair a value. An item with several references gets the best of its
  values; the corpus score is the mean over the items.
* a *corpus metric* sees all references of all items. It gives each item a row of numbers (its statistics) and makes
  its scores of all rows: CIDEr-D, whose document frequencies need the whole reference set; BLEU, which adds up counts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, runtime_checkable

if TYPE_CHECKING:
    from scoring.models.store import ModelStore

PairProgress = Callable[[int, int], None]  # (pairs done, pairs in all)
Row = tuple[float, ...]

METRICS: Final[dict[str, str]] = {
    "exact_match": "scoring.metrics.exact:ExactMatch",
    "accuracy": "scoring.metrics.accuracy:Accuracy",
    "rouge_1": "scoring.metrics.rouge:Rouge1",
    "rouge_2": "scoring.metrics.rouge:Rouge2",
    "rouge_l": "scoring.metrics.rouge:RougeL",
    "okt_rouge_1": "scoring.metrics.caption_rouge:CaptionRouge1",
    "okt_rouge_2": "scoring.metrics.caption_rouge:CaptionRouge2",
    "okt_rouge_l": "scoring.metrics.caption_rouge:CaptionRougeL",
    "bleu_1": "scoring.metrics.bleu:SentenceBleu1",
    "bertscore": "scoring.metrics.bertscore:BertScore",
    "bleurt": "scoring.metrics.bleurt:Bleurt",
    "meteor": "scoring.metrics.meteor:Meteor",
    "meteor_synonym": "scoring.metrics.meteor:MeteorSynonym",
    "meteor_ko": "scoring.metrics.meteor:MeteorKo",
    "spice_ko": "scoring.metrics.spice_ko:SpiceKo",
    "squared_error": "scoring.metrics.regression:SquaredError",
    "cider": "scoring.metrics.cider:CiderD",
    "bleu": "scoring.metrics.corpus_bleu:CorpusBleu",
    "chrf": "scoring.metrics.chrf:Chrf",
    "diversity": "scoring.metrics.diversity:Diversity",
    "classification": "scoring.metrics.classification:Classification",
    "clipscore": "scoring.metrics.clipscore:ClipScore",
}


@dataclass(frozen=True, slots=True)
class MetricOptions:
    """What a metric may be given beside its models.

    ``synonyms`` is the TSV of METEOR's synonym stage (``None``: the built-in one). ``media`` is the folder with the
    frames of each item, for CLIPScore.
    """

    synonyms: Path | None = None
    media: Path | None = None


class PairMetric(Protocol):
    """One value for each aligned (reference, candidate) pair."""

    name: str

    def signature(self) -> dict[str, Any]:
        """What can change its numbers, as JSON."""

    def score_pairs(
        self, references: Sequence[str], candidates: Sequence[str], progress: PairProgress | None = None
    ) -> list[float]: ...


@runtime_checkable
class CorpusMetric(Protocol):
    """One row of numbers for each item, in the light of all references; scores from all rows.

    ``score_names`` are the names under which ``aggregate`` reports, in order. ``has_item_values``: a row is one number,
    the item's value, and the score its mean. Which rows can be resampled:
    ``scoring.significance.sufficient_statistics``.
    """

    name: str
    score_names: tuple[str, ...]
    has_item_values: bool

    def signature(self) -> dict[str, Any]:
        """What can change its numbers, as JSON."""

    def statistics(
        self,
        ids: Sequence[str],
        references: Sequence[Sequence[str]],
        candidates: Sequence[str],
        progress: PairProgress | None = None,
    ) -> list[Row]:
        """One row an item. ``references[i]`` are the texts of item ``ids[i]``; an unanswered item has ``""``."""

    def aggregate(self, rows: Sequence[Row]) -> Mapping[str, float]:
        """The scores of these items, by score name. Of no rows every score is 0.0."""


Metric = PairMetric | CorpusMetric


def load_metric(name: str, resources: ModelStore | None = None, options: MetricOptions | None = None) -> Metric:
    """The metric called ``name``. Raises ``KeyError`` for an unknown name.

    Neural metrics take their models from ``resources``; the others ignore it. Those in ``WITH_OPTIONS`` take
    ``options`` as well.
    """
    module_name, class_name = METRICS[name].split(":")
    kind: Any = getattr(import_module(module_name), class_name)
    metric: Metric = kind(resources, options or MetricOptions()) if name in WITH_OPTIONS else kind(resources)
    return metric


def is_corpus_metric(name: str) -> bool:
    """Whether the metric called ``name`` sees all references at once. Raises ``KeyError`` for an unknown name."""
    module_name, class_name = METRICS[name].split(":")
    return hasattr(getattr(import_module(module_name), class_name), "aggregate")


def load_pair_metric(name: str, resources: ModelStore | None = None) -> PairMetric:
    """The pair metric called ``name``. Raises ``KeyError``, also for a corpus metric."""
    metric = load_metric(name, resources)
    if isinstance(metric, CorpusMetric):
        raise KeyError(name)
    return metric


WITH_OPTIONS: Final = frozenset({"meteor_synonym", "meteor_ko", "clipscore"})
