"""What boards read of their sureness: stored rows, kept in the memory of the process by their stamp."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, Final
from uuid import UUID

from malpan.leaderboard.boards import BoardRow, RowSureness, Sureness
from malpan.leaderboard.models import BoardSnapshot, BoardSureness

ROUNDED: Final = "rounded"  # why a board that shows rounded scores has none
BOARDS: Final = 64  # of 300 rows, about 100 KB each


def of_phase(stamp: UUID | None, version: UUID | None) -> Sureness | None:
    """The sureness with ``stamp``, for the standings of ``version``."""
    found = None if stamp is None else _stored(stamp)
    return found and replace(found[0], is_current=found[1] == version)


def of_snapshot(snapshot: BoardSnapshot) -> Sureness | None:
    """That of a board of the past; ``None`` until a worker has computed it."""
    stamp = BoardSureness.objects.filter(snapshot=snapshot).values_list("stamp", flat=True).first()
    found = None if stamp is None else _stored(stamp)
    return found and found[0]


def with_sureness(rows: Iterable[BoardRow], found: Sureness | None) -> list[BoardRow]:
    """``rows`` with what is known of each. Where another row has moved since it was computed, a row whose place is
    still the same keeps all of it, any other one the intervals of its scores.
    """
    if found is None:
        return list(rows)
    return [_with(row, found) for row in rows]


def _with(row: BoardRow, found: Sureness) -> BoardRow:
    known = found.rows.get(row.submission_name)
    if known is None:
        return row
    if not found.is_current and found.ranks[row.submission_name] != row.rank:
        known = RowSureness(known.scores)
    return replace(row, sureness=known)


@lru_cache(BOARDS)
def _stored(stamp: UUID) -> tuple[Sureness, UUID | None] | None:
    row = BoardSureness.objects.filter(stamp=stamp).defer("job").first()
    if row is None or row.computed_at is None:
        return None
    known = {name: _row(each) for name, each in row.rows.items()}
    ranks = {name: each["rank"] for name, each in row.rows.items()}
    found = Sureness(
        computed_at=row.computed_at,
        seed=row.seed,
        trials=row.trials,
        level=row.level,
        items=row.items,
        tests=row.pairs,
        reason=row.reason,
        signature_hash=row.signature_hash,
        rows=known,
        ranks=ranks,
        stamp=stamp,
    )
    return found, row.version


def _row(each: Mapping[str, Any]) -> RowSureness:
    places = each["places"]
    return RowSureness(
        scores={name: (low, high) for name, (low, high) in each["scores"].items()},
        places=places and (places[0], places[1]),
        band=each["band"],
        shared_rank=each["first"],
        tied=each["tied"],
        above_p=each["p"],
    )
