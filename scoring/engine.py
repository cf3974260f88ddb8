"""Scoring of one predictions file: lay out the pairs, run each metric on those it needs, add up, sign.

The engine never imports a model library. Metrics are loaded by name, and a metric loads its model only when it has a
pair to score: a submission without reasons loads none.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from scoring.errors import ScoringFault
from scoring.integrity import integrity_warnings
from scoring.metrics import (
    CorpusMetric,
    Metric,
    MetricOptions,
    PairMetric,
    PairProgress,
    Row,
    load_metric,
)
from scoring.recipes import Aggregate, Pairs, Prepared, Recipe, get_recipe
from scoring.records import AnswerFile, ItemScores, Progress, ProgressCallback, ScoreReport, ScoreWarning
from scoring.signature import build_signature, metric_signatures, signature_hash

if TYPE_CHECKING:
    from scoring.checkpoints import DeviceName, Resources

ItemValues = Mapping[str, float]
KnownValues = Mapping[tuple[str, str], Mapping[str, float | Sequence[float]]]

NEURAL_METRICS: Final = frozenset({"bertscore", "bleurt", "clipscore"})
PROGRESS_INTERVAL_S: Final = 0.2


class MetricFault(ScoringFault):
    """A metric returned something that is no score: too few values, or one that is not a number."""


@dataclass(slots=True)
class _Scored:
    """What the metrics gave: item values, rows of statistics and corpus scores."""

    values: dict[str, dict[str, float]] = field(default_factory=dict)  # pair metric -> item -> value
    rows: dict[str, dict[str, Row]] = field(default_factory=dict)  # corpus metric -> item -> its row
    corpus: dict[str, float] = field(default_factory=dict)  # score name -> value


def score(
    recipe_id: str,
    references: AnswerFile,
    predictions: AnswerFile,
    *,
    resources: Resources | None = None,
    profile: str = "demo",
    device: DeviceName = "auto",
    options: MetricOptions | None = None,
    progress: ProgressCallback | None = None,
    known: KnownValues | None = None,
) -> ScoreReport:
    """Score ``predictions`` against ``references`` by the rule of ``recipe_id``.

    Items stand in the report in reference order; the order of the predictions file changes nothing. ``resources`` are
    the models; without them those of ``profile`` on ``device`` are used, shared by the whole process. ``known`` holds
    item values (or rows of statistics) scored earlier, by (metric name, metric signature hash): they are taken as they
    are, and only the pairs of other items are scored. ``progress`` is called at the start and the end of each metric
    and in between at most five times a second.

    Raises ``UnknownRecipe``, ``MismatchedFiles``, ``ModelUnavailable``, ``InvalidSynonyms`` and ``ScoringFault``.
    """
    recipe = get_recipe(recipe_id)
    prepared = recipe.prepare(references, predictions)
    options = options or MetricOptions()
    if resources is None and needs_models(recipe):
        from scoring.checkpoints import shared_resources

        resources = shared_resources(profile, device)
    names = [*recipe.metrics, *_configured(recipe, resources, options)]
    metrics = {name: load_metric(name, resources, options) for name in names}
    implementations = {name: metric.signature() for name, metric in metrics.items()}
    signature = build_signature(recipe, references, implementations, _about(recipe, resources))
    scored = _run_all(metrics, prepared, metric_signatures(signature), known or {}, progress)
    aggregate = recipe.aggregate(prepared, scored.values, scored.corpus)
    warnings = (
        *_model_warnings(recipe, metrics, signature),
        *_truncation_warning(scored),
        *aggregate.warnings,
        *integrity_warnings(recipe.answer_form, references, predictions),
    )
    return _report(recipe, prepared, metrics, scored, aggregate, warnings, signature)


def needs_models(recipe: Recipe) -> bool:
    """Whether a score by ``recipe`` is made with neural models."""
    return not NEURAL_METRICS.isdisjoint(recipe.metrics)


def _configured(recipe: Recipe, resources: Resources | None, options: MetricOptions) -> list[str]:
    """The optional metrics of ``recipe`` that can run: CLIPScore needs a model and the frames of the items."""
    has_clip = resources is not None and resources.profile.clip is not None and options.media is not None
    return [name for name in recipe.optional_metrics if name != "clipscore" or has_clip]


def _about(recipe: Recipe, resources: Resources | None) -> dict[str, Any]:
    if resources is None or not needs_models(recipe):
        return {"profile": None, "is_demo": False}
    return {"profile": resources.profile.name, "is_demo": resources.profile.is_demo}


def _model_warnings(recipe: Recipe, metrics: Mapping[str, Metric], signature: Mapping[str, Any]) -> list[ScoreWarning]:
    about = signature["about"]
    warnings = [ScoreWarning("demo_models", {"profile": about["profile"]})] if about["is_demo"] else []
    if "clipscore" in recipe.optional_metrics and "clipscore" not in metrics:
        warnings.append(ScoreWarning("clip_not_configured"))
    return warnings


def _truncation_warning(scored: _Scored) -> list[ScoreWarning]:
    """How many captions the CLIP model saw only the beginning of."""
    count = round(scored.corpus.get("clip_truncated", 0.0) * len(scored.rows.get("clipscore", {})))
    return [ScoreWarning("clip_truncated", {"count": count})] if count else []


def _report(
    recipe: Recipe,
    prepared: Prepared,
    metrics: Mapping[str, Metric],
    scored: _Scored,
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
        items=_items(recipe, prepared, metrics, scored),
        signature=signature,
        signature_hash=signature_hash(signature),
        metric_signatures=metric_signatures(signature),
    )


def _items(
    recipe: Recipe, prepared: Prepared, metrics: Mapping[str, Metric], scored: _Scored
) -> tuple[ItemScores, ...]:
    """Each item with the values that count for it, in reference order."""
    columns = {
        recipe.score_name(metric): prepared.item_values(metric, values) for metric, values in scored.values.items()
    }
    statistics: dict[str, dict[str, Row]] = {}
    for name, rows in scored.rows.items():
        metric = metrics[name]
        if isinstance(metric, CorpusMetric) and metric.has_item_values:
            columns[recipe.score_name(name)] = {item: row[0] for item, row in rows.items()}
        else:
            statistics[name] = rows
    return tuple(
        ItemScores(
            item,
            {name: column[item] for name, column in columns.items() if item in column},
            {name: rows[item] for name, rows in statistics.items()},
        )
        for item in prepared.item_ids
    )


def _run_all(
    metrics: Mapping[str, Metric],
    prepared: Prepared,
    hashes: Mapping[str, str],
    known: KnownValues,
    progress: ProgressCallback | None,
) -> _Scored:
    scored = _Scored()
    for name, metric in metrics.items():
        pairs, kept = prepared.pairs[name], known.get((name, hashes[name]), {})
        if isinstance(metric, CorpusMetric):
            rows = _rows(metric, pairs, kept, progress)
            scored.rows[name] = rows
            scored.corpus |= _checked_scores(metric, [rows[item] for item in pairs.ids])
        else:
            scored.values[name] = _score_items(metric, pairs, kept, progress)
    return scored


def _rows(
    metric: CorpusMetric, pairs: Pairs, known: Mapping[str, float | Sequence[float]], progress: ProgressCallback | None
) -> dict[str, Row]:
    """The row of every item: known ones only if they are all there, as each was made in the light of all."""
    if pairs.ids and all(item in known for item in pairs.ids):
        return {item: _as_row(known[item]) for item in pairs.ids}
    report = _throttled(metric.name, progress)
    report(0, len(pairs))
    rows = metric.statistics(pairs.ids, pairs.references, pairs.candidates, report)
    if len(rows) != len(pairs):
        raise MetricFault(f"{metric.name} returned {len(rows)} rows for {len(pairs)} items")
    if not all(math.isfinite(number) for row in rows for number in row):
        raise MetricFault(f"{metric.name} returned a number that is not finite")
    report(len(pairs), len(pairs))
    return dict(zip(pairs.ids, rows, strict=True))


def _as_row(value: float | Sequence[float]) -> Row:
    return (value,) if isinstance(value, (int, float)) else tuple(value)


def _checked_scores(metric: CorpusMetric, rows: Sequence[Row]) -> dict[str, float]:
    scores = dict(metric.aggregate(rows))
    if not all(map(math.isfinite, scores.values())):
        raise MetricFault(f"{metric.name} returned a value that is not a finite number")
    return scores


def _score_items(
    metric: PairMetric,
    pairs: Pairs,
    known: Mapping[str, float | Sequence[float]],
    progress: ProgressCallback | None,
) -> dict[str, float]:
    """A value for every item of ``pairs``: known ones as they are, the others scored, equal pairs once.

    Of several references the one with the highest value counts.
    """
    kept = {item: value for item in pairs.ids if isinstance(value := known.get(item), (int, float))}
    wanted = {
        item: [(reference, candidate) for reference in references]
        for item, references, candidate in zip(pairs.ids, pairs.references, pairs.candidates, strict=True)
        if item not in kept
    }
    distinct = list(dict.fromkeys(pair for of_item in wanted.values() for pair in of_item))
    scored = dict(zip(distinct, _run(metric, distinct, progress), strict=True)) if distinct else {}
    return {item: kept[item] if item in kept else max(scored[pair] for pair in wanted[item]) for item in pairs.ids}


def _run(metric: PairMetric, pairs: Sequence[tuple[str, str]], progress: ProgressCallback | None) -> list[float]:
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
