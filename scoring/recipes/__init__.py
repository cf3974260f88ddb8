"""Recipes: which metric sees what of an answer, and how their values become the final score.

A recipe is immutable and versioned: a changed rule is a new version with a new id. Everything here is plain Python on
texts and numbers. The web process imports this package, so it loads no analyser and no model.
"""

from __future__ import annotations

from typing import Final

from scoring.errors import ScoringError
from scoring.recipes.base import (
    Aggregate,
    AnswerForm,
    Column,
    MismatchedFiles,
    Pairs,
    Prepared,
    Recipe,
)
from scoring.recipes.captioning import Captioning
from scoring.recipes.culture_qa import CultureQa
from scoring.recipes.generation import dialogue_summary, story_completion
from scoring.recipes.labels import ACCURACY as LABEL_ACCURACY
from scoring.recipes.labels import F1_MACRO, multi_label, regression, single_label
from scoring.recipes.rag_qa import RagQa
from scoring.recipes.warning_texts import ORGANISER_CODES, warning_text

__all__ = [
    "ORGANISER_CODES",
    "RECIPES",
    "Aggregate",
    "AnswerForm",
    "Column",
    "MismatchedFiles",
    "Pairs",
    "Prepared",
    "Recipe",
    "UnknownRecipe",
    "get_recipe",
    "warning_text",
]


class UnknownRecipe(ScoringError):
    """No recipe has this id."""

    def __init__(self, recipe_id: str) -> None:
        self.recipe_id = recipe_id
        super().__init__(f"unknown recipe {recipe_id!r}; known: {', '.join(RECIPES)}")


FINAL: Final = Column("final_score", "최종 점수", "Final score", is_main=True)
EM: Final = Column("exact_match", "EM", "EM")
ACCURACY: Final = Column("accuracy", "정확도", "Accuracy")
DESCRIPTIVE: Final = Column("descriptive_avg", "서술 평균", "Descriptive mean")
BLEURT: Final = Column("bleurt", "BLEURT", "BLEURT")
BERTSCORE: Final = Column("bertscore", "BERTScore", "BERTScore")
ROUGE_1: Final = Column("rouge_1", "ROUGE-1", "ROUGE-1")
BLEU_1: Final = Column("bleu_1", "BLEU-1", "BLEU-1")

_RAG_QA: Final = RagQa(
    id="rag-qa@1",
    title_ko="한국어 어문 규범 질의응답(공식 규칙)",
    title_en="Korean language norms, question answering (official rule)",
    metrics=("exact_match", "bleurt", "bertscore", "rouge_1"),
    columns=(FINAL, EM, DESCRIPTIVE, BLEURT, BERTSCORE, ROUGE_1),
    tie_breaks=("exact_match",),
    question_types=(),
    rule_ko="최종 점수 = (EM + 서술 평균) ÷ 2. EM은 '가 옳다'('이 옳다')까지의 답이 정답 가운데 하나와 같은 비율이고, "
    "서술 평균은 정답과 답변 모두에 이유가 있는 문항에서 구한 BLEURT, BERTScore F1, ROUGE-1 F1의 평균입니다.",
    rule_en="Final = (EM + descriptive mean) / 2. EM is the share of answers, up to '가 옳다' ('이 옳다'), equal to an "
    "accepted one; the descriptive mean is the mean of BLEURT, BERTScore F1 and ROUGE-1 F1 of the reasons, over the "
    "items where reference and answer both give one.",
)

_RAG_QA_STRICT: Final = RagQa(
    id="rag-qa-strict@1",
    title_ko="한국어 어문 규범 질의응답(빠진 이유는 0점)",
    title_en="Korean language norms, question answering (missing reasons score 0)",
    metrics=_RAG_QA.metrics,
    columns=_RAG_QA.columns,
    tie_breaks=_RAG_QA.tie_breaks,
    question_types=_RAG_QA.question_types,
    rule_ko="rag-qa@1과 같되, 서술 평균을 정답에 이유가 있는 모든 문항으로 나눕니다. "
    "이유를 쓰지 않은 문항의 이유 점수는 0점입니다.",
    rule_en="As rag-qa@1, but the descriptive mean is over every item whose reference gives a reason; an answer "
    "without one scores 0 there.",
    is_strict=True,
)


def _culture_qa(recipe_id: str, title_ko: str, title_en: str, third: Column) -> CultureQa:
    description = (ROUGE_1, BERTSCORE, third)
    return CultureQa(
        id=recipe_id,
        title_ko=title_ko,
        title_en=title_en,
        metrics=("accuracy", "exact_match", *(column.key for column in description)),
        columns=(FINAL, ACCURACY, EM, DESCRIPTIVE, *description),
        tie_breaks=("accuracy", "exact_match"),
        question_types=tuple(CultureQa.TYPE_KEYS),
        rule_ko="최종 점수 = 선다형 정확도, 단답형 EM, 서술형 평균을 평균한 값. "
        f"서술형 평균은 ROUGE-1 F1, BERTScore F1, {third.label_ko}의 평균입니다. "
        "문항이 없는 유형은 빼고 평균을 냅니다.",
        rule_en="Final = mean of multiple-choice accuracy, short-answer EM and the descriptive mean, which is the "
        f"mean of ROUGE-1 F1, BERTScore F1 and {third.label_en}. A type without items is left out.",
        description_metrics=tuple(column.key for column in description),
    )


