"""Where a result stands on the board that everybody sees now: rank, differences, its place in the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from statistics import median
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from malpan.competitions.models import Track
from malpan.competitions.shown_scores import fewest_decimals
from malpan.leaderboard.boards import Board, BoardRow, View
from malpan.leaderboard.field import Field, field_of_snapshot
from malpan.leaderboard.published import published_board
from malpan.leaderboard.selectors import board_and_field
from malpan.submissions.models import Submission
from malpan.submissions.selectors import OwnScore
from malpan.submissions.visibility import ShownRun
from malpan.web.plots.strip import Strip, strip
from malpan.web.presenters import formatting, scores, sureness
from scoring.recipes import Column
from scoring.recipes.targets import FINAL_SCORE

FEWEST: Final = 3  # teams, of which a distribution is shown
DECIMALS: Final = 4  # of differences


@dataclass(frozen=True, slots=True)
class Gap:
    """A difference: ``+1.2345`` against what ``label`` names."""

    label: str
    text: str


@dataclass(frozen=True, slots=True)
class Spread:
    """How the teams' values of one score lie: their median and best, and how many of them this value beats."""

    middle: str
    best: str
    beaten: str
    plot: Strip | None


@dataclass(frozen=True, slots=True)
class Position:
    """``counts``: the result is the one that stands on the board for its team; else ``counted`` is the public id of
    that one, empty where the team is not on it. ``would_be``: the rank that the result would have. ``is_comparable``:
    it was scored as the board was.
    """

    is_final: bool
    is_comparable: bool
    teams: int
    rank: int | None = None
    places: str = ""
    would_be: int | None = None
    counts: bool = False
    counted: str = ""
    gaps: Sequence[Gap] = ()
    spreads: Mapping[str, Spread] = field(default_factory=dict)


def position_of(
    submission: Submission,
    run: ShownRun,
    columns: Sequence[Column],
    own: Sequence[OwnScore],
    compared: Submission | None = None,
) -> Position | None:
    """Where the scores of ``run`` stand; ``None`` while nobody sees the board or it is empty. ``own`` are the scores of
    the team. The difference to ``compared``, another submission of it, is told elsewhere and is no gap.
    """
    found, teams = _board(submission)
    if not found.row_count:
        return None
    row, track = found.own_row, submission.phase.track
    values, final_score, signature = _values(found, run)
    counts = row is not None and row.submission_name == str(submission.public_id)
    position = Position(
        is_final=found.is_final,
        is_comparable=signature == found.signature_hash,
        teams=len(teams.ranked),
        rank=None if row is None else row.rank,
        places="" if row is None else sureness.places_text(row),
        counts=counts,
        counted="" if row is None else row.submission_name,
    )
    if not position.is_comparable:
        return position
    return replace(
        position,
        would_be=None if counts or found.components else _would_be(submission, row, teams, final_score),
        gaps=_gaps(found, teams, final_score, run.step, counts, submission, own, compared),
        spreads={column.key: each for column in columns if (each := _spread(column, teams, values, track, found.step))},
    )


def _values(found: Board, run: ShownRun) -> tuple[Mapping[str, float], float, str]:
    """The scores of ``run`` that the board is of, its final score and its signature."""
    if found.is_final and run.hidden is not None:
        return run.hidden.scores, run.hidden.final_score, run.hidden.signature_hash
    return run.scores, run.final_score or 0.0, run.signature_hash


def _would_be(submission: Submission, row: BoardRow | None, teams: Field, final_score: float) -> int | None:
    """The rank of this score instead of that of the team's row: the number of other teams with a better one, and 1."""
    if submission.team.is_baseline or submission.withdrawn_at is not None:
        return None
    better = teams.beaten(FINAL_SCORE, final_score, higher_is_better=False)
    is_own_better = row is not None and row.rank is not None and row.final_score > final_score
    return better - is_own_better + 1


def _board(submission: Submission) -> tuple[Board, Field]:
    """The board without rows but the team's own, and its field."""
    final = published_board(submission.phase, viewer_team=submission.team, view=View(limit=0))
    if final is not None and final.snapshot is not None:
        return final, field_of_snapshot(final.snapshot)
    return board_and_field(submission.phase, viewer_team=submission.team)


def _gaps(
    found: Board,
    teams: Field,
    final_score: float,
    step: Decimal | None,
    counts: bool,
    submission: Submission,
    own: Sequence[OwnScore],
    compared: Submission | None,
) -> list[Gap]:
    """The differences of what ranks: the composite that the team has, or this final score, rounded to ``step``."""
    row, track, mine = found.own_row, submission.phase.track, final_score
    known: list[tuple[str, float | None]] = []
    if found.components:
        if row is None or row.composite is None:
            return []
        mine = row.composite.value
    else:
        label = _("내 다른 제출의 가장 높은 점수와") if counts else _("순위표에 오른 내 점수와")
        best_id, best = _own_best(found, submission, own, counts)
        if found.is_final or compared is None or best_id != str(compared.public_id):  # a final board has other scores
            known.append((label, best))
    if row is not None and row.rank is not None and (counts or found.components):
        above, below = teams.above(row.rank), teams.below(row.rank)
        known.append((_("바로 위 %(rank)d위와") % {"rank": row.rank - 1}, above))
        if above is None:
            known.append((_("바로 아래 %(rank)d위와") % {"rank": row.rank + 1}, below))
    baselines = (each for each in teams.baselines if not submission.team.is_baseline)
    known += [(_("기준 팀 ‘%(name)s’와") % {"name": name}, value) for name, value in baselines]
    decimals = min(DECIMALS, track.score_decimals)
    if not found.components:  # a composite of rounded scores has all its digits
        decimals = fewest_decimals(decimals, track.score_scale, step)
    return [
        Gap(label, formatting.signed_text(mine - value, track.score_scale, decimals))
        for label, value in known
        if value is not None
    ]


def _own_best(found: Board, submission: Submission, own: Sequence[OwnScore], counts: bool) -> tuple[str, float | None]:
    """What to compare with among the team's own, with its public id: on a final board, only what stands on it."""
    if not counts:
        row = found.own_row
        return ("", None) if row is None else (row.submission_name, row.final_score)
    if found.is_final:
        return "", None
    alike = (
        each
        for each in own
        if each.counts
        and each.submission.pk != submission.pk
        and each.submission.live_run is not None
        and each.submission.live_run.signature_hash == found.signature_hash
    )
    best = max(alike, key=lambda each: each.final_score, default=None)
    return ("", None) if best is None else (str(best.submission.public_id), best.final_score)


def _spread(
    column: Column, teams: Field, values: Mapping[str, float], track: Track, step: Decimal | None
) -> Spread | None:
    known, own = teams.values.get(column.key, ()), values.get(column.key)
    if len(known) < FEWEST or own is None:
        return None
    best = known[-1] if column.higher_is_better else known[0]
    beaten = ""
    if column.has_direction:
        count = teams.beaten(column.key, own, higher_is_better=column.higher_is_better)
        text = ngettext("%(teams)d팀 가운데 %(count)d팀보다 좋음", "%(teams)d팀 가운데 %(count)d팀보다 좋음", count)
        beaten = text % {"teams": len(known), "count": count}
    middle = median(known)
    of_middle = step if middle in known else None  # that of two may lie between two steps
    return Spread(
        middle=scores.score_text(column, middle, track, of_middle, is_short=True),
        best=scores.score_text(column, best, track, step, is_short=True) if column.has_direction else "–",
        beaten=beaten,
        plot=strip(known, own),
    )
