"""From results to ranks: pure functions on plain values.

1. Only results of the board's signature stand on the board (``board_signature``).
2. A team's best result is the one with the highest final score, then the recipe's tie-breaks in turn, then the earlier
   submission. Scores are compared as rounded to ``COMPARED_DECIMALS``: what lies behind is noise of the computation
   (which texts shared a batch, how many threads), and nobody shall win by it.
3. Teams are ordered by the same rule. No two teams share a rank: of two that agree in every score the one that
   submitted earlier stands higher, as the contest's rules say.
4. Baselines stand where their score puts them, without a rank, and take no rank from anybody.
5. On a final board count the submissions a team chose, of a team that chose none its best (``counted_finals``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

COMPARED_DECIMALS: Final = 8  # of scores 0-1; batch neighbours move a pair's value by up to 6e-8, a mean by far less


@dataclass(frozen=True, slots=True)
class Entry:
    """One scored submission. ``scores`` and ``final_score`` are 0-1; ``submission_id`` grows with time."""

    team_id: int
    is_baseline: bool
    submission_id: int
    submitted_at: datetime
    final_score: float
    scores: Mapping[str, float]
    signature_hash: str


@dataclass(frozen=True, slots=True)
class Ranked:
    """A team's best entry and its rank from 1; ``None`` for a baseline."""

    rank: int | None
    entry: Entry


def board_signature(entries: Iterable[Entry]) -> str | None:
    """The signature that most of ``entries`` bear; of equally many the one of the newest submission.

    Callers pass the live results of the phase's current references and the track's recipe. What may still differ is
    how they were computed (models, libraries, device class). The majority rules, so that one worker set up otherwise
    cannot clear the board.
    """
    entries = list(entries)
    counts = Counter(entry.signature_hash for entry in entries)
    newest = {entry.signature_hash: _arrival(entry) for entry in sorted(entries, key=_arrival)}
    return max(counts, key=lambda signature: (counts[signature], newest[signature]), default=None)


def best_entries(entries: Iterable[Entry], tie_breaks: Sequence[str]) -> list[Entry]:
    """The best entry of each team, best team first."""
    best: dict[int, Entry] = {}
    for entry in entries:
        standing = best.get(entry.team_id)
        if standing is None or _order(entry, tie_breaks) < _order(standing, tie_breaks):
            best[entry.team_id] = entry
    return sorted(best.values(), key=lambda entry: _order(entry, tie_breaks))


def counted_finals(
    entries: Iterable[Entry], chosen: Collection[int], limit: int | None, tie_breaks: Sequence[str]
) -> set[int]:
    """The submissions that count for the final board, by id. ``entries`` are those of the public board.

    Of a team with chosen submissions among ``entries`` those, at most ``limit`` and the best first; of another its
    best. A ``limit`` of ``None``: there is no choice, and all of them count.
    """
    entries = list(entries)
    if limit is None:
        return {entry.submission_id for entry in entries}
    counted = {entry.submission_id for entry in best_entries(entries, tie_breaks)}
    picked: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.submission_id in chosen:
            picked.setdefault(entry.team_id, []).append(entry)
    counted -= {entry.submission_id for entry in entries if entry.team_id in picked}
    for of_team in picked.values():
        best_first = sorted(of_team, key=lambda entry: _order(entry, tie_breaks))
        counted |= {entry.submission_id for entry in best_first[:limit]}
    return counted


def rank(entries: Iterable[Entry], tie_breaks: Sequence[str]) -> list[Ranked]:
    """The board from the top: each team once; ranks 1, 2, 3… without gaps or sharing; baselines have none."""
    ranked: list[Ranked] = []
    next_rank = 1
    for entry in best_entries(entries, tie_breaks):
        ranked.append(Ranked(None if entry.is_baseline else next_rank, entry))
        next_rank += not entry.is_baseline
    return ranked


def _order(entry: Entry, tie_breaks: Sequence[str]) -> tuple[tuple[float, ...], tuple[datetime, int]]:
    """Sorts the better entry first. A score the result does not have counts as below every score.

    Rounding, unlike a tolerance between two, is the same for whoever is compared with whom: a tie is transitive.
    """
    values = (entry.final_score, *(entry.scores.get(name, -1.0) for name in tie_breaks))
    return tuple(-round(value, COMPARED_DECIMALS) for value in values), _arrival(entry)


def _arrival(entry: Entry) -> tuple[datetime, int]:
    return entry.submitted_at, entry.submission_id
