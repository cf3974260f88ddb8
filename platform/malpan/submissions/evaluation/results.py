"""The splits of a scoring: all items, or a public and a private split, and the item values that they share.

The value of a pair metric does not depend on other items, so it serves every split and every version of the same
reference file: no pair metric runs twice because of a split. A row of a corpus metric depends on all references of its
split and serves only that split.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from malpan.competitions.models import ReferenceVersion
from malpan.competitions.references import recipe_named
from malpan.submissions.evaluation import fresh
from malpan.submissions.models import HiddenResult, MetricResult, ScoringRun
from scoring.metrics import METRICS, RemoteMetric, is_corpus_metric
from scoring.records import Items, ScoreReport

SplitName = Literal["all", "public", "private"]
ItemValues = dict[str, Any]  # by item: a value, or a corpus metric's row
Known = dict[tuple[str, str], ItemValues]  # by (metric, metric signature)


@dataclass(frozen=True, slots=True)
class Split:
    """The references and predictions of the items of one split."""

    name: SplitName
    references: Items
    predictions: Items


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a scoring: ``shown`` of all items or of the public split, ``hidden`` of the private split."""

    shown: ScoreReport
    hidden: ScoreReport | None = None


def splits_of(
    version: ReferenceVersion, references: Items, predictions: Items, *, private_covers_all: bool
) -> list[Split]:
    """The splits to score, the largest first, so that the progress shown covers most of the work."""
    if version.public_ids is None:
        return [Split("all", references, predictions)]
    everything = {answer.id for answer in references.items}
    public = everything & set(version.public_ids)
    private = everything if private_covers_all else everything - public
    wanted: list[tuple[SplitName, set[str]]] = [("public", public), ("private", private)]
    splits = [Split(name, only(references, ids), only(predictions, ids)) for name, ids in wanted]
    return sorted(splits, key=lambda split: -len(split.references.items))


def only(file: Items, ids: set[str]) -> Items:
    """``file`` without the items that are not in ``ids``; it keeps the hash of the whole file."""
    return replace(file, items=tuple(answer for answer in file.items if answer.id in ids))


def known_values(run: ScoringRun, split: Split) -> Known:
    """Item values scored before that are valid for ``split`` of ``run`` (``serves``), by (metric, metric signature)."""
    known: Known = defaultdict(dict)
    items = {answer.id for answer in split.references.items}
    rows = MetricResult.objects.filter(
        submission=run.submission_id, reference_version__file_sha256=run.reference_version.file_sha256
    )
    for row in rows.order_by("pk"):
        if not serves(run, row.metric):
            continue
        is_own = row.reference_version_id == run.reference_version_id and row.split == split.name
        if _is_shared(row.metric) or (is_own and row.values.keys() <= items):  # otherwise it is from a larger split
            known[(row.metric, row.metric_signature)] |= row.values
    return dict(known)


def learn(known: Known, report: ScoreReport) -> None:
    """Add the values of the pair metrics of ``report`` to ``known``."""
    for (metric, signature), values in item_values(report).items():
        if _is_shared(metric):
            known[(metric, signature)] = known.get((metric, signature), {}) | values


def merged(first: Known, second: Known) -> Known:
    """The item values of both, metric by metric."""
    return {key: first.get(key, {}) | second.get(key, {}) for key in first.keys() | second.keys()}


def _is_shared(metric: str) -> bool:
    return metric in METRICS and not is_corpus_metric(metric)


def item_values(report: ScoreReport) -> Known:
    """The result of each metric of ``report`` for each item: a value, or a corpus metric's row of statistics."""
    recipe = recipe_named(report.recipe)
    return {
        (metric, signature): _values_of(report, metric, recipe.score_name(metric))
        for metric, signature in report.metric_signatures.items()
    }


def _values_of(report: ScoreReport, metric: str, score_name: str) -> ItemValues:
    values: ItemValues = {}
    for item in report.items:
        if score_name in item.scores:
            values[item.id] = item.scores[score_name]
        elif metric in item.statistics:
            values[item.id] = item.statistics[metric]
    return values


def keep(run: ScoringRun, shown: ScoreReport, hidden: ScoreReport | None) -> None:
    """Store the item values of both splits and the hidden result, in the transaction that finishes ``run``; those of a
    run from scratch apart.
    """
    splits: list[tuple[SplitName, ScoreReport]] = [("all" if hidden is None else "public", shown)]
    if hidden is not None:
        splits.append(("private", hidden))
        HiddenResult.objects.create(run=run, **result_of(hidden))
    rows = [
        MetricResult(
            submission_id=run.submission_id,
            reference_version_id=run.reference_version_id,
            split=split,
            metric=metric,
            metric_signature=signature,
            values=values,
        )
        for split, report in splits
        for (metric, signature), values in item_values(report).items()
    ]
    if is_from_scratch(run):
        fresh.keep(run, rows)
        return
    MetricResult.objects.bulk_create(rows, ignore_conflicts=True)  # an earlier one of the same signature wrote the same
    if not is_repeat(run):
        for split, report in splits:
            _keep_answers(run, split, report)


def is_repeat(run: ScoringRun) -> bool:
    """Whether ``run`` computes known values again, to show numeric noise."""
    return run.batch is not None and run.batch.repeats > 1


def is_from_scratch(run: ScoringRun) -> bool:
    """Whether ``run`` computes known values again, as they may be wrong."""
    return run.batch is not None and run.batch.is_from_scratch


def serves(run: ScoringRun, metric: str) -> bool:
    """Whether values of ``metric`` that were computed before serve ``run``: no worker computes what a judge answers."""
    return not is_repeat(run) and (not is_from_scratch(run) or (metric in METRICS and METRICS[metric].is_remote))


def _keep_answers(run: ScoringRun, split: SplitName, report: ScoreReport) -> None:
    """Write what judges answered in ``run`` where an earlier run had no answer. What one had answered stays: another
    score may have been made of it.
    """
    rows = MetricResult.objects.filter(
        submission=run.submission_id, reference_version=run.reference_version_id, split=split
    )
    for (metric, signature), values in item_values(report).items():
        kind = METRICS[metric]
        if issubclass(kind, RemoteMetric):
            for row in rows.filter(metric=metric, metric_signature=signature).select_for_update():
                answered = {item: value for item, value in row.values.items() if kind.is_answer(value)}
                if (best := row.values | values | answered) != row.values:
                    rows.filter(pk=row.pk).update(values=best)


def result_of(report: ScoreReport) -> Mapping[str, Any]:
    """The columns that a run and a hidden result have in common."""
    return {
        "final_score": report.final_score,
        "scores": dict(report.scores),
        "coverage": dict(report.coverage),
        "warnings": [{"code": each.code, "params": dict(each.params)} for each in report.warnings],
        "signature": report.signature,
        "signature_hash": report.signature_hash,
    }
