"""Warnings about texts that a model cuts, the same for every scoring, however much of it was known before.

Whether a text is too long depends on the text, not on the work done, so a file uploaded again gets the same warning. A
tokenizer is loaded only where a text could be too long at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, Protocol, runtime_checkable

from scoring.metrics import METRICS, Metric, is_neural, load_metric
from scoring.models.limits import Cut, most_tokens
from scoring.models.profile import TEXT_ROLES
from scoring.models.store import ModelStore
from scoring.recipes import Layout, MismatchedFiles, Pairs, Recipe
from scoring.records import Items, ScoreWarning

SPECIAL_TOKENS: Final = 3  # of a pair: [CLS] and two [SEP]


@runtime_checkable
class LimitedMetric(Protocol):
    """A pair metric whose model reads a limited number of tokens."""

    name: str

    def cut(self, references: Sequence[str], candidates: Sequence[str]) -> list[Cut]:
        """Which texts of each aligned pair the model cuts."""

    def max_length(self) -> int:
        """The most tokens that the model reads."""


def truncation_warnings(metrics: Mapping[str, Metric], layout: Layout) -> list[ScoreWarning]:
    """One warning for each metric with texts that its model cuts. Raises ``ModelUnavailable``."""
    warnings = []
    tokens: dict[str, int] = {}  # most that any tokenizer makes of a text
    for name, metric in metrics.items():
        if isinstance(metric, LimitedMetric) and len(layout.pairs[name]):
            references, candidates = _count(metric, layout.pairs[name], tokens)
            if references or candidates:
                params = {"references": references, "candidates": candidates, "limit": metric.max_length()}
                warnings.append(ScoreWarning(f"{name}_truncated", params))
    return warnings


def foreseen_warnings(recipe: Recipe, references: Items | None, predictions: Items, profile: str) -> list[ScoreWarning]:
    """What ``truncation_warnings`` will return for this file with the models of ``profile``, before any scoring.

    Without ``references`` only answers that are too long alone count. A tokenizer, and with it a model library, is
    loaded only if a text could be too long. Raises ``ModelUnavailable`` if a model of the profile is not here.
    """
    store = ModelStore(profile, "cpu")
    if not any(map(is_neural, recipe.metrics)):
        return []
    try:
        layout = recipe.prepare(references or predictions, predictions)
        pairs = {name: layout.pairs[name] for name in recipe.metrics if is_neural(name)}
        if references is None:
            pairs = {name: replace(of, references=(("",),) * len(of)) for name, of in pairs.items()}
        roles = {name: METRICS[name].model for name in pairs}
        limits = {name: store.text_limit(role) for name, role in roles.items() if role in TEXT_ROLES}
        long = [name for name, limit in limits.items() if _long_rows(pairs[name], limit, {})]
        return truncation_warnings({name: load_metric(name, store) for name in long}, replace(layout, pairs=pairs))
    except MismatchedFiles:  # without references a file may not say which items have a reason
        return []


def _count(metric: LimitedMetric, pairs: Pairs, tokens: dict[str, int]) -> tuple[int, int]:
    """Numbers of (reference texts, candidates) that are cut; a candidate counts once for its item."""
    rows = _long_rows(pairs, metric.max_length(), tokens)
    if not rows:
        return 0, 0
    cut = metric.cut([reference for _, reference, _ in rows], [candidate for _, _, candidate in rows])
    places = {place for (place, _, _), of_pair in zip(rows, cut, strict=True) if of_pair.candidate}
    return sum(of_pair.reference for of_pair in cut), len(places)


def _long_rows(pairs: Pairs, limit: int, tokens: dict[str, int]) -> list[tuple[int, str, str]]:
    """(index of the item, reference, candidate) of every pair that could be too long for ``limit`` tokens.

    ``tokens`` has the bound of ``most_tokens`` for texts met before, and receives those of the others.
    """
    texts = {*pairs.candidates, *(text for references in pairs.references for text in references)}
    tokens |= {text: most_tokens(text) for text in texts - tokens.keys()}
    return [
        (place, reference, candidate)
        for place, (references, candidate) in enumerate(zip(pairs.references, pairs.candidates, strict=True))
        for reference in references
        if tokens[reference] + tokens[candidate] + SPECIAL_TOKENS > limit
    ]
