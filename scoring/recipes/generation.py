"""Free texts compared with a reference: the mean of some similarities. Story completion and dialogue summary.

After the public baselines of AI 말평: 일상 대화 요약 (2024) was ranked by the mean of ROUGE-1, BERTScore and BLEURT
(its row 44.592, 73.277, 44.958 makes 54.276). 이야기 완성 (2023) was reported in ROUGE-1, BLEU, BLEURT and BERTScore,
in later years in ROUGE-1 alone; no rule that combines the four is published, so here they are averaged as in 2024.

표 기반 문장 생성 and 그림(사진) 기반 문장 생성 (2022-23), with up to five references an item, were reported in ROUGE-1
and BLEU. ``generation-from-data@1`` takes several references as the scorer does (``metrics.several_references``).

A dialogue may have several reference summaries. Each metric then takes its best value, as ROUGE and BERTScore are
usually reported with several references; the best of one metric may be another summary than the best of the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from scoring.errors import Message
from scoring.figures import Figure, average
from scoring.recipes.base import Column, Layout, Recipe, align, answered_count, common_warnings, pair_up_all
from scoring.recipes.columns import BERTSCORE, BLEU_1, BLEURT, FINAL, ROUGE_1, ROUGE_L, in_reference
from scoring.records import Items


@dataclass(frozen=True)
class Generation(Recipe):
    """Final = mean of all metrics, each the mean over all items; an empty answer counts with its score."""

    def input_rule(self, metric: str) -> str:
        return "whole-answer@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        items = align(references, predictions)
        pairs = pair_up_all((r.id, r.texts, p.text) for r, p in items)
        return Layout(
            item_ids=pairs.ids,
            pairs=dict.fromkeys(self.metrics, pairs),
            coverage={"items": len(items), "answered": answered_count(predictions)},
            warnings=tuple(common_warnings(predictions)),
        )

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": average([means[self.score_name(metric)] for metric in self.metrics]), **means}


def story_completion() -> Generation:
    """이야기 완성 (2023): the mean of ROUGE-1, BLEU, BLEURT and BERTScore."""
    return Generation(
        id="story-completion@1",
        name=Message("이야기 완성", "Story completion"),
        metrics=("rouge1_mecab", "sentence_bleu1", "bleurt", "bertscore"),
        columns=(FINAL, ROUGE_1, BLEU_1, BLEURT, BERTSCORE),
        tie_breaks=("rouge_1", "bertscore"),
        question_types=(),
        rule_text=Message(
            "최종 점수 = ROUGE-1 F1, BLEU-1, BLEURT, BERTScore F1의 평균. BLEU-1은 문항마다 형태소 하나 단위로 "
            "구한 BLEU를 평균한 값입니다. 이 과제의 기준 모델은 네 지표로 보고되었고 합산 방법은 공개되지 않아 "
            "평균을 씁니다.",
            "Final = mean of ROUGE-1 F1, BLEU-1, BLEURT and BERTScore F1. BLEU-1 is the mean over the items of "
            "sentence BLEU on single morphs. The baseline of this task is reported in these four; how they combine is "
            "not published, so they are averaged.",
        ),
    )


def dialogue_summary() -> Generation:
    """일상 대화 요약 (2024): the mean of ROUGE-1, BERTScore and BLEURT."""
    return Generation(
        id="dialogue-summary@1",
        name=Message("일상 대화 요약", "Dialogue summary"),
        metrics=("rouge1_mecab", "bertscore", "bleurt"),
        columns=(FINAL, ROUGE_1, BERTSCORE, BLEURT),
        tie_breaks=("rouge_1", "bertscore"),
        question_types=(),
        rule_text=Message(
            "최종 점수 = ROUGE-1 F1, BERTScore F1, BLEURT의 평균. 정답이 여럿인 문항(정답 파일의 answer에 문자열 "
            "배열)은 지표마다 가장 높은 값을 씁니다.",
            "Final = mean of ROUGE-1 F1, BERTScore F1 and BLEURT. Of several references (an array of strings as the "
            "answer in the reference file) the best counts, metric by metric.",
        ),
        takes_several_references=True,
    )


_SEVERAL_KO: Final = (
    "정답이 여럿인 문항의 ROUGE는 모든 정답의 수를 더해 구하고, BLEU는 정답마다 구해 평균합니다(공식 채점기의 규칙)."
)
_SEVERAL_EN: Final = (
    "Of an item with several references ROUGE adds up the counts of all, and BLEU is averaged over them, as in the "
    "official scorer."
)


def ranked_by(metric: str, column: Column, recipe_id: str) -> Generation:
    """One of the scorer's metrics alone: 함의분석 결과 설명문 생성, 국회 회의록 안건별 요약 (2024) by ROUGE-1."""
    label = column.label("en")
    return Generation(
        id=recipe_id,
        name=Message(f"문장 생성({label})", f"Generation ({label})"),
        metrics=(metric,),
        columns=(FINAL, column),
        tie_breaks=(),
        question_types=(),
        rule_text=Message(
            f"최종 점수 = 문항마다 구한 {label}의 평균. {_SEVERAL_KO}",
            f"Final = mean {label} of the items. {_SEVERAL_EN}",
        ),
        takes_several_references=True,
    )


