"""The public and the private split of a set of references: pure functions on ids.

The split of an item depends only on the seed, its id and its stratum, so the same references are always split in the
same way, in any order. The seed is secret: with it and the ids the public split can be computed.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

SHARE_OF = 100  # per cent


def split_ids(ids: Sequence[str], percent: int, seed: str, strata: Mapping[str, str] | None = None) -> list[str]:
    """The ids of the public split, in the order of ``ids``: ``percent`` (1-99) of them, rounded.

    ``strata`` names a kind for each id (the question type); each kind gives its share, the rest by the largest
    remainder. Both splits have at least one item if there are two. Raises ``ValueError`` for another ``percent``.
    """
    if not 1 <= percent < SHARE_OF:
        raise ValueError(f"a public share is 1 to 99 per cent, not {percent}")
    groups: dict[str, list[str]] = defaultdict(list)
    for item in ids:
        groups[(strata or {}).get(item, "")].append(item)
    total = _share(len(ids), percent)
    counts = _counts({name: len(group) for name, group in groups.items()}, percent, total)
    public = {item for name, group in groups.items() for item in _drawn(group, seed)[: counts[name]]}
    return [item for item in ids if item in public]


def ids_of_text(text: str) -> list[str]:
    """The ids of a pasted list: separated by lines or commas; without blanks and repetitions."""
    lines = (part.strip() for line in text.splitlines() for part in line.split(","))
    return list(dict.fromkeys(part for part in lines if part))


def unknown_ids(wanted: Iterable[str], ids: Collection[str]) -> list[str]:
    """Those of ``wanted`` that are not in ``ids``."""
    known = set(ids)
    return [item for item in wanted if item not in known]


def _share(count: int, percent: int) -> int:
    """``percent`` of ``count`` items, rounded half up, leaving neither split empty if there are two items."""
    share = (2 * count * percent + SHARE_OF) // (2 * SHARE_OF)
    return min(max(share, 1), count - 1) if count > 1 else count


def _counts(sizes: Mapping[str, int], percent: int, total: int) -> dict[str, int]:
    """The number of public items of each stratum; they add up to ``total``.

    Rounding every share down leaves fewer missing than there are strata, and room in each, as no share is the whole.
    """
    counts = {name: size * percent // SHARE_OF for name, size in sizes.items()}
    by_remainder = sorted(sizes, key=lambda name: (-(sizes[name] * percent % SHARE_OF), name))
    for name in by_remainder[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def _drawn(ids: Iterable[str], seed: str) -> list[str]:
    """``ids`` in the order in which the seed draws them."""
    return sorted(ids, key=lambda item: hashlib.sha256(f"{seed}\0{item}".encode()).digest())
