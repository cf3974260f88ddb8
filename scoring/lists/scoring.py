"""``scoring.score``: lists of texts instead of files, by the same metrics and the same run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scoring.lists.arguments import read_lists
from scoring.lists.choosing import TokensOf, checked_names, chosen_metrics, store_of
from scoring.lists.lines import metric_line
from scoring.lists.recipe import Lists, recipe_of
from scoring.lists.result import Scores
from scoring.metrics import METRICS, Metric, MetricOptions, implementation_of
from scoring.recipes import Layout
from scoring.records import Items, ItemScores, ProgressCallback, ScoreWarning
from scoring.running.run import Scored, run_metrics
from scoring.running.truncation import truncation_warnings
from scoring.signature import build_signature, metric_signatures, signature_hash

if TYPE_CHECKING:
    from scoring.models.devices import DeviceName
    from scoring.models.store import ModelStore


def score(
    predictions: Sequence[str],
    references: Sequence[str] | Sequence[Sequence[str]],
    metrics: Sequence[str],
    *,
    tokenize: str | TokensOf | None = None,
    models: str | Path | None = None,
    device: DeviceName = "auto",
    synonyms: str | Path | None = None,
    media: str | Path | None = None,
    ids: Sequence[str] | None = None,
    progress: ProgressCallback | None = None,
) -> Scores:
    """Score each of ``predictions`` against its reference, or its list of references, by each of ``metrics``.

    The values are those of the site and of ``malpan-score`` for the same texts (``scoring.lists.recipe``).

    ``metrics`` are names (``scoring.metric_names()``). ``tokenize`` takes the place of the tokenizer of metrics on
    tokens: the name of one (``mecab-ko``, ``okt``, a plug-in's) or a function from a text to its tokens. ``models`` is
    the profile of neural metrics, by name or path; there is no default. ``synonyms`` is METEOR's table, ``media`` the
    frames of CLIPScore, whose names are ``ids``.

    Raises ``WrongArgument``, ``ExtraMissing``, ``ModelUnavailable`` and ``ScoringFault``.
    """
    options = MetricOptions(synonyms=_path(synonyms), media=_path(media))
    given, known = read_lists(predictions, references, ids)
    names = checked_names(metrics, options)
    store = store_of(names, models, device)
    chosen = chosen_metrics(names, tokenize=tokenize, options=options, store=store)
    return _scored(recipe_of(names), chosen, known, given, store, progress)


def _scored(
    recipe: Lists,
    metrics: Mapping[str, Metric],
    references: Items,
    predictions: Items,
    store: ModelStore | None,
    progress: ProgressCallback | None,
) -> Scores:
    layout = recipe.prepare(references, predictions)
    implementations = {name: implementation_of(metric) for name, metric in metrics.items()}
    signature = build_signature(recipe, references, implementations, _about(store))
    hashes = metric_signatures(signature)
    scored = run_metrics(metrics, layout, hashes, known={}, progress=progress)
    counts = [len(item.texts) for item in references.items]
    span = (min(counts), max(counts))
    return Scores(
        scores=_named(recipe, metrics, layout, scored),
        items=_items(recipe, metrics, layout, scored),
        warnings=(
            *_demo_warning(store),
            *truncation_warnings(metrics, layout),
            *_told(metrics, scored),
            *layout.warnings,
        ),
        signature=signature,
        signature_hash=signature_hash(signature),
        metric_signatures=hashes,
        signature_lines={name: metric_line(name, part, span) for name, part in signature["metrics"].items()},
    )


def _named(recipe: Lists, metrics: Mapping[str, Metric], layout: Layout, scored: Scored) -> dict[str, float]:
    """The scores by name. One that several of the metrics have (ROUGE-1 on two tokenizers) is named for its metric."""
    found: dict[str, float] = {}
    shared = [name for metric in metrics.values() for name in metric.score_names]
    for name, metric in metrics.items():
        if name in scored.values:
            own = METRICS[name].aggregate([(scored.values[name][item],) for item in layout.pairs[name].ids])
        else:
            own = {each: scored.corpus[each] for each in metric.reported()}
        is_clear = len(own) > 1 or all(shared.count(each) == 1 for each in own)
        found |= own if is_clear else dict.fromkeys((name,), next(iter(own.values())))
    return found


def _items(recipe: Lists, metrics: Mapping[str, Metric], layout: Layout, scored: Scored) -> tuple[ItemScores, ...]:
    columns: dict[str, Mapping[str, float]] = dict(scored.values)
    for name, rows in scored.rows.items():
        if metrics[name].has_item_values:
            columns[name] = {item: row[0] for item, row in rows.items()}
    return tuple(
        ItemScores(
            item,
            {name: columns[name][item] for name in metrics if name in columns},
            {name: rows[item] for name, rows in scored.rows.items() if not metrics[name].has_item_values},
        )
        for item in layout.item_ids
    )


def _about(store: ModelStore | None) -> dict[str, Any]:
    profile = store and store.profile
    return {"profile": profile and profile.name, "is_demo": bool(profile and profile.is_demo)}


def _demo_warning(store: ModelStore | None) -> list[ScoreWarning]:
    is_demo = store is not None and store.profile.is_demo
    return [ScoreWarning("demo_models", {"profile": store.profile.name})] if store is not None and is_demo else []


def _told(metrics: Mapping[str, Metric], scored: Scored) -> list[ScoreWarning]:
    return [each for name, rows in scored.rows.items() for each in metrics[name].warnings(list(rows.values()))]


def _path(given: str | Path | None) -> Path | None:
    return None if given is None else Path(given)
