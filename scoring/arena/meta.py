"""Which automatic metric agreed with the people of a campaign: what next year's weights can be decided by.

Over systems it is Kendall's tau-b and pairwise accuracy (``scoring.arena.meta_systems``), over items the accuracy with
calibrated ties, acc_eq (``scoring.arena.meta_items``); with intervals, and comparisons of every two metrics corrected
by Holm. Metrics share the first place of a level unless they are significantly behind the one with the highest figure.

How often 95 % intervals hold what they are of, in simulated panels (``python -m tests.benchmarks meta``): of tau over
systems 95 to 100 % with ten systems or more, but 73 to 98 % with six, least where a metric orders them all right and no
draw shows a fault; of tau over votes 87 to 100 %; of acc_eq 93 to 98 % for pairs. For rubrics it is 78 to 98 %: that
interval is of other items and not of other judges, whose harshness is not levelled there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final

import numpy as np

from scoring.arena import INSTRUMENT, meta_items, meta_systems
from scoring.arena.comparable import NoResult
from scoring.arena.meta_scores import MetricScores
from scoring.arena.meta_warnings import FEW_ITEMS, FEWEST
from scoring.arena.result import ArenaResult, rounded
from scoring.composite import COMPARED_DECIMALS
from scoring.signature import canonical_json, json_sha256
from scoring.significance.resampling import holm

FORMAT: Final = "malpan-arena-meta@1"
RESAMPLES: Final = 1000


def evaluate(result: ArenaResult, metrics: Sequence[MetricScores]) -> dict[str, Any]:
    """How far each of ``metrics`` agrees with ``result``, as JSON values, the best first.

    Systems count that people ranked and that some metric scored; a metric that lacks one of these, or gives all the
    same score, is ``skipped``. Raises ``NoResult`` for fewer than two systems.
    """
    votes, scored = result.votes, result.scored
    known = {label for metric in metrics for label in metric.systems}
    chosen = [at for at, label in enumerate(scored.systems) if label in known]
    if len(chosen) < 2:
        raise NoResult(len(chosen))
    labels = [scored.systems[at] for at in chosen]
    skipped = {each.name: reason for each in metrics if (reason := _unfit(each, labels))}
    used = [each for each in sorted(metrics, key=lambda each: each.name) if each.name not in skipped]
    level, seed = votes.settings.level, _number(votes.settings.seed)
    pairs = meta_systems.system_pairs(scored.found, chosen, result.pairs, level)
    of_systems = _of_systems(pairs, used, labels, seed, level)
    item_pairs = meta_items.item_pairs(votes, labels)
    of_items = _of_items(item_pairs, used, seed, level)
    rows = [
        {
            "name": each.name,
            "higher_is_better": each.higher_is_better,
            "systems": of_systems.rows[each.name],
            "items": of_items.rows.get(each.name),
        }
        for each in used
    ]
    rows.sort(key=_order)
    signature = _signature(result, metrics)
    tied = meta_items.tie_share(item_pairs)
    document = {
        "format": FORMAT,
        "campaign": dict(votes.campaign),
        "protocol": votes.protocol,
        "level": level,
        "numbers": {
            "systems": len(labels),
            "system_pairs": len(pairs.side),
            "decided_pairs": int(pairs.decided.sum()),
            "items": len(item_pairs.items),
            "item_pairs": len(item_pairs),
            "tie_share": tied,
            "chance": max(tied, (1 - tied) / 2),
            "votes": len(result.real),
        },
        "metrics": rows,
        "comparisons": {"systems": of_systems.comparisons, "items": of_items.comparisons},
        "skipped": [{"name": name, "reason": reason} for name, reason in sorted(skipped.items())],
        "warnings": _warnings(labels, item_pairs),
        "signature": signature,
        "signature_hash": json_sha256(signature),
    }
    found: dict[str, Any] = rounded(document)
    return found


def document_bytes(document: Mapping[str, Any]) -> bytes:
    """The published file: canonical JSON."""
    return canonical_json(document)


@dataclass(frozen=True, slots=True)
class _Level:
    """The figures at one level by metric, and the comparisons."""

    rows: Mapping[str, dict[str, Any]]
    comparisons: list[dict[str, Any]]


def _unfit(metric: MetricScores, labels: Sequence[str]) -> str:
    """Why ``metric`` is left out: a key of texts; empty if it is not."""
    values = [metric.systems.get(label, np.nan) for label in labels]
    if not np.isfinite(values).all():
        return "missing"
    return "constant" if len(set(np.round(values, COMPARED_DECIMALS).tolist())) == 1 else ""


def _of_systems(
    pairs: meta_systems.SystemPairs, used: Sequence[MetricScores], labels: Sequence[str], seed: int, level: float
) -> _Level:
    table = np.asarray([[each.sign * each.systems[label] for label in labels] for each in used], dtype=np.float64)
    if not used:
        return _Level({}, [])
    found = meta_systems.agreements(pairs, table, resamples=RESAMPLES, seed=seed, level=level)
    comparisons = _compared([each.name for each in used], meta_systems.compare(pairs, table, seed))
    values = {metric.name: each.tau.value or 0.0 for metric, each in zip(used, found, strict=True)}
    leading = _leading(values, comparisons, level)
    rows = {
        metric.name: {**asdict(each), "leads": metric.name in leading} for metric, each in zip(used, found, strict=True)
    }
    return _Level(rows, comparisons)


def _of_items(pairs: meta_items.ItemPairs, used: Sequence[MetricScores], seed: int, level: float) -> _Level:
    rows, right = {}, {}
    for metric in used:
        signed = {
            label: {item: metric.sign * value for item, value in of.items()} for label, of in metric.items.items()
        }
        given = meta_items.differences(pairs, signed)
        found = meta_items.accuracy(pairs, given, resamples=RESAMPLES, seed=seed, level=level)
        if found is not None:
            rows[metric.name] = asdict(found)
            right[metric.name] = meta_items.is_right(pairs, given, found.threshold)
    comparisons = _compared(list(right), meta_items.compare(pairs, list(right.values()), seed)) if rows else []
    leading = _leading({name: row["value"] for name, row in rows.items()}, comparisons, level)
    return _Level({name: {**row, "leads": name in leading} for name, row in rows.items()}, comparisons)


def _compared(names: Sequence[str], found: Sequence[tuple[int, int, float, float]]) -> list[dict[str, Any]]:
    """The comparisons of every two metrics, with p after Holm's correction over all of them."""
    adjusted = holm([p for *_, p in found])
    return [
        {"one": names[one], "other": names[other], "difference": difference, "p": p, "adjusted_p": corrected}
        for (one, other, difference, p), corrected in zip(found, adjusted, strict=True)
    ]


