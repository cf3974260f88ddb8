"""Captions of pictures and films, ranked by METEOR: several references for each item, unanswered items score 0.

Every metric has its own rule for several references: METEOR, BERTScore and ROUGE take the best, CIDEr-D the mean, BLEU
clips by all of them and takes the closest length, chrF the best by its own score.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final

from scoring.errors import Message
from scoring.figures import Figure
from scoring.metrics.script_use import script_row
from scoring.recipes.base import Layout, MismatchedFiles, Recipe, common_warnings, pair_up_all
from scoring.recipes.columns import BERTSCORE, CAPTION_REFERENCES, CIDER, CLIP, METEOR
from scoring.records import Items, ScoreWarning

MIN_HANGUL: Final = 0.1  # of the letters of a file: Korean captions with many foreign words have over half
_BREAKS: Final = frozenset("\n\r\t\u2028\u2029")


def hangul_share(texts: Iterable[str]) -> float:
    """Hangul among the letters of ``texts``, 0-1; 1 where there is no letter.

    >>> hangul_share(["파도 wave"])
    0.3333333333333333
    """
    rows = [script_row(text) for text in texts]
    hangul, letters = (sum(row[column] for row in rows) for column in (0, 1))
    return hangul / letters if letters else 1.0


@dataclass(frozen=True)
class Captioning(Recipe):
    """The final score is METEOR (exact stage, best reference), as a mean over all items of the references."""

    def input_rule(self, metric: str) -> str:
        return "caption@1"

    def prepare(self, references: Items, predictions: Items) -> Layout:
        captions = predictions.by_id()
        known = references.by_id()
        if captions.keys() - known.keys() or len(captions) != len(predictions.items):
            raise MismatchedFiles("predictions must hold ids of the references, each at most once")
        pairs = pair_up_all(
            (answer.id, answer.texts, captions[answer.id].text if answer.id in captions else "")
            for answer in references.items
        )
        missing = len(known) - len(captions)
        return Layout(
            item_ids=pairs.ids,
            pairs=dict.fromkeys((*self.metrics, *self.optional_metrics), pairs),
            coverage={
                "items": len(known),
                "answered": sum(bool(caption.strip()) for caption in pairs.candidates),
                "missing": missing,
                "references": sum(map(len, pairs.references)),
            },
            warnings=(
                *_missing_warning(missing, len(known)),
                *self.file_warnings(references, predictions),
                *_line_break_warning(pairs.candidates),
                *common_warnings(predictions),
            ),
        )

    def file_warnings(self, references: Items | None, predictions: Items | None) -> list[ScoreWarning]:
        """Warnings about references and captions that are not Korean."""
        warnings = []
        for code, file in (("references_not_korean", references), ("captions_not_korean", predictions)):
            if file is None:
                continue
            share = hangul_share(text for item in file.items for text in item.texts)
            if share < MIN_HANGUL:
                warnings.append(ScoreWarning(code, {"percent": 100 * share}))
        return warnings

    def final_scores(self, means: Mapping[str, Figure]) -> dict[str, Figure]:
        return {"final_score": means["meteor"], **means}


def _missing_warning(missing: int, total: int) -> list[ScoreWarning]:
    return [ScoreWarning("captions_missing", {"count": missing, "total": total})] if missing else []


def _line_break_warning(captions: Iterable[str]) -> list[ScoreWarning]:
    """konlpy keeps a line break or tab between words as a morph of its own; here it is white space, as it looks."""
    count = sum(not _BREAKS.isdisjoint(caption) for caption in captions)
    return [ScoreWarning("line_breaks", {"count": count})] if count else []


_LEXICAL_METRICS: Final = (
    "meteor",
    "meteor_synonym",
    "meteor_ko",
    "cider",
    "bleu",
    "rouge1_okt",
    "rouge2_okt",
    "rougel_okt",
    "chrf",
    "spice_ko",
    "diversity",
)
_RULE: Final = Message(
    "최종 점수 = METEOR(정확 일치 단계, konlpy Okt 형태소, NLTK와 같은 값). 정답 설명이 여럿이면 METEOR, BERTScore, "
    "ROUGE는 가장 높은 값을, CIDEr-D는 평균을 씁니다. 설명을 내지 않은 항목은 0점입니다.",
    "Final = METEOR (exact stage, konlpy Okt morphs, NLTK's value). Of several references METEOR, BERTScore and ROUGE "
    "take the best, CIDEr-D the mean. An item without a caption scores 0.",
)
_CAPTIONING: Final = Captioning(
    id="captioning@1",
    name=Message("한국어 이미지·영상 설명", "Korean image and video captions"),
    metrics=("bertscore", *_LEXICAL_METRICS),
    columns=(METEOR, CIDER, BERTSCORE, *CAPTION_REFERENCES, *CLIP),
    tie_breaks=("cider", "bertscore"),
    question_types=(),
    rule_text=_RULE,
    scale=1,
    decimals=4,
    answer_form="captions",
    optional_metrics=("clipscore",),
)
_LEXICAL: Final = replace(
    _CAPTIONING,
    id="captioning-lexical@1",
    name=Message(
        "한국어 이미지·영상 설명(모델 없는 지표만)", "Korean image and video captions (metrics without models only)"
    ),
    metrics=_LEXICAL_METRICS,
    columns=(METEOR, CIDER, *CAPTION_REFERENCES),
    tie_breaks=("cider",),
    rule_text=Message(
        f"captioning@1에서 신경망 모델을 쓰는 지표를 뺀 것입니다. {_RULE.ko}",
        f"captioning@1 without the metrics that use neural models. {_RULE.en}",
    ),
    optional_metrics=(),
)
RECIPES: Final = (_CAPTIONING, _LEXICAL)
