"""Answers with reasons ("… 가 옳다. …"): the contest track, by the official rule, and a strict variant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from scoring.recipes.base import (
    Coverage,
    Figure,
    Prepared,
    Recipe,
    align,
    alternatives_of,
    answered_count,
    average,
    common_warnings,
    empty_alternatives_warning,
    pair_up,
)
from scoring.records import Answer, AnswerFile, ScoreWarning

VERDICTS: Final = ("가 옳다", "이 옳다")
REASON_METRICS: Final = ("bleurt", "bertscore", "rouge_1")


def split_answer(text: str) -> tuple[str, str]:
    """(answer, reason) of a contest answer.

    The answer ends after the first ``가 옳다``, or where there is none anywhere, after the first ``이 옳다``. The rest
    without leading full stops, commas and spaces is the reason. Without either the whole text is the answer.
    """
    for verdict in VERDICTS:
        before, found, after = text.partition(verdict)
        if found:
            return (before + found).strip(), after.strip().lstrip("., ")
    return text.strip(), ""


def answer_part(text: str) -> str:
    """What exact match compares: the answer without straight quotation marks and surrounding white space."""
    return split_answer(text)[0].replace('"', "").replace("'", "").strip()


def rag_qa_scores(exact_match: Figure, reasons: Mapping[str, Figure]) -> dict[str, Figure]:
    """All scores from EM and the three reason scores: final = (EM + mean of the three) / 2. Any one scale."""
    descriptive = average([reasons[metric] for metric in REASON_METRICS])
    return {
        "final_score": (exact_match + descriptive) / 2,
        "exact_match": exact_match,
        **{metric: reasons[metric] for metric in REASON_METRICS},
        "descriptive_avg": descriptive,
    }


@dataclass(frozen=True)
class RagQa(Recipe):
    """The contest track: EM of the answer, three similarities of the reason.

    Officially the reason scores are means over the items where reference and prediction both have a reason, and 0 if
    there is none such. ``is_strict`` means over every item whose reference has one, a missing one scoring 0.
    """

    is_strict: bool = False

    def input_rule(self, metric: str) -> str:
        return "rag-qa-answer@1" if metric == "exact_match" else "rag-qa-reason@1"

    def prepare(self, references: AnswerFile, predictions: AnswerFile) -> Prepared:
        items = align(references, predictions)
        answers = pair_up((r.id, answer_part(r.text), answer_part(p.text)) for r, p in items)
        reasons = [(r.id, split_answer(r.text)[1], split_answer(p.text)[1]) for r, p in items]
        scored = pair_up((item, gold, given) for item, gold, given in reasons if gold and given)
        missing = [item for item, gold, given in reasons if gold and not given]
        zeros = dict.fromkeys(missing, 0.0) if self.is_strict else {}
        return Prepared(
            item_ids=answers.ids,
            pairs={"exact_match": answers, **dict.fromkeys(REASON_METRICS, scored)},
            fixed=dict.fromkeys(REASON_METRICS, zeros),
            coverage=_reason_coverage(len(items), answered_count(predictions), len(scored), len(missing)),
            warnings=(
                *self._coverage_warning(len(scored), len(missing)),
                *_verdict_warning(items),
                *empty_alternatives_warning(sum(self.has_empty_alternative(reference) for reference, _ in items)),
                *common_warnings(predictions),
            ),
        )

    def combine(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return rag_qa_scores(means["exact_match"], means)

    def has_empty_alternative(self, reference: Answer) -> bool:
        return not all(alternatives_of(answer_part(reference.text)))

    def _coverage_warning(self, answered: int, missing: int) -> list[ScoreWarning]:
        if not missing:
            return []
        gold = answered + missing
        params = {"missing": missing, "gold": gold, "percent": 100 * answered / gold}
        return [ScoreWarning("reasons_missing_zero" if self.is_strict else "reasons_missing", params)]


def _verdict_warning(items: Iterable[tuple[Answer, Answer]]) -> list[ScoreWarning]:
    """Answers without a verdict where the reference has one: they cannot match, and their reason is not seen."""
    without = sum(_has_verdict(reference) and not _has_verdict(prediction) for reference, prediction in items)
    return [ScoreWarning("no_verdict", {"count": without})] if without else []


def _has_verdict(answer: Answer) -> bool:
    return any(verdict in answer.text for verdict in VERDICTS)


def _reason_coverage(items: int, answered: int, reasons_answered: int, reasons_missing: int) -> Coverage:
    gold = reasons_answered + reasons_missing
    return {
        "items": items,
        "answered": answered,
        "reason_gold": gold,
        "reason_answered": reasons_answered,
        "reason_coverage": reasons_answered / gold if gold else 1.0,
    }
