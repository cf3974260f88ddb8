"""Values of pairs computed ahead of a score, a slice of its items at a time, into a store of pair values.

The score of a large file finds them in the same store; missing values it computes itself. So whether a slice was
computed, where, how often or in which order changes only the time, and the last bits: a model's value of a pair may
differ by 1e-7 with the other pairs of its batch. Each slice is computed as if it were alone in its process, so that the
same slices give the same bits on one kind of machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from scoring.metrics import METRICS, Metric, MetricOptions, PairMetric, RemoteMetric, implementation_of, load_metric
from scoring.models.store import shared_store
from scoring.recipes import Layout, Pairs, Recipe, get_recipe
from scoring.records import Items, ProgressCallback
from scoring.running.needs import has_judge, needs_models
from scoring.running.pair_values import Pair, PairValues
from scoring.running.run import KnownOfMetric, KnownValues, answers_in, run_metrics
from scoring.signature import json_sha256, metric_signature

if TYPE_CHECKING:
    from scoring.models.devices import DeviceName
    from scoring.models.store import ModelStore


@dataclass(frozen=True, slots=True)
class PairWork:
    """The work of the pair metrics of a recipe for a file. ``hashes`` are those of the metrics' signatures."""

    metrics: dict[str, Metric]
    hashes: dict[str, str]
    layout: Layout
    store: ModelStore | None


def pair_work(
    recipe_id: str,
    references: Items,
    predictions: Items,
    *,
    store: ModelStore | None = None,
    profile: str = "demo",
    device: DeviceName = "auto",
    options: MetricOptions | None = None,
    only_remote: bool = False,
) -> PairWork:
    """The work of the pair metrics of ``recipe_id``, except the cheap ones. Loads no model.

    ``only_remote``: only of those that a server computes, where a store keeps no other values. Raises
    ``UnknownRecipe``, ``MismatchedFiles`` and ``ModelUnavailable``.
    """
    recipe = get_recipe(recipe_id)
    options = options or MetricOptions()
    if store is None and (needs_models(recipe) or has_judge(recipe, profile)):
        store = shared_store(profile, device)
    optional = [name for name in recipe.optional_metrics if METRICS[name].is_configured(store, options)]
    names = [name for name in (*recipe.metrics, *optional) if issubclass(METRICS[name], PairMetric)]
    wanted = [name for name in names if METRICS[name].is_remote or not (only_remote or METRICS[name].is_cheap)]
    metrics = {name: load_metric(name, store, options) for name in wanted}
    return PairWork(metrics, _hashes(recipe, metrics), recipe.prepare(references, predictions), store)


def missing_items(work: PairWork, *, known: KnownValues, pair_values: PairValues) -> set[str]:
    """The items with a pair to compute: the item value is not ``known``, and a pair's value is not stored."""
    missing: set[str] = set()
    for name, metric in work.metrics.items():
        rows = _rows_of(metric, work.layout.pairs[name], known.get((name, work.hashes[name]), {}))
        found = pair_values.get(name, work.hashes[name], _distinct(rows))
        missing.update(item for item, of_item in rows if any(pair not in found for pair in of_item))
    return missing


def precompute(
    work: PairWork, *, known: KnownValues, pair_values: PairValues, progress: ProgressCallback | None = None
) -> None:
    """Compute the values of ``missing_items`` and put them into ``pair_values``. Raises what ``run_metrics`` raises."""
    with _without_cached_references(work.store if "bertscore" in work.metrics else None):
        run_metrics(work.metrics, work.layout, work.hashes, known=known, pair_values=pair_values, progress=progress)


def _hashes(recipe: Recipe, metrics: dict[str, Metric]) -> dict[str, str]:
    """The signature hash of each metric by name, as in a report of the engine."""
    implementations = {name: implementation_of(metric) for name, metric in metrics.items()}
    return {name: json_sha256(metric_signature(recipe, name, of)) for name, of in implementations.items()}


def _rows_of(metric: Metric, pairs: Pairs, known: KnownOfMetric) -> list[tuple[str, list[Pair]]]:
    """The pairs of each item whose values are not ``known``; without those that a server is never asked about."""
    remote = metric if isinstance(metric, RemoteMetric) else None
    known = known if remote is None else answers_in(remote, known)
    return [
        (item, [(each, text) for each in references if remote is None or remote.value_unasked(each, text) is None])
        for item, references, text in zip(pairs.ids, pairs.references, pairs.candidates, strict=True)
        if item not in known
    ]


def _distinct(rows: Sequence[tuple[str, Sequence[Pair]]]) -> list[Pair]:
    return list(dict.fromkeys(pair for _item, of_item in rows for pair in of_item))


@contextmanager
def _without_cached_references(store: ModelStore | None) -> Iterator[None]:
    """Inside, BERTScore uses no embeddings of references from before, and keeps none of these afterwards.

    An embedding made in another batch differs in its last bits, and a large file would evict those of the usual
    references.
    """
    if store is None:
        yield
        return
    from scoring.models.cache import EmbeddingCache

    encoder = store.bertscore
    kept, encoder.references = encoder.references, EmbeddingCache(encoder.references.max_bytes)
    try:
        yield
    finally:
        encoder.references = kept
