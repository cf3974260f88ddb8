"""The columns that recipes share: a score's key and what readers call it."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from scoring.errors import Message
from scoring.recipes.base import Column

FINAL: Final = Column("final_score", Message("최종 점수", "Final score"), is_main=True)
EM: Final = Column("exact_match", Message("EM", "EM"))
ACCURACY: Final = Column("accuracy", Message("정확도", "Accuracy"))
DESCRIPTIVE: Final = Column("descriptive_avg", Message("서술 평균", "Descriptive mean"))
BLEURT: Final = Column("bleurt", Message("BLEURT", "BLEURT"))
BERTSCORE: Final = Column("bertscore", Message("BERTScore", "BERTScore"))
ROUGE_1: Final = Column("rouge_1", Message("ROUGE-1", "ROUGE-1"))
ROUGE_L: Final = Column("rouge_l", Message("ROUGE-L", "ROUGE-L"))
BLEU_1: Final = Column("bleu_1", Message("BLEU-1", "BLEU-1"))

F1_MICRO: Final = Column("f1_micro", Message("마이크로 F1", "Micro F1"))
F1_MACRO: Final = Column("f1_macro", Message("매크로 F1", "Macro F1"))
F1_WEIGHTED: Final = Column("f1_weighted", Message("가중 F1", "Weighted F1"))
F1_SAMPLES: Final = Column("f1_samples", Message("문항 평균 F1", "Mean F1 of items"))
SA_F1: Final = Column("sa_f1", Message("속성 감성 F1", "Aspect sentiment F1"))
SA_PRECISION: Final = Column("sa_precision", Message("정밀도", "Precision"))
SA_RECALL: Final = Column("sa_recall", Message("재현율", "Recall"))
CATEGORY_F1: Final = Column("category_f1", Message("속성 범주 F1", "Category F1"))
MSE: Final = Column(
    "mse", Message("MSE(낮을수록 좋음)", "MSE (lower is better)"), is_scaled=False, higher_is_better=False
)

METEOR: Final = Column("final_score", Message("METEOR", "METEOR"), is_main=True)
CIDER: Final = Column("cider", Message("CIDEr-D", "CIDEr-D"), is_scaled=False)


def reference_column(
    key: str, korean: str, english: str, *, is_scaled: bool = True, has_direction: bool = True
) -> Column:
    return Column(key, Message(korean, english), is_scaled=is_scaled, group="reference", has_direction=has_direction)


def in_reference(column: Column) -> Column:
    """``column`` among those shown for reference."""
    return replace(column, group="reference")


# Shown for reference next to the scores that judge captions.
CAPTION_REFERENCES: Final = (
    reference_column("meteor_synonym", "METEOR(유의어)", "METEOR (synonyms)"),
    reference_column("meteor_ko", "METEOR-ko", "METEOR-ko"),
    *(reference_column(f"bleu_{n}", f"BLEU-{n}", f"BLEU-{n}") for n in range(1, 5)),
    *(reference_column(f"rouge_{n}", f"ROUGE-{n.upper()}", f"ROUGE-{n.upper()}") for n in ("1", "2", "l")),
    reference_column("chrf", "chrF", "chrF"),
    reference_column("spice_ko", "spice_ko(실험)", "spice_ko (experimental)"),
    reference_column("distinct_1", "Distinct-1", "Distinct-1"),
    reference_column("distinct_2", "Distinct-2", "Distinct-2"),
    reference_column("unique_captions", "고유 설명 비율", "Unique captions"),
    reference_column("length_ratio", "길이 비율", "Length ratio", is_scaled=False, has_direction=False),
)
CLIP: Final = (
    reference_column("clipscore", "CLIPScore", "CLIPScore", is_scaled=False),
    reference_column("refclipscore", "RefCLIPScore", "RefCLIPScore", is_scaled=False),
    reference_column("clip_cosine", "CLIP 코사인", "CLIP cosine", is_scaled=False),
)
