"""Answers with reasons ("… 가 옳다. …"): the contest track, by the official rule, and a strict variant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from scoring.errors import Message
from scoring.figures import Figure, average
from scoring.recipes.base import (
    Coverage,
    Layout,
    Recipe,
    align,
    answered_count,
    common_warnings,
    empty_alternatives_warning,
    pair_up,
)
from scoring.recipes.columns import BERTSCORE, BLEURT, DESCRIPTIVE, EM, FINAL, ROUGE_1
from scoring.records import Item, Items, ScoreWarning
from scoring.text.answers import alternatives_of

VERDICTS: Final = ("가 옳다", "이 옳다")
REASON_METRICS: Final = ("bleurt", "bertscore", "rouge1_mecab")
REASON_SCORES: Final = ("bleurt", "bertscore", "rouge_1")


def split_answer(text: str) -> tuple[str, str]:
    """(answer, reason) of a contest answer.

    The answer ends after the first ``가 옳다`` or, if there is none, after the first ``이 옳다``. The rest without
    leading full stops, commas and spaces is the reason. Without either the whole text is the answer.
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
    """All scores from EM and the three reason scores: final = (EM + mean of the three) / 2. All on one scale."""
    descriptive = average([reasons[score] for score in REASON_SCORES])
    return {
        "final_score": (exact_match + descriptive) / 2,
        "exact_match": exact_match,
        **{score: reasons[score] for score in REASON_SCORES},
        "descriptive_avg": descriptive,
    }


@dataclass(frozen=True)
class RagQa(Recipe):
    """The contest track: EM of the answer, three similarities of the reason.

    Officially the reason scores are means over the items where reference and prediction both have a reason, and 0 if
    there is none. ``is_strict`` takes the mean over every item whose reference has one; a missing one scores 0.
    """

    is_strict: bool = False

    def input_rule(self, metric: str) -> str:
        return "rag-qa-answer@1" if metric == "exact_match" else "rag-qa-reason@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        items = align(references, predictions)
        answers = pair_up((r.id, answer_part(r.text), answer_part(p.text)) for r, p in items)
        reasons = [(r.id, split_answer(r.text)[1], split_answer(p.text)[1]) for r, p in items]
        scored = pair_up((item, gold, given) for item, gold, given in reasons if gold and given)
        missing = [item for item, gold, given in reasons if gold and not given]
        zeros = dict.fromkeys(missing, 0.0) if self.is_strict else {}
        return Layout(
            item_ids=answers.ids,
            pairs={"exact_match": answers, **dict.fromkeys(REASON_METRICS, scored)},
            preset=dict.fromkeys(REASON_METRICS, zeros),
            coverage=_reason_coverage(len(items), answered_count(predictions), len(scored), len(missing)),
            warnings=(
                *self._coverage_warning(len(scored), len(missing)),
                *_verdict_warning(items),
                *empty_alternatives_warning(sum(self.has_empty_alternative(reference) for reference, _ in items)),
                *common_warnings(predictions),
            ),
        )

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return rag_qa_scores(means["exact_match"], means)

    def has_empty_alternative(self, reference: Item) -> bool:
        return not all(alternatives_of(answer_part(reference.text)))

    def _coverage_warning(self, answered: int, missing: int) -> list[ScoreWarning]:
        if not missing:
            return []
        gold = answered + missing
        params = {"missing": missing, "gold": gold, "percent": 100 * answered / gold}
        return [ScoreWarning("reasons_missing_zero" if self.is_strict else "reasons_missing", params)]


def _verdict_warning(items: Iterable[tuple[Item, Item]]) -> list[ScoreWarning]:
    """Answers without a verdict where the reference has one: they cannot match, and their reason is not scored."""
    without = sum(_has_verdict(reference) and not _has_verdict(prediction) for reference, prediction in items)
    return [ScoreWarning("no_verdict", {"count": without})] if without else []


def _has_verdict(answer: Item) -> bool:
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


_OFFICIAL: Final = RagQa(
    id="rag-qa@1",
    name=Message("한국어 어문 규범 질의응답(공식 규칙)", "Korean language norms, question answering (official rule)"),
    metrics=("exact_match", *REASON_METRICS),
    columns=(FINAL, EM, DESCRIPTIVE, BLEURT, BERTSCORE, ROUGE_1),
    tie_breaks=("exact_match",),
    question_types=(),
    rule_text=Message(
        "최종 점수 = (EM + 서술 평균) ÷ 2. EM은 '가 옳다'('이 옳다')까지의 답이 정답 가운데 하나와 같은 비율이고, "
        "서술 평균은 정답과 답변 모두에 이유가 있는 문항에서 구한 BLEURT, BERTScore F1, ROUGE-1 F1의 평균입니다.",
        "Final = (EM + descriptive mean) / 2. EM is the share of answers, up to '가 옳다' ('이 옳다'), equal to an "
        "accepted one; the descriptive mean is the mean of BLEURT, BERTScore F1 and ROUGE-1 F1 of the reasons, over "
        "the items where reference and answer both give one.",
    ),
)
_STRICT: Final = replace(
    _OFFICIAL,
    id="rag-qa-strict@1",
    name=Message(
        "한국어 어문 규범 질의응답(빠진 이유는 0점)",
        "Korean language norms, question answering (missing reasons score 0)",
    ),
    rule_text=Message(
        "rag-qa@1과 같되, 서술 평균을 정답에 이유가 있는 모든 문항으로 나눕니다. 이유를 쓰지 않은 문항의 이유 점수는 "
        "0점입니다.",
        "As rag-qa@1, but the descriptive mean is over every item whose reference gives a reason; an answer without "
        "one scores 0 there.",
    ),
    is_strict=True,
)
RECIPES: Final = (_OFFICIAL, _STRICT)
