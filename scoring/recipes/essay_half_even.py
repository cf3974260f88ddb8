"""글쓰기 채점 능력 평가 as before 6 August 2026, when the rule of rounding changed: a half goes to the even neighbour.

That is Python's ``round``: 2.5 and 4.5 are 2 and 4, where ``essay-scoring@1`` has 3 and 5. The organisers announced
that the rounding changes; the formula before is not known and was taken to be this. It is for contests that began by
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from scoring.errors import Message
from scoring.metrics.essay_agreement import NAMES as AGREEMENT
from scoring.recipes.base import Layout
from scoring.recipes.essay_scoring import RECIPES as OF_NOW
from scoring.recipes.essay_scoring import EssayScoring
from scoring.records import Items
from scoring.text.essays import Traits, answer_of, text_of

RULE: Final = "essay-output-half-even@1"  # name and version of how an answer is read and rounded
_ROUNDING_METRICS: Final = ("essay_error", "essay_rank")  # the others read what is beside the scores
_AGREEMENT_METRIC: Final = "essay_agreement"
_HALF_UP: Final = Message("floor(x + 0.5)로 반올림하고", "is rounded as floor(x + 0.5)")
_HALF_EVEN: Final = Message(
    "반올림하되 0.5는 가까운 짝수로 보내고(Python의 round)", "is rounded, halves to the even neighbour (Python's round)"
)


@dataclass(frozen=True)
class HalfEvenEssayScoring(EssayScoring):
    """Scores are rounded to the even neighbour before the metrics see them, whose rounding then changes nothing.

    So ``essay_agreement``, which counts whole scores as they were given, is no part of it.
    """

    def input_rule(self, metric: str) -> str:
        return RULE if metric in _ROUNDING_METRICS else super().input_rule(metric)

    def prepare(self, references: Items, predictions: Items) -> Layout:
        rounded = (replace(item, text=text_of(half_even(answer_of(item.text)))) for item in predictions.items)
        return super().prepare(references, replace(predictions, items=tuple(rounded)))


def half_even(traits: Traits | None) -> Traits | None:
    """``traits`` with every score rounded, halves to the even neighbour."""
    if traits is None:
        return None
    return {name: replace(trait, score=float(round(trait.score))) for name, trait in traits.items()}


def _before(now: EssayScoring) -> HalfEvenEssayScoring:
    """``now`` as it was: the same but for the rounding."""
    same: Mapping[str, Any] = {field.name: getattr(now, field.name) for field in fields(now)}
    changed: Mapping[str, Any] = {
        "id": "essay-scoring-half-even@1",
        "name": Message("글쓰기 채점(2026년 8월 6일 이전의 반올림)", "Essay scoring (rounding before 6 August 2026)"),
        "metrics": tuple(metric for metric in now.metrics if metric != _AGREEMENT_METRIC),
        "columns": tuple(column for column in now.columns if column.key not in AGREEMENT),
        "rule_text": Message(
            now.rule_text.ko.replace(_HALF_UP.ko, _HALF_EVEN.ko), now.rule_text.en.replace(_HALF_UP.en, _HALF_EVEN.en)
        ),
    }
    return HalfEvenEssayScoring(**{**same, **changed})


RECIPES: Final = (_before(OF_NOW[0]),)
