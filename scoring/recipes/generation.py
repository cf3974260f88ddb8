"""Free texts compared with a reference: the mean of some similarities. Story completion and dialogue summary.

After the public baselines of AI 말평: 일상 대화 요약 (2024) was ranked by the mean of ROUGE-1, BERTScore and BLEURT
(its row 44.592, 73.277, 44.958 makes 54.276). 이야기 완성 (2023) was reported in ROUGE-1, BLEU, BLEURT and BERTScore,
in later years in ROUGE-1 alone; no rule that combines the four is published, so here they are averaged as in 2024.

A dialogue may have several reference summaries. Each metric then takes its best value, as ROUGE and BERTScore are
usually reported with several references; the best of one metric may be another summary than the best of the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from scoring.errors import Message
from scoring.figures import Figure, average
from scoring.recipes.base import Layout, Recipe, align, answered_count, common_warnings, pair_up_all
from scoring.recipes.columns import BERTSCORE, BLEU_1, BLEURT, FINAL, ROUGE_1
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


RECIPES: Final = (story_completion(), dialogue_summary())
