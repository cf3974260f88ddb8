"""Captions of pictures and films, METEOR-led: several references an item, unanswered items score 0.

Every metric states its own rule for several references: METEOR, BERTScore and ROUGE take the best, CIDEr-D the mean,
BLEU clips by all of them and takes the closest length, chrF the best by its own score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scoring.recipes.base import (
    Figure,
    MismatchedFiles,
    Prepared,
    Recipe,
    common_warnings,
    pair_up_all,
)
from scoring.records import AnswerFile, ScoreWarning

# The score under which a metric's mean is reported, where it is not the metric's own name.
SCORE_NAMES: Final = {"okt_rouge_1": "rouge_1", "okt_rouge_2": "rouge_2", "okt_rouge_l": "rouge_l"}


@dataclass(frozen=True)
class Captioning(Recipe):
    """The final score is METEOR (exact stage, best reference), as a mean over all items of the references."""

    def input_rule(self, metric: str) -> str:
        return "caption@1"

    def score_name(self, metric: str) -> str:
        return SCORE_NAMES.get(metric, metric)

    def prepare(self, references: AnswerFile, predictions: AnswerFile) -> Prepared:
        captions = predictions.by_id()
        known = references.by_id()
        if captions.keys() - known.keys() or len(captions) != len(predictions.answers):
            raise MismatchedFiles("predictions must hold ids of the references, each at most once")
        pairs = pair_up_all(
            (answer.id, answer.texts, captions[answer.id].text if answer.id in captions else "")
            for answer in references.answers
        )
        missing = len(known) - len(captions)
        return Prepared(
            item_ids=pairs.ids,
            pairs=dict.fromkeys((*self.metrics, *self.optional_metrics), pairs),
            coverage={
                "items": len(known),
                "answered": sum(bool(caption.strip()) for caption in pairs.candidates),
                "missing": missing,
                "references": sum(map(len, pairs.references)),
            },
            warnings=(*_missing_warning(missing, len(known)), *common_warnings(predictions)),
        )

    def combine(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": means["meteor"], **means}


def _missing_warning(missing: int, total: int) -> list[ScoreWarning]:
    return [ScoreWarning("captions_missing", {"count": missing, "total": total})] if missing else []
