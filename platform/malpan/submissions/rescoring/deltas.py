"""The changes by a rescoring in numbers: pure functions on plain values. Scores and differences are 0-1."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

FINAL: Final = "final_score"
NO_SPREADS: Final[Mapping[str, float]] = {}
BARS: Final = 20
TEAM_COLUMNS: Final = (
    *("team_composite_before", "team_composite_after", "team_composite_delta"),
    *("team_rank_before", "team_rank_after"),
)
NOISE: Final = 1e-12  # smaller differences count as none: the sums are exact, the values doubles


@dataclass(frozen=True, slots=True)
class Scored:
    """One submission before and after. ``before`` is ``None`` if no score counted; ``hidden_*``: the private split."""

    submission_id: int
    public_id: str
    team_id: int
    team_name: str
    submitted_at: datetime
    before: Mapping[str, float] | None
    after: Mapping[str, float]
    hidden_before: Mapping[str, float] | None = None
    hidden_after: Mapping[str, float] | None = None

    def delta(self, score: str = FINAL) -> float | None:
        """After minus before; ``None`` if either has no such score."""
        return _delta(self.before, self.after, score)

    def hidden_delta(self, score: str = FINAL) -> float | None:
        return _delta(self.hidden_before, self.hidden_after, score)


@dataclass(frozen=True, slots=True)
class Change:
    """How one score changes over all submissions that have it on both sides; ``changed`` counts those that change."""

    score: str
    count: int
    changed: int
    mean: float
    minimum: float
    maximum: float


@dataclass(frozen=True, slots=True)
class Bar:
    """The number of differences in [low, high); the last bar includes its upper end."""

    low: float
    high: float
    count: int


@dataclass(frozen=True, slots=True)
class Histogram:
    """Differences in equal steps around zero; those of exactly zero are counted separately."""

    bars: tuple[Bar, ...]
    unchanged: int

    @property
    def highest(self) -> int:
        return max((bar.count for bar in self.bars), default=0)


@dataclass(frozen=True, slots=True)
class Place:
    """A team on a board: its rank, ``None`` for a baseline; what it is ranked by, its final score or composite; and the
    submission that counts with the scores that decide the place.
    """

    rank: int | None
    score: float
    submission_id: int
    scores: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class RankMove:
    """A team's rank before and after, ``None`` without one; ``crossed`` are the prize places between the two.

    ``is_own``: something of the team itself changes, its counting submission or a score of it. A team of which nothing
    changes moves because others do.
    """

    team_id: int
    team_name: str
    before: int | None
    after: int | None
    score_before: float | None
    score_after: float | None
    crossed: tuple[int, ...]
    is_own: bool

    @property
    def places(self) -> int | None:
        """How many places the team rises (falls, if negative)."""
        return self.before - self.after if self.before is not None and self.after is not None else None

    @property
    def moves(self) -> bool:
        return self.before != self.after

    @property
    def is_ranked(self) -> bool:
        """Whether it has a rank before or after; a baseline has none."""
        return self.before is not None or self.after is not None

    @property
    def delta(self) -> float | None:
        """What it is ranked by, after minus before; ``None`` if it is on one board only."""
        if self.score_before is None or self.score_after is None:
            return None
        return self.score_after - self.score_before


def changes(
    rows: Sequence[Scored],
    scores: Iterable[str],
    *,
    is_private: bool = False,
    spreads: Mapping[str, float] = NO_SPREADS,
) -> list[Change]:
    """One ``Change`` for each score, in the order given; without scores that no submission has on both sides.

    Of the public split or, if ``is_private``, of the private one. A difference within the spread of its score, if
    ``spreads`` has one, does not count as changed.
    """
    found = []
    for score in scores:
        deltas = [delta for row in rows if (delta := _of(row, score, is_private)) is not None]
        if deltas:
            moved = sum(_is_change(delta, score, spreads) for delta in deltas)
            mean = math.fsum(deltas) / len(deltas)
            found.append(Change(score, len(deltas), moved, mean, min(deltas), max(deltas)))
    return found


def count_changed(
    rows: Iterable[Scored],
    scores: Sequence[str],
    *,
    is_private: bool = False,
    spreads: Mapping[str, float] = NO_SPREADS,
) -> int:
    """The submissions of which one of ``scores`` changes, by more than its spread if it has one."""
    return sum(any(_is_change(_of(row, score, is_private), score, spreads) for score in scores) for row in rows)


def histogram(deltas: Iterable[float], bars: int = BARS) -> Histogram:
    """``bars`` equal steps, as many below zero as above, wide enough for the largest difference."""
    listed = list(deltas)
    moved = [delta for delta in listed if abs(delta) > NOISE]
    if not moved:
        return Histogram((), len(listed))
    reach = max(map(abs, moved))
    width = 2 * reach / bars
    counts = [0] * bars
    for delta in moved:
        counts[min(bars - 1, int((delta + reach) / width))] += 1
    made = tuple(Bar(-reach + place * width, -reach + (place + 1) * width, n) for place, n in enumerate(counts))
    return Histogram(made, len(listed) - len(moved))


def rank_moves(
    before: Mapping[int, Place],
    after: Mapping[int, Place],
    names: Mapping[int, str],
    prize_places: Iterable[int],
) -> list[RankMove]:
    """Every team of either board, from its places by team: by new rank, teams that leave the board last."""
    lines = sorted(set(prize_places))
    moves = []
    for team in before.keys() | after.keys():
        old, new = before.get(team), after.get(team)
        old_rank, old_score = (None, None) if old is None else (old.rank, old.score)
        new_rank, new_score = (None, None) if new is None else (new.rank, new.score)
        crossed = tuple(line for line in lines if _within(old_rank, line) != _within(new_rank, line))
        is_own = not _is_same(old, new)
        moves.append(RankMove(team, names.get(team, ""), old_rank, new_rank, old_score, new_score, crossed, is_own))
    return sorted(moves, key=lambda move: (move.after is None, move.after or 0, move.before or 0, move.team_id))


def places_changed(moves: Iterable[RankMove], first: int) -> int:
    """How many teams get, lose or change one of the ``first`` places."""
    return sum(move.moves and (_within(move.before, first) or _within(move.after, first)) for move in moves)


def _is_same(old: Place | None, new: Place | None) -> bool:
    """Whether the same submission counts before and after, with the same scores."""
    if old is None or new is None or old.submission_id != new.submission_id or old.scores.keys() != new.scores.keys():
        return False
    return all(abs(value - new.scores[name]) <= NOISE for name, value in old.scores.items())


def at_least(rows: Iterable[Scored], minimum: float, scores: Sequence[str] = (FINAL,)) -> list[Scored]:
    """The submissions of which one of ``scores``, shown or hidden, changes by ``minimum`` or more, the largest change
    first.
    """
    kept = [row for row in rows if _largest(row, scores) >= minimum - NOISE]
    return sorted(kept, key=lambda row: (-_largest(row, scores), row.submission_id))


def moved_at_least(moves: Iterable[RankMove], minimum: float) -> list[RankMove]:
    """The ranked teams of both boards whose score changes by more than nothing and by ``minimum`` or more, the largest
    change first.
    """
    least = max(minimum - NOISE, NOISE)
    ranked = [(abs(move.delta), move) for move in moves if move.is_ranked and move.delta is not None]
    kept = [(size, move) for size, move in ranked if size > least]
    return [move for _, move in sorted(kept, key=lambda pair: (-pair[0], pair[1].team_id))]


def spreads(runs: Sequence[Mapping[str, float]], scores: Iterable[str]) -> list[Change]:
    """The numeric noise of repeated runs: for each score its lowest, highest and mean value. ``changed`` counts runs
    that differ from the first."""
    found = []
    for score in scores:
        values = [run[score] for run in runs if score in run]
        if values:
            differing = sum(value != values[0] for value in values)
            found.append(
                Change(score, len(values), differing, math.fsum(values) / len(values), min(values), max(values))
            )
    return found


def as_table(
    rows: Iterable[Scored], scores: Sequence[str], *, has_hidden: bool, moves: Iterable[RankMove] = ()
) -> tuple[list[str], list[list[str | float | datetime | None]]]:
    """Header and one line for each submission: every score before, after and the difference, for a CSV file.

    With ``moves``, of composites, a line ends with the composite and the rank of its team.
    """
    of_team = {move.team_id: move for move in moves}
    parts = ["", "hidden_"] if has_hidden else [""]
    names = [f"{part}{score}_{side}" for part in parts for score in scores for side in ("before", "after", "delta")]
    lines: list[list[str | float | datetime | None]] = []
    for row in rows:
        line: list[str | float | datetime | None] = [row.public_id, row.team_name, row.submitted_at]
        for part in parts:
            old, new = (row.hidden_before, row.hidden_after) if part else (row.before, row.after)
            for score in scores:
                line += [(old or {}).get(score), (new or {}).get(score), _delta(old, new, score)]
        if of_team:
            line += _of_team(of_team.get(row.team_id))
        lines.append(line)
    return ["submission", "team", "submitted_at", *names, *(TEAM_COLUMNS if of_team else ())], lines


def _of_team(move: RankMove | None) -> list[float | None]:
    """The values of ``TEAM_COLUMNS``; none of a team that is on neither board."""
    if move is None:
        return [None] * len(TEAM_COLUMNS)
    return [move.score_before, move.score_after, move.delta, move.before, move.after]


def _of(row: Scored, score: str, is_private: bool) -> float | None:
    return row.hidden_delta(score) if is_private else row.delta(score)


def _delta(before: Mapping[str, float] | None, after: Mapping[str, float] | None, score: str) -> float | None:
    if before is None or after is None or score not in before or score not in after:
        return None
    return after[score] - before[score]


def _largest(row: Scored, scores: Sequence[str]) -> float:
    """The largest change of ``scores``, shown or hidden."""
    return max(abs(_of(row, score, is_private) or 0.0) for is_private in (False, True) for score in scores)


def is_within(difference: float, score: str, spreads: Mapping[str, float]) -> bool:
    """Whether two values of ``score`` differ by no more than its spread, if it has one."""
    return score in spreads and abs(difference) <= spreads[score] + NOISE


def _is_change(delta: float | None, score: str, spreads: Mapping[str, float]) -> bool:
    return delta is not None and abs(delta) > NOISE and not is_within(delta, score, spreads)


def _within(rank: int | None, line: int) -> bool:
    return rank is not None and rank <= line
