"""How far a score has come: against the published baseline of its recipe, and towards the recipe's milestones."""

from __future__ import annotations

from typing import Any

from scoring.errors import Language
from scoring.recipes import Column, Recipe
from scoring.report.tables import Row, figure
from scoring.report.words import word

Section = tuple[str, list[Row]]  # heading, rows


def target_sections(recipe: Recipe, score: float, language: Language = "ko") -> list[Section]:
    """The baseline with the change in per cent, and the milestones with the way to the next; none if it has neither."""
    sections: list[Section] = []
    if recipe.baseline is not None:
        sections.append((word("baseline", language), _baseline_rows(recipe, score, language)))
    if recipe.milestones:
        sections.append((word("milestones", language), _milestone_rows(recipe, score, language)))
    return sections


def targets_as_dict(recipe: Recipe, score: float, language: Language = "ko") -> dict[str, Any]:
    """``baseline`` and ``milestones`` as JSON, 0-1; empty for a recipe without them."""
    out: dict[str, Any] = {}
    if recipe.baseline is not None:
        out["baseline"] = {
            "label": recipe.baseline.label(language),
            "value": recipe.baseline.value,
            "change_percent": recipe.baseline.change_percent(score),
            "note": recipe.baseline.note(language),
        }
    if recipe.milestones:
        out["milestones"] = [{"value": value, "reached": score >= value} for value in recipe.milestones]
    return out


def _baseline_rows(recipe: Recipe, score: float, language: Language) -> list[Row]:
    baseline = recipe.baseline
    if baseline is None:
        return []
    return [
        (baseline.label(language), _round_figure(recipe, baseline.value)),
        (word("percent", language), f"{baseline.change_percent(score):+.2f}%"),
        (word("note", language), baseline.note(language)),
    ]


def _milestone_rows(recipe: Recipe, score: float, language: Language) -> list[Row]:
    shown = {value: _round_figure(recipe, value, _places(recipe)) for value in recipe.milestones}
    rows: list[Row] = [
        (text, word("reached" if score >= value else "not_reached", language)) for value, text in shown.items()
    ]
    ahead = [value for value in recipe.milestones if score < value]
    if not ahead:
        return [*rows, (word("next", language), word("all_reached", language))]
    distance = figure(recipe, _main_column(recipe), min(ahead) - score)
    text = word("distance", language).format(milestone=shown[min(ahead)], distance=distance)
    return [*rows, (word("next", language), text)]


def _places(recipe: Recipe) -> int:
    """The decimals that the milestones need, the same for all: 0.336, 0.366, 0.400."""
    return max(len(_round_figure(recipe, value).partition(".")[2]) for value in recipe.milestones)


def _main_column(recipe: Recipe) -> Column:
    return next(column for column in recipe.columns if column.is_main)


def _round_figure(recipe: Recipe, value: float, places: int | None = None) -> str:
    """A published number with the digits it was published with: 0.3052, not 0.3052000. Or with so many decimals."""
    return (
        f"{value * (recipe.scale if _main_column(recipe).is_scaled else 1):{'g' if places is None else f'.{places}f'}}"
    )
