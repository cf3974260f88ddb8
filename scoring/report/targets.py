"""Compares a score with its baselines and shows the distance to the next milestone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.errors import Language
from scoring.recipes import Column, Recipe
from scoring.recipes.targets import FINAL_SCORE, Target, change_percent
from scoring.report.tables import Row, figure
from scoring.report.words import word

Section = tuple[str, list[Row]]  # heading, rows


def target_sections(
    sets: Mapping[str, Sequence[Target]], recipe: Recipe, scores: Mapping[str, float], language: Language = "ko"
) -> list[Section]:
    """For each score its baselines with the change in per cent, its milestones with the distance to the next."""
    columns = {column.key: column for column in recipe.columns}
    sections: list[Section] = []
    for key, targets in sets.items():
        if key in scores:
            name = "" if key == FINAL_SCORE else f": {columns[key].label(language)}"
            sections += _sections(targets, recipe, columns[key], scores[key], name, language)
    return sections


def _sections(
    targets: Sequence[Target], recipe: Recipe, column: Column, score: float, name: str, language: Language
) -> list[Section]:
    sections: list[Section] = []
    for baseline in _of_kind(targets, "baseline"):
        rows = _baseline_rows(baseline, recipe, column, score, language)
        sections.append((word("baseline", language) + name, rows))
    if milestones := [target.value for target in _of_kind(targets, "milestone")]:
        rows = _milestone_rows(milestones, recipe, column, score, language)
        sections.append((word("milestones", language) + name, rows))
    return sections


def targets_as_dict(
    sets: Mapping[str, Sequence[Target]], scores: Mapping[str, float], language: Language = "ko"
) -> dict[str, Any]:
    """``baseline`` and ``milestones`` as JSON, 0-1, those of other scores under ``milestones_of``; empty without."""
    out: dict[str, Any] = {}
    for key, targets in sets.items():
        if key == FINAL_SCORE:
            out |= _as_dict(targets, scores[key], language)
        elif key in scores:
            out.setdefault("milestones_of", {})[key] = _as_dict(targets, scores[key], language)["milestones"]
    return out


def _as_dict(targets: Sequence[Target], score: float, language: Language) -> dict[str, Any]:
    out: dict[str, Any] = {}
    for baseline in _of_kind(targets, "baseline"):
        out["baseline"] = {
            "label": baseline.label(language),
            "value": baseline.value,
            "change_percent": change_percent(score, baseline.value),
            "note": _remark(baseline, language),
        }
    if milestones := _of_kind(targets, "milestone"):
        out["milestones"] = [{"value": target.value, "reached": score >= target.value} for target in milestones]
    return out


def _of_kind(targets: Sequence[Target], kind: str) -> list[Target]:
    return [target for target in targets if target.kind == kind]


def _remark(target: Target, language: Language) -> str:
    return target.note(language) if target.is_comparable else f"{word('unlike', language)}: {target.note(language)}"


def _baseline_rows(baseline: Target, recipe: Recipe, column: Column, score: float, language: Language) -> list[Row]:
    return [
        (baseline.label(language), _round_figure(recipe, column, baseline.value)),
        (word("percent", language), f"{change_percent(score, baseline.value):+.2f}%"),
        (word("note", language), _remark(baseline, language)),
    ]


def _milestone_rows(
    milestones: Sequence[float], recipe: Recipe, column: Column, score: float, language: Language
) -> list[Row]:
    places = _places(milestones, recipe, column)
    shown = {value: _round_figure(recipe, column, value, places) for value in milestones}
    rows: list[Row] = [
        (text, word("reached" if score >= value else "not_reached", language)) for value, text in shown.items()
    ]
    ahead = [value for value in milestones if score < value]
    if not ahead:
        return [*rows, (word("next", language), word("all_reached", language))]
    distance = figure(recipe, column, min(ahead) - score)
    text = word("distance", language).format(milestone=shown[min(ahead)], distance=distance)
    return [*rows, (word("next", language), text)]


def _places(milestones: Sequence[float], recipe: Recipe, column: Column) -> int:
    """The decimals that the milestones need, the same for all: 0.336, 0.366, 0.400."""
    return max(len(_round_figure(recipe, column, value).partition(".")[2]) for value in milestones)


def _round_figure(recipe: Recipe, column: Column, value: float, places: int | None = None) -> str:
    """A published number with the digits it was published with: 0.3052, not 0.3052000. Or with ``places`` decimals."""
    return f"{value * (recipe.scale if column.is_scaled else 1):{'g' if places is None else f'.{places}f'}}"
