"""The scores of a result by kinds of items: question type, category, domain, length of the question.

What is told is of the items of the split that the reader sees, and never of few: kinds with less than ``FEWEST`` values
of some metric are taken together, and where that is still too few, the next smallest kind with them, so that nothing
follows from the mean of all either. How many items of a kind are public is told with that; which ones is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import fsum
from typing import Any, Final

from malpan.competitions.errors import UnknownTrackRecipe
from malpan.competitions.models import ReferenceVersion
from malpan.competitions.references import load_references
from malpan.core.errors import SystemFault
from malpan.submissions.manage_selectors import item_values
from malpan.submissions.models import ScoringRun
from malpan.submissions.visibility import ShownRun
from scoring.reading.shown import TYPE, type_of

FEWEST: Final = 10  # values in a cell
KEPT: Final = 32  # reference versions, of which the kinds of items are known: about 100 KB each of 1,000 items
MOST: Final = 30  # kinds of a dimension: with more, it sorts nothing
LENGTHS: Final = 3
LABELS: Final = ("category", "domain")  # of the input
REST: Final = ""  # the name of the kinds that are taken together

Kinds = Mapping[str, str]  # by item


@dataclass(frozen=True, slots=True)
class Group:
    """The mean values (0-1) of ``count`` items of a kind by metric; ``None`` where no item has one."""

    name: str
    count: int
    means: Sequence[float | None]


@dataclass(frozen=True, slots=True)
class Breakdown:
    """One dimension (``type``, ``category``, ``domain``, ``length``) with its groups, the largest first."""

    dimension: str
    metrics: Sequence[str]
    groups: Sequence[Group]


def shown_breakdowns(run: ScoringRun | None, shown: ShownRun) -> list[Breakdown]:
    """``breakdowns_of`` for whoever sees ``shown`` of ``run``: none of scores that are withheld or rounded."""
    is_scored = shown.state == ScoringRun.State.FINISHED and not shown.is_score_hidden
    return breakdowns_of(run) if run is not None and is_scored and shown.is_exact else []


def breakdowns_of(run: ScoringRun) -> list[Breakdown]:
    """Of the public scores of ``run``, for readers who see those with every digit; empty where the questions say
    nothing of their kinds, or the references cannot be read now. One query. Needs its reference version.
    """
    try:
        dimensions = kinds_of(run.reference_version, run.recipe)
    except (SystemFault, UnknownTrackRecipe):
        return []
    if not dimensions:
        return []
    metrics, items = item_values(run, with_private=False)
    values = {item.id: item.values for item in items}
    metrics = [name for name in metrics if sum(name in each for each in values.values()) >= FEWEST]
    found = (broken_down(name, kinds, metrics, values) for name, kinds in dimensions.items())
    return [each for each in found if each is not None]


def kinds_of(version: ReferenceVersion, recipe_id: str) -> Mapping[str, Kinds]:
    """What kind each item of ``version`` is, by dimension; dimensions of one kind, or of too many, are left out."""
    return _kinds(version.file_sha256, recipe_id, version)


@lru_cache(KEPT)
def _kinds(_sha256: str, recipe_id: str, version: ReferenceVersion) -> dict[str, dict[str, str]]:
    references = load_references(version, recipe_id).items
    by_dimension: dict[str, dict[str, str]] = {"type": {each.id: type_of(each) for each in references}}
    for label in LABELS:
        by_dimension[label] = {each.id: _label(each.input, label) for each in references}
    by_dimension["length"] = _lengths({each.id: _length(each.input) for each in references})
    return {
        name: kinds
        for name, kinds in by_dimension.items()
        if all(kinds.values()) and 2 <= len(set(kinds.values())) <= MOST
    }


def _label(asked: Mapping[str, Any], name: str) -> str:
    value = asked.get(name)
    return value.strip() if isinstance(value, str) else ""


def _length(asked: Mapping[str, Any]) -> int:
    """Characters of what an item asks."""
    return sum(len(value) for name, value in asked.items() if name not in (TYPE, *LABELS) and isinstance(value, str))


def _lengths(lengths: Mapping[str, int]) -> dict[str, str]:
    """Three kinds of as many items each, named by their ends: ``12–80``; of equal lengths one."""
    ordered = sorted(lengths.values())
    if not ordered or not ordered[-1]:
        return dict.fromkeys(lengths, "")
    ends = [ordered[-(-len(ordered) * part // LENGTHS) - 1] for part in range(1, LENGTHS + 1)]
    named, low = {}, ordered[0]
    for end in dict.fromkeys(ends):
        named[end] = f"{low}–{end}"
        low = end + 1
    return {item: named[next(end for end in ends if length <= end)] for item, length in lengths.items()}


def broken_down(
    dimension: str, kinds: Kinds, metrics: Sequence[str], values: Mapping[str, Mapping[str, float]]
) -> Breakdown | None:
    """The groups of ``values`` by item and metric; ``None`` where fewer than two groups are large enough to be told."""
    items: dict[str, list[Mapping[str, float]]] = defaultdict(list)
    for item, of_item in values.items():
        if item in kinds:
            items[kinds[item]].append(of_item)
    named = _merged(items, metrics)
    if len(named) < 2:
        return None
    groups = [Group(name, len(rows), [_mean(rows, metric) for metric in metrics]) for name, rows in named.items()]
    return Breakdown(dimension, metrics, sorted(groups, key=lambda group: (group.name == REST, -group.count)))


def _merged(
    items: Mapping[str, list[Mapping[str, float]]], metrics: Sequence[str]
) -> dict[str, list[Mapping[str, float]]]:
    """The kinds, those that are too small taken together as ``REST``."""
    kept = dict(sorted(items.items(), key=lambda pair: (_smallest(pair[1], metrics), pair[0])))
    rest: list[Mapping[str, float]] = []
    while kept:
        name, rows = next(iter(kept.items()))
        if _is_large(rows, metrics) and (not rest or _is_large(rest, metrics)):
            break
        rest += kept.pop(name)
    return {**kept, REST: rest} if rest and _is_large(rest, metrics) else {} if rest else kept


def _is_large(rows: Sequence[Mapping[str, float]], metrics: Sequence[str]) -> bool:
    return _smallest(rows, metrics) >= FEWEST


def _smallest(rows: Sequence[Mapping[str, float]], metrics: Sequence[str]) -> int:
    """The fewest values that some metric has among ``rows``, of those that have any; the rows themselves count too."""
    return min(filter(None, (len(rows), *_counts(rows, metrics))), default=0)


def _counts(rows: Sequence[Mapping[str, float]], metrics: Sequence[str]) -> Iterable[int]:
    return (sum(metric in row for row in rows) for metric in metrics)


def _mean(rows: Sequence[Mapping[str, float]], metric: str) -> float | None:
    found = [row[metric] for row in rows if metric in row]
    return fsum(found) / len(found) if found else None
