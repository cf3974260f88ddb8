"""Recipes: which part of an answer each metric reads, and how their values become the final score.

A recipe is immutable and versioned: a changed rule is a new version with a new id. Everything here is plain Python on
texts and numbers. The web process imports this package, so it loads no analyser and no model.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import combinations
from typing import Any, Final

from scoring.errors import ScoringError
from scoring.metrics import METRICS
from scoring.recipes import (
    annotated,
    captioning,
    captioning_rich,
    culture_qa,
    essay_half_even,
    essay_scoring,
    generation,
    labels,
    rag_qa,
)
from scoring.recipes.base import (
    Aggregate,
    AnswerForm,
    Column,
    Layout,
    MismatchedFiles,
    Pairs,
    Recipe,
)
from scoring.recipes.judged import RUBRICS, NotJudged, judged, judged_id, parts_of, takes_a_judge
from scoring.recipes.warning_texts import ORGANISER_CODES, warning_text
from scoring.records import Items, ScoreWarning
from scoring.registry import Registry, require

__all__ = [
    "ORGANISER_CODES",
    "RECIPES",
    "RUBRICS",
    "Aggregate",
    "AnswerForm",
    "Column",
    "Layout",
    "MismatchedFiles",
    "Pairs",
    "Recipe",
    "UnknownRecipe",
    "get_recipe",
    "judged_id",
    "judged_versions",
    "parts_of",
    "reads_media",
    "reads_synonyms",
    "takes_a_judge",
    "task_hints",
    "warning_text",
]

_ID: Final = re.compile("[a-z][a-z0-9-]*@[0-9]+")


class UnknownRecipe(ScoringError):
    """No recipe has this id."""

    def __init__(self, recipe_id: str) -> None:
        self.recipe_id = recipe_id
        super().__init__(f"unknown recipe {recipe_id!r}; known: {', '.join(RECIPES)}")


def get_recipe(recipe_id: str) -> Recipe:
    """The recipe with this id: ``rag-qa@1``, or ``rag-qa@1+fluency`` with a judge beside it (``recipes.judged``).

    Raises ``UnknownRecipe`` and ``PluginFault``.
    """
    base, rubrics = parts_of(recipe_id)
    try:
        return judged(RECIPES[base], rubrics) if rubrics else RECIPES[base]
    except (KeyError, NotJudged):
        raise UnknownRecipe(recipe_id) from None


def judged_versions(recipe: Recipe) -> list[Recipe]:
    """``recipe`` with each choice of rubrics for a judge; none where its answers are no texts."""
    if not takes_a_judge(recipe):
        return []
    names = tuple(RUBRICS)
    return [judged(recipe, chosen) for size in range(1, len(names) + 1) for chosen in combinations(names, size)]


def task_hints(recipe: Recipe, *files: Items) -> list[ScoreWarning]:
    """A warning if question types in ``files`` are those of another recipe, which this one would not tell apart.

    A recipe with question types of its own refuses others.
    """
    found = {item.question_type for file in files for item in file.items if item.question_type}
    if not found or recipe.question_types or recipe.answer_form != "answers":
        return []
    other = next((each for each in RECIPES.values() if found <= set(each.question_types)), None)
    types = ", ".join(sorted(found))
    return [ScoreWarning("other_task", {"types": types, "recipe": other.id, "here": recipe.id})] if other else []


def reads_media(recipe: Recipe) -> bool:
    """Whether a metric of the recipe reads frames."""
    return any(METRICS[metric].needs_media for metric in (*recipe.metrics, *recipe.optional_metrics))


def reads_synonyms(recipe: Recipe) -> bool:
    """Whether a metric of the recipe looks words up in a table of synonyms."""
    return any(METRICS[metric].needs_synonyms for metric in (*recipe.metrics, *recipe.optional_metrics))


def _built_in() -> Mapping[str, Recipe]:
    """The recipes of this package by id, in the order of their lists on pages."""
    modules = (rag_qa, culture_qa, captioning, captioning_rich, generation, labels, annotated)
    return {recipe.id: recipe for module in (*modules, essay_scoring, essay_half_even) for recipe in module.RECIPES}


def _checked(name: str, offered: Any) -> Recipe:
    require(isinstance(offered, Recipe), "no Recipe")
    recipe: Recipe = offered
    require(_ID.fullmatch(name) and recipe.id == name, f"its id is not {name!r}, in the form name@version")
    unknown = [metric for metric in (*recipe.metrics, *recipe.optional_metrics) if metric not in METRICS]
    require(not unknown, f"no metric is called {', '.join(unknown)}")
    keys = [column.key for column in recipe.columns]
    main = [column.key for column in recipe.columns if column.is_main]
    require(main == ["final_score"], "its one main column is not final_score")
    require(set(recipe.tie_breaks) <= set(keys), "a tie-break has no column")
    require({component.score for component in recipe.composite} <= set(keys), "a part of its composite has no column")
    _require_directions(recipe)
    return recipe


def _require_directions(recipe: Recipe) -> None:
    """Raise ``Unfit`` unless what ranks has a direction and is ranked in it: ties are broken by the higher value."""
    ranking = [(score, True) for score in recipe.tie_breaks]
    ranking += [(component.score, component.higher_is_better) for component in recipe.composite]
    for score, by_more in ranking:
        require(score in recipe.directed_scores, f"it ranks by {score}, a column without a direction")
        require(not by_more or recipe.higher_is_better(score), f"it ranks by more of {score}, and less of it is better")
    metrics = [METRICS[name] for name in (*recipe.metrics, *recipe.optional_metrics)]
    level = {score: 0.5 for metric in metrics for score in metric.score_names}
    errors = [score for score in level if not recipe.higher_is_better(score)]
    final = recipe.final_scores(level)["final_score"]
    raising = [score for score in errors if recipe.final_scores({**level, score: 0.75})["final_score"] > final]
    require(not raising, f"more of {', '.join(raising)} raises final_score, and less of it is better")


RECIPES: Final[Registry[Recipe]] = Registry("malpan.recipes", _built_in, _checked)