@dataclass(frozen=True)
class FromData(Generation):
    """Final = mean of ``ranking``; ``first_reference`` are metrics that know the first reference of an item alone."""

    ranking: tuple[str, ...] = ("rouge_1", "bleu_1")
    first_reference: tuple[str, ...] = ()

    def prepare(self, references: Items, predictions: Items) -> Layout:
        layout = super().prepare(references, predictions)
        pairs = layout.pairs[self.metrics[0]]
        first = replace(pairs, references=tuple(texts[:1] for texts in pairs.references))
        return replace(layout, pairs={**layout.pairs, **dict.fromkeys(self.first_reference, first)})

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": average([means[score] for score in self.ranking]), **means}


_OFFICIAL: Final = FromData(
    id="generation-from-data@1",
    name=Message("표·그림(사진) 기반 문장 생성(공식 규칙)", "Sentences from tables and pictures (official rule)"),
    metrics=("rouge1_pooled", "bleu1_mean", "bertscore", "bleurt"),
    columns=(FINAL, ROUGE_1, BLEU_1, in_reference(BERTSCORE), in_reference(BLEURT)),
    tie_breaks=("rouge_1",),
    question_types=(),
    rule_text=Message(
        "최종 점수 = ROUGE-1 F1과 BLEU-1의 평균. 이 과제의 기준 모델은 두 지표로 보고되었고 합산 방법은 공개되지 "
        f"않아 평균을 씁니다. {_SEVERAL_KO} BERTScore와 BLEURT는 첫 정답하고만 견주며 순위에 들지 않습니다.",
        "Final = mean of ROUGE-1 F1 and BLEU-1: the baselines of these tasks are reported in the two, and how they "
        f"combine is not published. {_SEVERAL_EN} BERTScore and BLEURT know the first reference alone and do not rank.",
    ),
    takes_several_references=True,
    first_reference=("bertscore", "bleurt"),
)
_BEST: Final = replace(
    _OFFICIAL,
    id="generation-from-data-best@1",
    name=Message(
        "표·그림(사진) 기반 문장 생성(가장 가까운 정답)", "Sentences from tables and pictures (best reference)"
    ),
    metrics=("rouge1_mecab", "sentence_bleu1", "bertscore", "bleurt"),
    rule_text=Message(
        "generation-from-data@1과 같되, 정답이 여럿인 문항은 지표마다 가장 높은 값을 씁니다. 공식 채점기의 값과 "
        "다릅니다.",
        "As generation-from-data@1, but of several references the best counts, metric by metric. This differs from the "
        "official scorer.",
    ),
    first_reference=(),
)

RECIPES: Final = (
    story_completion(),
    dialogue_summary(),
    ranked_by("rouge1_pooled", ROUGE_1, "generation-rouge1@1"),
    ranked_by("rougel_pooled", ROUGE_L, "generation-rougel@1"),
    ranked_by("bleu1_mean", BLEU_1, "generation-bleu@1"),
    _OFFICIAL,
    _BEST,
)
