"""Scoring of one predictions file: lay out the pairs, run each metric on those it needs, add up, sign.

The engine never imports a model library. Metrics are loaded by name, and a metric loads its model only when it has a
pair to score: a submission without reasons loads none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from scoring.errors import ScoringFault
from scoring.metrics import Metric, PairProgress, load_metric
from scoring.recipes import Aggregate, Pairs, Prepared, Recipe, get_recipe
from scoring.records import AnswerFile, ItemScores, Progress, ProgressCallback, ScoreReport, ScoreWarning
from scoring.signature import build_signature, metric_signatures, signature_hash

if TYPE_CHECKING:
    from scoring.checkpoints import DeviceName, Resources

ItemValues = Mapping[str, float]
KnownValues = Mapping[tuple[str, str], ItemValues]

NEURAL_METRICS: Final = frozenset({"bertscore", "bleurt"})
PROGRESS_INTERVAL_S: Final = 0.2


class MetricFault(ScoringFault):
    """A metric returned something that is no score: too few values, or one that is not a number."""


def score(
    recipe_id: str,
    references: AnswerFile,
    predictions: AnswerFile,
    *,
    resources: Resources | None = None,
    profile: str = "demo",
    device: DeviceName = "auto",
    progress: ProgressCallback | None = None,
    known: KnownValues | None = None,
) -> ScoreReport:
    """Score ``predictions`` against ``references`` by the rule of ``recipe_id``.

    Items stand in the report in reference order; the order of the predictions file changes nothing. ``resources`` are
    the models; without them those of ``profile`` on ``device`` are used, shared by the whole process. ``known`` holds
    item values scored earlier, by (metric name, metric signature hash): they are taken as they are, and only the pairs
    of other items are scored. ``progress`` is called at the start and the end of each metric and in between at most
    five times a second.

    Raises ``UnknownRecipe``, ``MismatchedFiles``, ``ModelUnavailable`` and ``ScoringFault``.
    """
    recipe = get_recipe(recipe_id)
    prepared = recipe.prepare(references, predictions)
    if resources is None and needs_models(recipe):
        from scoring.checkpoints import shared_resources

        resources = shared_resources(profile, device)
    metrics = {name: load_metric(name, resources) for name in recipe.metrics}
    implementations = {name: metric.signature() for name, metric in metrics.items()}
    signature = build_signature(recipe, references, implementations, _about(recipe, resources))
    hashes = metric_signatures(signature)
    values = {
        name: _score_items(metric, prepared.pairs[name], (known or {}).get((name, hashes[name]), {}), progress)
        for name, metric in metrics.items()
    }
    aggregate = recipe.aggregate(prepared, values)
    return _report(recipe, prepared, values, aggregate, signature)


def needs_models(recipe: Recipe) -> bool:
    """Whether a score by ``recipe`` is made with neural models."""
    return not NEURAL_METRICS.isdisjoint(recipe.metrics)


def _about(recipe: Recipe, resources: Resources | None) -> dict[str, Any]:
    if resources is None or not needs_models(recipe):
        return {"profile": None, "is_demo": False}
    return {"profile": resources.profile.name, "is_demo": resources.profile.is_demo}


def _report(
    recipe: Recipe,
    prepared: Prepared,
    values: Mapping[str, ItemValues],
    aggregate: Aggregate,
    signature: Mapping[str, Any],
) -> ScoreReport:
    about = signature["about"]
    demo = (ScoreWarning("demo_models", {"profile": about["profile"]}),) if about["is_demo"] else ()
    return ScoreReport(
        recipe=recipe.id,
        final_score=aggregate.scores["final_score"],
        scores=aggregate.scores,
        coverage=aggregate.coverage,
        warnings=(*demo, *aggregate.warnings),
        items=_items(prepared, values),
        signature=signature,
        signature_hash=signature_hash(signature),
        metric_signatures=metric_signatures(signature),
    )


def _items(prepared: Prepared, values: Mapping[str, ItemValues]) -> tuple[ItemScores, ...]:
    """Each item with the values that count for it, in reference order."""
    columns = {metric: prepared.item_values(metric, values[metric]) for metric in values}
    return tuple(
        ItemScores(item, {metric: column[item] for metric, column in columns.items() if item in column})
        for item in prepared.item_ids
    )


def _score_items(
    metric: Metric, pairs: Pairs, known: ItemValues, progress: ProgressCallback | None
) -> dict[str, float]:
    """A value for every item of ``pairs``: known ones as they are, the others scored, equal pairs once."""
    wanted = {
        item: (reference, candidate)
        for item, reference, candidate in zip(pairs.ids, pairs.references, pairs.candidates, strict=True)
        if item not in known
    }
    distinct = list(dict.fromkeys(wanted.values()))
    scored = dict(zip(distinct, _run(metric, distinct, progress), strict=True)) if distinct else {}
    return {item: known[item] if item in known else scored[wanted[item]] for item in pairs.ids}


def _run(metric: Metric, pairs: Sequence[tuple[str, str]], progress: ProgressCallback | None) -> list[float]:
    """One finite value for each (reference, candidate). Raises ``MetricFault`` if the metric does not give that."""
    references = [reference for reference, _ in pairs]
    candidates = [candidate for _, candidate in pairs]
    report = _throttled(metric.name, progress)
    report(0, len(pairs))
    values = [float(value) for value in metric.score_pairs(references, candidates, report)]
    if len(values) != len(pairs):
        raise MetricFault(f"{metric.name} returned {len(values)} values for {len(pairs)} pairs")
    if not all(map(math.isfinite, values)):
        raise MetricFault(f"{metric.name} returned a value that is not a finite number")
    report(len(pairs), len(pairs))
    return values


def _throttled(stage: str, progress: ProgressCallback | None) -> PairProgress:
    """``progress`` for one stage: first and last call always and once, those between ``PROGRESS_INTERVAL_S`` apart."""
    last_call = -math.inf
    last_done = -1

    def report(done: int, total: int) -> None:
        nonlocal last_call, last_done
        is_due = done in (0, total) or time.monotonic() - last_call >= PROGRESS_INTERVAL_S
        if progress is None or done <= last_done or not is_due:
            return
        last_call, last_done = time.monotonic(), done
        progress(Progress(stage, done, total))

    return report
