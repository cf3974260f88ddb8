"""From results to ranks: pure functions on plain values.

1. Only results with the board's signature are on the board (``board_signature``).
2. A team's best result is the one with the highest final score, then the recipe's tie-breaks in turn, then the earlier
   submission. Scores are compared rounded to ``COMPARED_DECIMALS``: further digits are noise of the computation (which
   texts shared a batch, how many threads), and nobody should win by it.
3. Teams are ordered by the same rule. No two teams share a rank: of two with equal scores the one that submitted
   earlier is higher, as the contest's rules say.
4. Baselines are placed by their score, without a rank, and do not change the ranks of others.
5. On a final board the chosen submissions of a team count, or its best if it chose none (``counted_finals``).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from scoring.composite import COMPARED_DECIMALS


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
    """The most common signature of ``entries``; of equally common ones that of the newest submission.

    Callers pass the live results of the phase's current references and the track's recipe. They may still differ in how
    they were computed (models, libraries, device class). The majority decides, so that one differently configured
    worker cannot clear the board.
    """
    entries = list(entries)
    counts = Counter(entry.signature_hash for entry in entries)
    newest = {entry.signature_hash: arrival(entry) for entry in sorted(entries, key=arrival)}
    return max(counts, key=lambda signature: (counts[signature], newest[signature]), default=None)


def best_entries(entries: Iterable[Entry], tie_breaks: Sequence[str]) -> list[Entry]:
    """The best entry of each team, best team first."""
    best: dict[int, Entry] = {}
    for entry in entries:
        best_so_far = best.get(entry.team_id)
        if best_so_far is None or order(entry, tie_breaks) < order(best_so_far, tie_breaks):
            best[entry.team_id] = entry
    return sorted(best.values(), key=lambda entry: order(entry, tie_breaks))


def counted_finals(
    entries: Iterable[Entry], chosen: Collection[int], limit: int | None, tie_breaks: Sequence[str]
) -> set[int]:
    """The submissions that count for the final board, by id. ``entries`` are those of the public board.

    For a team with chosen submissions among ``entries`` those, at most ``limit``, the best first; for any other team
    its best. With ``limit`` ``None`` there is no choice, and all of them count.
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
        best_first = sorted(of_team, key=lambda entry: order(entry, tie_breaks))
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


def order(entry: Entry, tie_breaks: Sequence[str]) -> tuple[tuple[float, ...], tuple[datetime, int]]:
    """A sort key with the better entry first: scores, then arrival. A missing score counts as lower than every score.

    Scores are compared to 8 decimals. Rounding, unlike a tolerance between two, does not depend on the pair compared:
    ties are transitive, and two scores closer than 1e-8 that round apart are none.
    """
    values = (entry.final_score, *(entry.scores.get(name, -1.0) for name in tie_breaks))
    return tuple(-round(value, COMPARED_DECIMALS) for value in values), arrival(entry)


def arrival(entry: Entry) -> tuple[datetime, int]:
    """When the submission arrived; of two at the same moment the one with the lower id was first."""
    return entry.submitted_at, entry.submission_id
