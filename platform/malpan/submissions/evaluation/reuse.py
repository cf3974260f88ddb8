"""Item values of earlier scorings that are valid for other references: a rescoring computes only changes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from malpan.competitions.models import ReferenceVersion
from malpan.competitions.references import load_references, recipe_named
from malpan.core.errors import DomainError
from malpan.submissions.evaluation.results import serves
from malpan.submissions.models import MetricResult, ScoringRun
from scoring.errors import InvalidFile, ScoringError
from scoring.metrics import METRICS, is_corpus_metric
from scoring.reading import read_predictions
from scoring.recipes import Pairs, Recipe
from scoring.records import Item, Items

FILLABLE_FORMS: Final = frozenset({"answers", "captions", "essays"})  # an empty answer is allowed in them; it scores 0

Input = tuple[tuple[str, ...], str]  # a pair metric's input for an item: its references and the candidate
Values = dict[tuple[str, str], dict[str, float]]


def reusable_values(run: ScoringRun, references: Items, predictions: Items) -> Values:
    """Item values by (metric, metric signature) from other reference versions that are valid here too. A value is valid
    if a pair metric gets exactly the same texts for the item: an additional alternative of the answer does not change
    its reason. Corpus metrics see all items at once and are never reused. See ``results.serves``.
    """
    recipe = recipe_named(run.recipe)
    metrics = [name for name in _pair_metrics(recipe) if serves(run, name)]
    rows = MetricResult.objects.filter(submission=run.submission_id, metric__in=metrics)
    rows = rows.exclude(reference_version=run.reference_version_id).select_related("reference_version").order_by("pk")
    if not rows:
        return {}
    now = _inputs(recipe, references, predictions)
    then: dict[int, Mapping[str, Mapping[str, Input]]] = {}
    found: Values = defaultdict(dict)
    for row in rows:
        version = row.reference_version
        if version.pk not in then:
            then[version.pk] = _inputs_with(version, recipe, predictions)
        was, now_of_metric = then[version.pk].get(row.metric, {}), now.get(row.metric, {})
        found[row.metric, row.metric_signature] |= {
            item: value
            for item, value in row.values.items()
            if isinstance(value, int | float) and item in was and was[item] == now_of_metric.get(item)
        }
    return dict(found)


def read_answers(run: ScoringRun, data: bytes, references: Items) -> Items:
    """The answers of a stored file, for the items of ``references``, which may differ from those at the time of the
    upload.

    Answers to removed items are dropped; an added item has an empty answer. Raises ``InvalidFile`` if the file fits no
    version of its phase.
    """
    recipe = recipe_named(run.recipe)
    try:
        return read_predictions(data, recipe, references)
    except InvalidFile:
        others = ReferenceVersion.objects.filter(phase=run.reference_version.phase_id)
        for version in others.exclude(pk=run.reference_version_id).order_by("-number"):
            try:
                taken = read_predictions(data, recipe, load_references(version, run.recipe))
            except (InvalidFile, DomainError):
                continue
            if recipe.answer_form in FILLABLE_FORMS or unanswered(references, taken) == 0:
                return fitted(taken, references, recipe)
        raise


def unanswered(references: Items, taken: Items) -> int:
    """The number of items of ``references`` that ``taken`` does not contain."""
    return len(references.by_id().keys() - taken.by_id().keys())


def fitted(taken: Items, references: Items, recipe: Recipe) -> Items:
    """``taken`` with exactly the items of ``references``, in their order; missing captions stay missing."""
    given = taken.by_id()
    skips = recipe.answer_form == "captions"
    answers = tuple(
        replace(given[item.id], question_type=item.question_type)
        if item.id in given
        else Item(item.id, "", 0, item.question_type)
        for item in references.items
        if item.id in given or not skips
    )
    return replace(taken, items=answers)


def _pair_metrics(recipe: Recipe) -> list[str]:
    names = (*recipe.metrics, *recipe.optional_metrics)
    return [name for name in names if name in METRICS and not is_corpus_metric(name)]


def _inputs(recipe: Recipe, references: Items, predictions: Items) -> dict[str, dict[str, Input]]:
    pairs = recipe.prepare(references, predictions).pairs
    return {metric: _by_item(pairs[metric]) for metric in _pair_metrics(recipe) if metric in pairs}


def _by_item(pairs: Pairs) -> dict[str, Input]:
    rows = zip(pairs.ids, pairs.references, pairs.candidates, strict=True)
    return {item: (references, candidate) for item, references, candidate in rows}


def _inputs_with(version: ReferenceVersion, recipe: Recipe, predictions: Items) -> Mapping[str, Mapping[str, Input]]:
    """The inputs of the metrics with ``version``; empty if they can no longer be read."""
    try:
        references = load_references(version, recipe.id)
        return _inputs(recipe, references, fitted(predictions, references, recipe))
    except (ScoringError, DomainError):
        return {}