def _leading(values: Mapping[str, float], comparisons: Sequence[Mapping[str, Any]], level: float) -> set[str]:
    """The metric with the highest value, and those not significantly behind it."""
    if not values:
        return set()
    best = max(values, key=lambda name: (values[name], name))
    behind = {
        name
        for each in comparisons
        for name in (each["one"], each["other"])
        if best in (each["one"], each["other"]) and name != best and each["adjusted_p"] <= level
    }
    return set(values) - behind


def _order(row: Mapping[str, Any]) -> tuple[float, float, str]:
    tau, items = row["systems"]["tau"]["value"], row["items"]
    return (-2.0 if tau is None else tau) * -1, -(items["value"] if items else 0.0), row["name"]


def _warnings(labels: Sequence[str], pairs: meta_items.ItemPairs) -> list[str]:
    found = {"few_systems": len(labels) < FEWEST, "few_items": len(pairs.items) < FEW_ITEMS}
    return [name for name, is_so in found.items() if is_so]


def _signature(result: ArenaResult, metrics: Sequence[MetricScores]) -> dict[str, Any]:
    """What the numbers depend on."""
    return {
        "format": FORMAT,
        "instrument": INSTRUMENT,
        "result_hash": result.document()["signature_hash"],
        "scores_sha256": json_sha256([asdict(each) for each in sorted(metrics, key=lambda each: each.name)]),
        "resamples": RESAMPLES,
        "seed": result.votes.settings.seed,
    }


def _number(seed: str) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}:meta".encode()).digest()[:16], "big")
