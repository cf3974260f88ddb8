"""Scores to measure progress against: the AI-Hub baseline of captioning and the goals set above it.

They are not part of a rule. A report prints them with a captioning score; on the platform an organiser chooses which
ones a track shows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from scoring.errors import Language
from scoring.recipes.base import Recipe

TargetKind = Literal["baseline", "milestone"]


@dataclass(frozen=True, slots=True)
class Target:
    """A score, 0-1, to compare with or to reach. ``note`` says what to know before comparing.

    ``is_comparable`` is false if the figure was computed differently from ours.
    """

    kind: TargetKind
    value: float
    label_ko: str
    label_en: str
    is_comparable: bool = True
    note_ko: str = ""
    note_en: str = ""

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


def published_targets(recipe: Recipe) -> tuple[Target, ...]:
    """The published figures for tasks like that of ``recipe``; none but those of captioning are known."""
    return AI_HUB_TARGETS if recipe.answer_form == "captions" else ()


def change_percent(score: float, baseline: float) -> float:
    """By how many per cent ``score`` is above ``baseline`` (not 0); negative below it."""
    return 100 * (score - baseline) / baseline
