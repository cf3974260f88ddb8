"""One metric as an object, as sacrebleu has them: ``scoring.metric("chrf").corpus_score(predictions, references)``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from scoring.lists.arguments import read_pair
from scoring.lists.choosing import TokensOf, checked_names
from scoring.lists.errors import NoSentenceScore
from scoring.lists.result import Scores
from scoring.lists.scoring import score
from scoring.metrics import METRICS, MetricOptions

if TYPE_CHECKING:
    from scoring.models.devices import DeviceName


@dataclass(frozen=True)
class ListMetric:
    """The metric called ``name`` with the settings of ``scoring.score``. Raises ``WrongArgument`` for another name."""

    name: str
    _: KW_ONLY
    tokenize: str | TokensOf | None = None
    models: str | Path | None = None
    device: DeviceName = "auto"
    synonyms: str | Path | None = None

    def __post_init__(self) -> None:
        checked_names([self.name], MetricOptions())

    @property
    def higher_is_better(self) -> bool:
        return METRICS[self.name].higher_is_better

    def corpus_score(self, predictions: Sequence[str], references: Sequence[str] | Sequence[Sequence[str]]) -> Scores:
        """The scores of all items together; ``.score`` is the value of a metric with one."""
        settings = {"models": self.models, "device": self.device, "synonyms": self.synonyms}
        return score(predictions, references, [self.name], tokenize=self.tokenize, **settings)  # type: ignore[arg-type]

    def sentence_score(self, prediction: str, references: str | Sequence[str]) -> Scores:
        """The scores of one text, with one reference or several. Raises ``NoSentenceScore``."""
        if METRICS[self.name].needs_corpus:
            raise NoSentenceScore(name=self.name)
        return self.corpus_score(*read_pair(prediction, references))