def _reference(key: str, label_ko: str, label_en: str, *, is_scaled: bool = True) -> Column:
    return Column(key, label_ko, label_en, is_scaled=is_scaled, group="reference")


_CAPTION_METRICS: Final = (
    "meteor",
    "meteor_synonym",
    "meteor_ko",
    "cider",
    "bleu",
    "okt_rouge_1",
    "okt_rouge_2",
    "okt_rouge_l",
    "chrf",
    "spice_ko",
    "diversity",
)
_CIDER: Final = Column("cider", "CIDEr-D", "CIDEr-D", is_scaled=False)
_CAPTION_FINAL: Final = Column("final_score", "METEOR", "METEOR", is_main=True)
_CAPTION_REFERENCES: Final = (
    _reference("meteor_synonym", "METEOR(유의어)", "METEOR (synonyms)"),
    _reference("meteor_ko", "METEOR-ko", "METEOR-ko"),
    *(_reference(f"bleu_{n}", f"BLEU-{n}", f"BLEU-{n}") for n in range(1, 5)),
    _reference("rouge_1", "ROUGE-1", "ROUGE-1"),
    _reference("rouge_2", "ROUGE-2", "ROUGE-2"),
    _reference("rouge_l", "ROUGE-L", "ROUGE-L"),
    _reference("chrf", "chrF", "chrF"),
    _reference("spice_ko", "spice_ko(실험)", "spice_ko (experimental)"),
    _reference("distinct_1", "Distinct-1", "Distinct-1"),
    _reference("distinct_2", "Distinct-2", "Distinct-2"),
    _reference("unique_captions", "고유 설명 비율", "Unique captions"),
    _reference("length_ratio", "길이 비율", "Length ratio", is_scaled=False),
)
_CAPTION_RULE_KO: Final = (
    "최종 점수 = METEOR(정확 일치 단계, konlpy Okt 형태소, NLTK와 같은 값). 정답 설명이 여럿이면 METEOR, BERTScore, "
    "ROUGE는 가장 높은 값을, CIDEr-D는 평균을 씁니다. 설명을 내지 않은 항목은 0점입니다."
)
_CAPTION_RULE_EN: Final = (
    "Final = METEOR (exact stage, konlpy Okt morphs, NLTK's value). Of several references METEOR, BERTScore and ROUGE "
    "take the best, CIDEr-D the mean. An item without a caption scores 0."
)


_CAPTIONING: Final = Captioning(
    id="captioning@1",
    title_ko="한국어 이미지·영상 설명",
    title_en="Korean image and video captions",
    metrics=("bertscore", *_CAPTION_METRICS),
    columns=(
        _CAPTION_FINAL,
        _CIDER,
        BERTSCORE,
        *_CAPTION_REFERENCES,
        _reference("clipscore", "CLIPScore", "CLIPScore", is_scaled=False),
        _reference("refclipscore", "RefCLIPScore", "RefCLIPScore", is_scaled=False),
        _reference("clip_cosine", "CLIP 코사인", "CLIP cosine", is_scaled=False),
    ),
    tie_breaks=("cider", "bertscore"),
    question_types=(),
    rule_ko=_CAPTION_RULE_KO,
    rule_en=_CAPTION_RULE_EN,
    scale=1,
    decimals=4,
    answer_form="captions",
    optional_metrics=("clipscore",),
)
_CAPTIONING_LEXICAL: Final = Captioning(
    id="captioning-lexical@1",
    title_ko="한국어 이미지·영상 설명(모델 없는 지표만)",
    title_en="Korean image and video captions (metrics without models only)",
    metrics=_CAPTION_METRICS,
    columns=(_CAPTION_FINAL, _CIDER, *_CAPTION_REFERENCES),
    tie_breaks=("cider",),
    question_types=(),
    rule_ko=f"captioning@1에서 신경망 모델을 쓰는 지표를 뺀 것입니다. {_CAPTION_RULE_KO}",
    rule_en=f"captioning@1 without the metrics that use neural models. {_CAPTION_RULE_EN}",
    scale=1,
    decimals=4,
    answer_form="captions",
)

RECIPES: Final[dict[str, Recipe]] = {
    recipe.id: recipe
    for recipe in (
        _RAG_QA,
        _RAG_QA_STRICT,
        _culture_qa("culture-qa@1", "한국 문화 질의응답", "Korean culture, question answering", BLEURT),
        _culture_qa(
            "culture-qa-bleu@1",
            "한국 문화 질의응답(BLEU)",
            "Korean culture, question answering (BLEU)",
            BLEU_1,
        ),
        _CAPTIONING,
        _CAPTIONING_LEXICAL,
        story_completion(),
        dialogue_summary(),
        single_label(F1_MACRO),
        single_label(LABEL_ACCURACY),
        multi_label(),
        regression(),
    )
}


def get_recipe(recipe_id: str) -> Recipe:
    """The recipe with this id, such as ``rag-qa@1``. Raises ``UnknownRecipe``."""
    try:
        return RECIPES[recipe_id]
    except KeyError:
        raise UnknownRecipe(recipe_id) from None
