"""A recipe that ranks by a composite, as the contest of 2026 does, and boards of it computed by plain loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import pytest

from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from scoring.composite import Component
from scoring.errors import Message
from scoring.recipes import RECIPES, Column

RECIPE: Final = "composite-toy@1"
WEIGHTS: Final = {"rmse": (45, False), "spearman": (45, True), "judge": (10, True)}  # (weight, more is better)


def install(patched: pytest.MonkeyPatch) -> str:
    """Make the recipe known; returns its id. Submissions of it are only ever rows."""
    numbers = RECIPES["regression@1"]
    columns = (
        numbers.columns[0],
        Column("rmse", Message("RMSE", "RMSE"), is_scaled=False),
        Column("spearman", Message("스피어만 상관", "Spearman"), is_scaled=False),
        Column("judge", Message("심사 모델", "LLM judge")),
        Column("mae", Message("평균 절대 오차", "MAE"), is_scaled=False, group="reference"),
    )
    components = tuple(Component(name, weight, is_up) for name, (weight, is_up) in WEIGHTS.items())
    patched.setitem(RECIPES.entries, RECIPE, replace(numbers, id=RECIPE, columns=columns, composite=components))
    return RECIPE


def values(rmse: float, spearman: float, judge: float | None = None) -> dict[str, float]:
    return {"rmse": rmse, "spearman": spearman, **({} if judge is None else {"judge": judge})}


def latest(submissions: list[Submission]) -> Submission:
    return max(submissions, key=lambda row: (row.created_at, row.pk))


def by_loops(phase: Phase, counts: Callable[[list[Submission]], Submission] = latest) -> list[tuple[Any, ...]]:
    """(rank, team, submission, composite) of the whole board: who is better and who is equal, pair by pair."""
    of_team: dict[int, list[Submission]] = {}
    for row in Submission.objects.filter(phase=phase).select_related("team", "live_run"):
        is_out = row.withdrawn_at or row.refunded_at or row.team.disqualified_at
        if not is_out and row.live_run is not None and row.live_run.state == "finished":
            of_team.setdefault(row.team_id, []).append(row)
    standing = [counts(rows) for rows in of_team.values()]
    composed = {row.pk: _composite(row, [each for each in standing if not each.team.is_baseline]) for row in standing}
    standing.sort(key=lambda row: (-round(composed[row.pk], 8), row.created_at, row.pk))
    board, next_rank = [], 1
    for row in standing:
        board.append((None if row.team.is_baseline else next_rank, row.team_id, row.pk, composed[row.pk]))
        next_rank += not row.team.is_baseline
    return board


def _composite(row: Submission, ranked: list[Submission]) -> float:
    others = [each for each in ranked if each.pk != row.pk]
    total = weights = 0.0
    for name, (weight, is_up) in WEIGHTS.items():
        if not any(name in _scores(each) for each in ranked):
            continue
        weights += weight
        worse = sum(_gain(row, each, name, is_up) > 0 for each in others)
        equal = sum(_gain(row, each, name, is_up) == 0 for each in others)
        total += weight * ((worse + equal / 2) / len(others) if others else 1.0)
    return total / weights if weights else 0.0


def _scores(row: Submission) -> dict[str, float]:
    assert row.live_run is not None
    return row.live_run.scores


def _gain(row: Submission, other: Submission, name: str, is_up: bool) -> float:
    mine, theirs = _scores(row).get(name), _scores(other).get(name)
    if mine is None or theirs is None:
        return (mine is not None) - (theirs is not None)
    difference = round(mine, 8) - round(theirs, 8)
    return difference if is_up else -difference
