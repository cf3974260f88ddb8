"""Captions ranked by METEOR, and beside it how rich and how well-formed they are.

A recipe of its own, as these columns are many. None of them ranks anybody.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scoring.errors import Message
from scoring.metrics.required_words import text_of
from scoring.recipes.base import Layout, pair_up
from scoring.recipes.captioning import Captioning
from scoring.recipes.columns import BERTSCORE, CIDER, METEOR, reference_column
from scoring.records import Items

ALONE: Final = "fluency"  # reads the candidate without a reference
DEMANDING: Final = "required_words"  # its references are the words that an item demands


class RichCaptioning(Captioning):
    """As ``Captioning``; fluency gets the answered captions only, and required words the items that demand some."""

    def input_rule(self, metric: str) -> str:
        rules = {ALONE: "caption-alone@1", DEMANDING: "required-words@1"}
        return rules.get(metric) or super().input_rule(metric)

    def prepare(self, references: Items, predictions: Items) -> Layout:
        layout = super().prepare(references, predictions)
        given = dict(zip(layout.item_ids, layout.pairs["meteor"].candidates, strict=True))
        alone = pair_up((item, "", caption) for item, caption in given.items() if caption.strip())
        words = ((item.id, text_of(item.required), given[item.id]) for item in references.items if item.required)
        return replace(layout, pairs={**layout.pairs, ALONE: alone, DEMANDING: pair_up(words)})

    def counts(self, layout: Layout, metric: str) -> bool:
        """Without items for one of these two it has no mean."""
        return bool(len(layout.pairs[metric])) or metric not in (ALONE, DEMANDING)


_COLUMNS: Final = (
    reference_column("rouge_w", "ROUGE-W", "ROUGE-W"),
    reference_column("rouge_s", "ROUGE-S4", "ROUGE-S4"),
    reference_column("rouge_su", "ROUGE-SU4", "ROUGE-SU4"),
    reference_column("chrf_jamo", "자모 chrF(실험)", "Jamo chrF (experimental)"),
    reference_column("colour_share", "색 비율", "Colours, share", has_direction=False),
    reference_column("colour_variety", "색 다양도", "Colours, variety"),
    reference_column("adjective_share", "형용사 비율", "Adjectives, share", has_direction=False),
    reference_column("adjective_variety", "형용사 다양도", "Adjectives, variety"),
    reference_column("modifier_share", "꾸미는 말 비율", "Modifiers, share", has_direction=False),
    reference_column("modifier_variety", "꾸미는 말 다양도", "Modifiers, variety"),
    reference_column("mattr", "MATTR", "MATTR"),
    reference_column("hangul_share", "한글 비율", "Share of Hangul", has_direction=False),
    reference_column("foreign_runs", "다른 문자 토막", "Foreign runs", is_scaled=False, has_direction=False),
    reference_column("foreign_captions", "다른 문자 든 설명", "Foreign captions", has_direction=False),
    reference_column("required_words", "필수 낱말", "Required words"),
    reference_column("fluency", "유창성(PLL)", "Fluency (PLL)", is_scaled=False),
)
_RICH: Final = RichCaptioning(
    id="captioning-rich@1",
    name=Message(
        "한국어 이미지·영상 설명(표현과 형식 참고 지표)", "Korean image and video captions (wording and form shown)"
    ),
    metrics=(
        "bertscore",
        "meteor",
        "cider",
        "rougew_okt",
        "rouges_okt",
        "rougesu_okt",
        "chrf_jamo",
        "richness",
        "script_use",
        DEMANDING,
    ),
    columns=(METEOR, CIDER, BERTSCORE, *_COLUMNS),
    tie_breaks=("cider", "bertscore"),
    question_types=(),
    rule_text=Message(
        "최종 점수는 captioning@1과 같은 METEOR입니다. 어휘와 형식을 보는 지표를 참고로 함께 보이며, 순위에는 쓰지 "
        "않습니다. 설명을 내지 않은 항목은 0점입니다.",
        "The final score is METEOR, as in captioning@1. Metrics of wording and form are shown for reference and rank "
        "nobody. An item without a caption scores 0.",
    ),
    scale=1,
    decimals=4,
    answer_form="captions",
    optional_metrics=(ALONE,),
)
RECIPES: Final = (_RICH,)
