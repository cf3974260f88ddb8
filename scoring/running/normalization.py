"""What NFC changed in a score: the same comparison on the texts as they are in the files, as the official scorers do.

Only metrics that compare whole texts (exact match, accuracy, label scores) are computed again: they need no analyser
and no model, and a single code point decides in them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from scoring.metrics import METRICS, Metric, Row
from scoring.recipes import Column, Recipe
from scoring.records import Items, ScoreWarning
from scoring.running.run import Scored, run_metrics
from scoring.text.answers import UnreadableAnswer


def normalization_effects(
    recipe: Recipe, metrics: Mapping[str, Metric], scored: Scored, references: Items, predictions: Items
) -> list[ScoreWarning]:
    """A warning for each score that differs, with the number of its items and the value without normalising."""
    compared = {name: metric for name, metric in metrics.items() if metric.reads_whole and not metric.is_remote}
    if not compared or not (references.normalized_ids or predictions.normalized_ids):
        return []
    try:
        layout = recipe.prepare(_as_written(references), _as_written(predictions))
        written = run_metrics(compared, layout, dict.fromkeys(compared, ""), known={})
    except UnreadableAnswer:  # label texts whose labels only NFC makes equal may be more than are allowed
        return []
    return [
        warning
        for column in recipe.columns
        for name in compared
        if column.key in METRICS[name].score_names
        for warning in _effect(recipe, column, name, _rows(scored, name), _rows(written, name))
    ]


def _as_written(file: Items) -> Items:
    return replace(file, items=tuple(item.as_written() for item in file.items))


def _rows(scored: Scored, name: str) -> Mapping[str, Row]:
    """The row of every item; for a pair metric its value alone."""
    return scored.rows.get(name) or {item: (value,) for item, value in scored.values[name].items()}


def _effect(
    recipe: Recipe, column: Column, name: str, rows: Mapping[str, Row], written: Mapping[str, Row]
) -> list[ScoreWarning]:
    aggregate, score = METRICS[name].aggregate, column.key
    differing = [item for item in rows if rows[item] != written[item]]
    changed = sum(aggregate([rows[item]])[score] != aggregate([written[item]])[score] for item in differing)
    if not changed:
        return []
    scale = recipe.scale if column.is_scaled else 1
    value, official = (scale * aggregate(list(of.values()))[score] for of in (rows, written))
    labels = {"label_ko": column.text.ko, "label_en": column.text.en}
    return [ScoreWarning("nfc_changed_score", {"count": changed, "value": value, "official": official, **labels})]
