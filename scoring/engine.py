"""Scoring of one predictions file: lay out the pairs, run each metric on those it needs, aggregate, sign.

The engine never imports a model library. Metrics are loaded by name, and a metric loads its model only when it has a
pair to score: a submission without reasons loads none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scoring.integrity import integrity_warnings
from scoring.judging.budget import MemoryLedger
from scoring.metrics import (
    METRICS,
    Metric,
    MetricOptions,
    RemoteMetric,
    Row,
    implementation_of,
    is_neural,
    load_metric,
)
from scoring.models.store import shared_store
from scoring.recipes import Aggregate, Layout, Recipe, get_recipe, task_hints
from scoring.records import Items, ItemScores, ProgressCallback, ScoreReport, ScoreWarning
from scoring.running.needs import has_judge, needs_models
from scoring.running.normalization import normalization_effects
from scoring.running.pair_values import PairValues
from scoring.running.run import KnownValues, Scored, run_metrics
from scoring.running.truncation import truncation_warnings
from scoring.signature import ABOUT, build_signature, metric_signatures, processor, signature_hash
from scoring.text.run_tokens import TEXT
from scoring.text.tokenization import tokenizer

if TYPE_CHECKING:
    from scoring.models.devices import DeviceName
    from scoring.models.store import ModelStore


def score(
    recipe_id: str,
    references: Items,
    predictions: Items,
    *,
    store: ModelStore | None = None,
    profile: str = "demo",
    device: DeviceName = "auto",
    options: MetricOptions | None = None,
    progress: ProgressCallback | None = None,
    known: KnownValues | None = None,
    pair_values: PairValues | None = None,
) -> ScoreReport:
    """Score ``predictions`` against ``references`` by the rule of ``recipe_id``.

    The report lists the items in reference order; the order of the predictions file changes nothing. ``store`` has the
    models; the default is that of ``profile`` on ``device``, shared by the whole process. ``known`` holds item values
    (or rows of statistics) scored earlier, by (metric name, metric signature hash): they are used unchanged, and only
    the pairs of other items are scored. ``pair_values`` is asked for the values of those pairs and receives the ones it
    did not have; only this thread uses it. ``progress`` is called at the start and the end of each metric (only at the
    end if all is known) and in between at most five times a second, from two threads (``scoring.running``) but never
    twice at once. An exception from it stops the scoring.

    Raises ``UnknownRecipe``, ``MismatchedFiles``, ``ModelUnavailable``, ``InvalidSynonyms`` and ``ScoringFault``.
    """
    recipe = get_recipe(recipe_id)
    layout = recipe.prepare(references, predictions)
    options = options or MetricOptions()
    if options.ledger is None:  # all judged metrics of a score share one budget
        options = replace(options, ledger=MemoryLedger())
    if store is None and (needs_models(recipe) or has_judge(recipe, profile)):
        store = shared_store(profile, device)
    names = [*recipe.metrics, *_configured(recipe, store, options)]
    metrics = {name: load_metric(name, store, options) for name in names}
    implementations = {name: implementation_of(metric) for name, metric in metrics.items()}
    signature = build_signature(recipe, references, implementations, _about(metrics, store))
    hashes = metric_signatures(signature)
    scored = run_metrics(metrics, layout, hashes, known=known or {}, pair_values=pair_values, progress=progress)
    aggregate = recipe.aggregate(layout, scored.values, scored.corpus)
    warnings = (
        *_model_warnings(recipe, metrics, store),
        *task_hints(recipe, references, predictions),
        *truncation_warnings(metrics, layout),
        *(warning for name, rows in scored.rows.items() for warning in metrics[name].warnings(list(rows.values()))),
        *_pair_warnings(metrics, layout, scored),
        *aggregate.warnings,
        *normalization_effects(recipe, metrics, scored, references, predictions),
        *integrity_warnings(recipe.answer_form, references, predictions),
    )
    signature[ABOUT] |= {**computed_with(store), **_told(metrics)}
    return _report(recipe, layout, metrics, scored, aggregate, warnings, signature)


def warm_up(recipe: Recipe) -> None:
    """Have every analyser that the metrics of ``recipe`` read do a first text: for Okt that is seconds of Java.

    For a thread beside the one that scores, which finds it done. Raises ``ScoringFault``.
    """
    for name in {METRICS[metric].reads for metric in recipe.metrics} - {TEXT}:
        tokenizer(name).tokenize("한 아이가 파란 공을 힘껏 던집니다.")


def computed_with(store: ModelStore | None) -> dict[str, Any]:
    """The machine that computed a score: kernel and threads are ``None`` if no neural metric ran."""
    of_models = {} if store is None else store.computed_with()
    return {"processor": processor(), "kernel": None, "threads": None, **of_models}


def _configured(recipe: Recipe, store: ModelStore | None, options: MetricOptions) -> list[str]:
    """The optional metrics of ``recipe`` that can run."""
    return [name for name in recipe.optional_metrics if METRICS[name].is_configured(store, options)]


def _about(metrics: Mapping[str, Metric], store: ModelStore | None) -> dict[str, Any]:
    if store is None or not any(map(is_neural, metrics)):
        return {"profile": None, "is_demo": False}
    judge = store.profile.judge if any(METRICS[name].is_remote for name in metrics) else None
    is_demo = store.profile.is_demo or (judge is not None and judge.is_demo)
    return {"profile": store.profile.name, "is_demo": is_demo}


def _model_warnings(recipe: Recipe, metrics: Mapping[str, Metric], store: ModelStore | None) -> list[ScoreWarning]:
    about = _about(metrics, store)
    neural = [name for name in metrics if is_neural(name)] if about["is_demo"] else []
    found = {"demo_judge" if METRICS[name].is_remote else "demo_models" for name in neural}
    if store is not None and not store.profile.is_demo:  # only its judge is
        found.discard("demo_models")
    warnings = [ScoreWarning(code, {"profile": about["profile"]}) for code in sorted(found)]
    missing = [METRICS[name].not_configured for name in recipe.optional_metrics if name not in metrics]
    return [*warnings, *(ScoreWarning(code) for code in missing if code is not None)]


def _pair_warnings(metrics: Mapping[str, Metric], layout: Layout, scored: Scored) -> list[ScoreWarning]:
    remote = {name: metric for name, metric in metrics.items() if isinstance(metric, RemoteMetric)}
    rows = ((metric, layout.pairs[name], scored.values[name]) for name, metric in remote.items())
    return [
        each
        for metric, of, values in rows
        for each in metric.pair_warnings(of.ids, of.references, of.candidates, values)
    ]


def _told(metrics: Mapping[str, Metric]) -> dict[str, Any]:
    """What metrics tell of their computation, by name."""
    return {name: told for name, metric in metrics.items() if (told := metric.about())}


def _report(
    recipe: Recipe,
    layout: Layout,
    metrics: Mapping[str, Metric],
    scored: Scored,
    aggregate: Aggregate,
    warnings: tuple[ScoreWarning, ...],
    signature: Mapping[str, Any],
) -> ScoreReport:
    return ScoreReport(
        recipe=recipe.id,
        final_score=aggregate.scores["final_score"],
        scores=aggregate.scores,
        coverage=aggregate.coverage,
        warnings=warnings,
        items=_items(recipe, layout, metrics, scored),
        signature=signature,
        signature_hash=signature_hash(signature),
        metric_signatures=metric_signatures(signature),
    )


def _items(recipe: Recipe, layout: Layout, metrics: Mapping[str, Metric], scored: Scored) -> tuple[ItemScores, ...]:
    """Each item with the values that count for it, in reference order."""
    columns = {
        recipe.score_name(metric): layout.item_values(metric, values) for metric, values in scored.values.items()
    }
    statistics: dict[str, dict[str, Row]] = {}
    for name, rows in scored.rows.items():
        if metrics[name].has_item_values:
            columns[recipe.score_name(name)] = {item: row[0] for item, row in rows.items()}
        else:
            statistics[name] = rows
    return tuple(
        ItemScores(
            item,
            {name: column[item] for name, column in columns.items() if item in column},
            {name: rows[item] for name, rows in statistics.items()},
        )
        for item in layout.item_ids
    )
