"""A result as the manage pages show it: every score as all see it and of the private split, warnings, item values."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from malpan.competitions.models import Track
from malpan.submissions.models import ScoringRun
from malpan.web.presenters import scores
from scoring.recipes import ORGANISER_CODES, Column, UnknownRecipe, get_recipe, warning_text
from scoring.records import ScoreWarning


def known_columns(recipe_id: str) -> tuple[Column, ...]:
    try:
        return get_recipe(recipe_id).columns
    except UnknownRecipe:
        return ()


@dataclass(frozen=True, slots=True)
class ScoreLine:
    """One score of the submission's page: as all see it, and of the private split."""

    label: str
    shown: str
    hidden: str
    is_main: bool


@dataclass(frozen=True, slots=True)
class Warned:
    """A warning in words. ``is_internal``: participants are not told."""

    text: str
    is_internal: bool


def score_lines(run: ScoringRun, hidden: Mapping[str, float], track: Track) -> Iterator[ScoreLine]:
    for column in known_columns(run.recipe):
        if column.key in run.scores or column.key in hidden:
            yield ScoreLine(
                label=column.label(scores.language()),
                shown=scores.score_text(column, run.scores.get(column.key), track),
                hidden=scores.score_text(column, hidden.get(column.key), track),
                is_main=column.is_main,
            )


def warnings_of(rows: Iterable[Mapping[str, Any]]) -> list[Warned]:
    """Every stored warning as a sentence; one whose words are gone, by its code."""
    return [Warned(_sentence(row), row["code"] in ORGANISER_CODES) for row in rows]


def _sentence(row: Mapping[str, Any]) -> str:
    try:
        return warning_text(ScoreWarning(row["code"], row.get("params", {})), scores.language())
    except KeyError:
        return str(row["code"])


def metric_label(run: ScoringRun, name: str) -> str:
    try:
        return get_recipe(run.recipe).metric_label(name, scores.language())
    except UnknownRecipe:
        return name


def value_text(value: float | None) -> str:
    return "–" if value is None else f"{value:.4f}"
