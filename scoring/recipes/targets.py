"""Scores to measure progress against: the AI-Hub baseline of captioning, and goals for METEOR, CIDEr-D and BERTScore.

They are not part of a rule. A report prints them with a captioning score; on the platform an organiser chooses which
ones a track shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from scoring.errors import Language
from scoring.recipes.base import Recipe
from scoring.recipes.columns import FINAL

TargetKind = Literal["baseline", "milestone"]

FINAL_SCORE: Final = FINAL.key
LARGEST: Final = 10  # of any score: CIDEr-D


@dataclass(frozen=True, slots=True)
class Target:
    """A score to compare with or to reach. ``note`` says what to know before comparing.

    ``is_comparable`` is false if the figure was computed differently from ours. ``score`` is the key of its column; the
    final score and most others are 0-1.
    """

    kind: TargetKind
    value: float
    label_ko: str
    label_en: str
    is_comparable: bool = True
    note_ko: str = ""
    note_en: str = ""
    score: str = FINAL_SCORE

    def label(self, language: Language = "ko") -> str:
        return self.label_en if language == "en" and self.label_en else self.label_ko

    def note(self, language: Language = "ko") -> str:
        return self.note_en if language == "en" and self.note_en else self.note_ko


AI_HUB_TARGETS: Final = (
    Target(
        "baseline",
        0.3052,
        "AI 허브 기준선",
        "AI Hub baseline",
        is_comparable=False,
        note_ko="구현이 공개되지 않은 METEOR 값입니다.",
        note_en="The implementation of this METEOR is unpublished.",
    ),
    *(Target("milestone", value, "목표", "Milestone") for value in (0.336, 0.366, 0.40)),
)


# Usual goals of captioning for the scores beside METEOR.
MILESTONES_BESIDE: Final = {"cider": (0.80, 1.00, 1.20), "bertscore": (0.75, 0.80, 0.85)}


def published_targets(recipe: Recipe, score: str = FINAL_SCORE) -> tuple[Target, ...]:
    """The figures known for ``score`` in tasks like that of ``recipe``; none but those of captioning are."""
    if recipe.answer_form != "captions" or score not in {column.key for column in recipe.columns}:
        return ()
    beside = MILESTONES_BESIDE.get(score, ())
    milestones = (Target("milestone", value, "목표", "Milestone", score=score) for value in beside)
    return AI_HUB_TARGETS if score == FINAL_SCORE else tuple(milestones)


def published_sets(recipe: Recipe) -> dict[str, tuple[Target, ...]]:
    """Every score that has published targets with them, the final score first."""
    found = {score: published_targets(recipe, score) for score in (FINAL_SCORE, *MILESTONES_BESIDE)}
    return {score: targets for score, targets in found.items() if targets}


def change_percent(score: float, baseline: float) -> float:
    """By how many per cent ``score`` is above ``baseline`` (not 0); negative below it."""
    return 100 * (score - baseline) / baseline
