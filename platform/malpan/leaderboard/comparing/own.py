"""Two submissions of one's own team compared, for their team alone: what the page and the API show of it."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from malpan.accounts.models import User
from malpan.leaderboard.comparing.asking import comparison_of
from malpan.leaderboard.models import ResultComparison
from malpan.submissions import selectors
from malpan.submissions.errors import SubmissionNotFound
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.visibility import ShownRun
from scoring.recipes import Column, get_recipe

NOT_SCORED, WITHHELD, ROUNDED = "not_scored", "withheld", "rounded"  # why scores are not compared
TEXT_DECIMALS: Final = 4  # of a score or a difference in words, at most


@dataclass(frozen=True, slots=True)
class ScorePair:
    """One score of both, the earlier one's first."""

    column: Column
    one: float
    other: float


@dataclass(frozen=True, slots=True)
class Compared:
    """``refusal``: why the scores are not compared; then there is nothing else. ``row``: what is known of the
    differences. ``has_private``: whether the scores of the private split may be compared as well; ``is_private``:
    whether these are they.
    """

    refusal: str = ""
    row: ResultComparison | None = None
    scores: Sequence[ScorePair] = ()
    has_private: bool = False
    is_private: bool = False


def both_of(user: User, one_id: uuid.UUID, other_id: uuid.UUID) -> tuple[Submission, Submission]:
    """Two different submissions of one team of ``user`` in one phase, the earlier first.

    Raises ``SubmissionNotFound`` for any others.
    """
    found = [selectors.submission_for(user, each) for each in (one_id, other_id)]
    one, other = sorted(found, key=lambda row: (row.created_at, row.pk))
    teams = {(row.team.merged_into or row.team).pk for row in found}
    is_own = all(selectors.is_open_to_the_team(user, row) for row in found)
    if one == other or one.phase_id != other.phase_id or len(teams) > 1 or not is_own:
        raise SubmissionNotFound
    return one, other


def compared(
    one: Submission, other: Submission, shown: Sequence[ShownRun | None], *, is_private: bool = False
) -> Compared:
    """The scores that both have, as their team may see them (``shown``); of the private split if it ``is_private`` and
    may be seen. A worker is asked to test the differences where none did.
    """
    refusal = refusal_of(shown)
    first, second = shown
    if refusal or first is None or second is None or one.live_run is None or other.live_run is None:
        return Compared(refusal)
    has_private = first.hidden is not None and second.hidden is not None
    row = comparison_of(one.live_run, other.live_run, is_private=is_private and has_private)
    values = [run.hidden.scores if row.is_private and run.hidden else run.scores for run in (first, second)]
    pairs = [
        ScorePair(column, values[0][column.key], values[1][column.key])
        for column in get_recipe(second.recipe).columns
        if column.key in values[0] and column.key in values[1]
    ]
    return Compared("", row, pairs, has_private, row.is_private)


def refusal_of(shown: Sequence[ShownRun | None]) -> str:
    """Why the scores of the two are not compared; empty where they are."""
    if any(run is None or run.state != ScoringRun.State.FINISHED for run in shown):
        return NOT_SCORED
    if any(run is None or run.is_score_hidden for run in shown):
        return WITHHELD
    return ROUNDED if any(run is None or not run.is_exact for run in shown) else ""
