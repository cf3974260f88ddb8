"""From results to ranks: pure functions on plain values.

1. Only results with the board's signature are on the board (``board_signature``).
2. A team's best result is the one with the highest final score, then the recipe's tie-breaks in turn, then the earlier
   submission. Scores are compared rounded to ``COMPARED_DECIMALS``: further digits are noise of the computation (which
   texts shared a batch, how many threads), and nobody should win by it.
3. Teams are ordered by the same rule. No two teams share a rank: of two with equal scores the one that submitted
   earlier is higher, as the contest's rules say.
4. Baselines are placed by their score, without a rank, and do not change the ranks of others.
5. On a final board the chosen submissions of a team count, or its best if it chose none (``counted_finals``).

Where a composite ranks (``Rule.components``), every team has one counting result (``Rule.counting``): its latest, the
one it chose, or its best by one score. Its composite comes from its place among all the others (``scoring.composite``),
and the teams are ordered by it, to as many decimals, then by the earlier submission.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Literal

from scoring.composite import COMPARED_DECIMALS, Component, Composite, composites

FINAL_SCORE: Final = "final_score"
Counting = Literal["best", "latest", "chosen"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One scored submission. ``final_score`` is 0-1; ``submission_id`` grows with time. ``is_chosen``: by its team, as
    what counts in the end.
    """

    team_id: int
    is_baseline: bool
    submission_id: int
    submitted_at: datetime
    final_score: float
    scores: Mapping[str, float]
    signature_hash: str
    is_chosen: bool = False


@dataclass(frozen=True, slots=True)
class Rule:
    """What a board ranks by: the final score and ``tie_breaks`` or, if there are any, ``components``.

    ``counting``: which entry of a team counts where a composite ranks. Its best is the one with the best value of
    ``best_by``, the highest unless ``best_is_lowest``.
    """

    tie_breaks: tuple[str, ...] = ()
    components: tuple[Component, ...] = ()
    counting: Counting = "best"
    best_by: str = FINAL_SCORE
    best_is_lowest: bool = False

    @property
    def is_composite(self) -> bool:
        return bool(self.components)


@dataclass(frozen=True, slots=True)
class Ranked:
    """A team's counting entry and its rank from 1; ``None`` for a baseline. ``composite``: where one ranks."""

    rank: int | None
    entry: Entry
    composite: Composite | None = None


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


def counting_entry(of_team: Iterable[Entry], rule: Rule) -> Entry | None:
    """The entry of a team that counts, ``None`` if it has none.

    Where the chosen one counts, a team that chose none has its latest; one that chose several, as after a merge of
    teams, the latest of them.
    """
    entries = list(of_team)
    if not rule.is_composite or rule.counting == "best":
        return min(entries, key=lambda entry: order(entry, rule), default=None)
    chosen = [entry for entry in entries if entry.is_chosen] if rule.counting == "chosen" else []
    return max(chosen or entries, key=arrival, default=None)


def counting_entries(entries: Iterable[Entry], rule: Rule) -> list[Entry]:
    """The entry of each team that counts, in no order that means anything."""
    by_team: dict[int, list[Entry]] = {}
    for entry in entries:
        by_team.setdefault(entry.team_id, []).append(entry)
    return [found for of_team in by_team.values() if (found := counting_entry(of_team, rule)) is not None]


def counted_finals(entries: Iterable[Entry], chosen: Collection[int], limit: int | None, rule: Rule) -> set[int]:
    """The submissions that count for the final board, by id. ``entries`` are those of the public board.

    For a team with chosen submissions among ``entries`` those, at most ``limit``, the best first; for any other team
    its best. With ``limit`` ``None`` there is no choice, and all of them count. Where a composite ranks and not the
    best entry counts, it is the one that counts on the public board.
    """
    entries = list(entries)
    counted = {entry.submission_id for entry in counting_entries(entries, rule)}
    if rule.is_composite and rule.counting != "best":
        return counted
    if limit is None:
        return {entry.submission_id for entry in entries}
    picked: dict[int, list[Entry]] = {}
    for entry in entries:
        if entry.submission_id in chosen:
            picked.setdefault(entry.team_id, []).append(entry)
    counted -= {entry.submission_id for entry in entries if entry.team_id in picked}
    for of_team in picked.values():
        best_first = sorted(of_team, key=lambda entry: order(entry, rule))
        counted |= {entry.submission_id for entry in best_first[:limit]}
    return counted


def rank(entries: Iterable[Entry], rule: Rule) -> list[Ranked]:
    """The board from the top: each team once; ranks 1, 2, 3… without gaps or sharing; baselines have none."""
    counting = counting_entries(entries, rule)
    composed = composites_of(counting, rule) if rule.is_composite else {}
    counting.sort(key=lambda entry: (board_key(entry, rule, composed.get(entry.team_id)), arrival(entry)))
    ranked: list[Ranked] = []
    next_rank = 1
    for entry in counting:
        ranked.append(Ranked(None if entry.is_baseline else next_rank, entry, composed.get(entry.team_id)))
        next_rank += not entry.is_baseline
    return ranked


def composites_of(counting: Iterable[Entry], rule: Rule) -> dict[int, Composite]:
    """The composite of every team from the one entry of it that counts."""
    entries = list(counting)
    scores = {entry.team_id: {**entry.scores, FINAL_SCORE: entry.final_score} for entry in entries}
    baselines = {entry.team_id for entry in entries if entry.is_baseline}
    return composites(scores, rule.components, baselines)


def board_key(entry: Entry, rule: Rule, composite: Composite | None) -> tuple[float, ...]:
    """What orders the teams of a board, the better first; the earlier submission decides among equals."""
    if composite is not None:
        return (-round(composite.value, COMPARED_DECIMALS),)
    return order(entry, rule)[0]


def order(entry: Entry, rule: Rule) -> tuple[tuple[float, ...], tuple[datetime, int]]:
    """A sort key with the better entry first: scores, then arrival. A missing score counts as worse than every score.

    Scores are compared to 8 decimals. Rounding, unlike a tolerance between two, does not depend on the pair compared:
    ties are transitive, and two scores closer than 1e-8 that round apart are none.
    """
    if rule.is_composite:
        value = entry.final_score if rule.best_by == FINAL_SCORE else entry.scores.get(rule.best_by)
        return (_level(value, is_lowest=rule.best_is_lowest),), arrival(entry)
    values = (entry.final_score, *(entry.scores.get(name) for name in rule.tie_breaks))
    return tuple(_level(value, is_lowest=False) for value in values), arrival(entry)


def _level(value: float | None, *, is_lowest: bool) -> float:
    if value is None or math.isnan(value):
        return math.inf
    return round(value if is_lowest else -value, COMPARED_DECIMALS)


def arrival(entry: Entry) -> tuple[datetime, int]:
    """When the submission arrived; of two at the same moment the one with the lower id was first."""
    return entry.submitted_at, entry.submission_id
