"""The plots of a board: the leading score over time, how all scores lie, and how ranks moved to the final board.

Each is a plot with the table that says the same, which is also a CSV file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from django.utils.translation import gettext as _

from malpan.competitions.models import Phase
from malpan.leaderboard.boards import Board
from malpan.leaderboard.field import Field
from malpan.leaderboard.leading import Lead
from malpan.web.plots.bars import Bars, Column, bars
from malpan.web.plots.line import Line, Point, line
from malpan.web.plots.scales import tick_text, ticks
from malpan.web.plots.slope import Move, Slopes, slopes
from malpan.web.presenters import formatting

LEADING: Final = "leading"
DISTRIBUTION: Final = "distribution"
MOVEMENT: Final = "movement"
BINS: Final = 20  # at most
DRAWN: Final = 30  # teams of the slope chart
FEWEST: Final = 2  # teams whose scores are drawn


@dataclass(frozen=True, slots=True)
class Figure:
    """``header`` and ``rows`` are those of the CSV, ``heads`` and ``lines`` the same in words. ``template`` draws."""

    name: str
    title: str
    words: str
    template: str
    plot: Line | Bars | Slopes
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]


def leading(found: Sequence[Lead], phase: Phase, now: datetime) -> Figure | None:
    """How the best score rose; ``None`` where it has not yet."""
    scale, decimals = phase.track.score_scale, min(4, phase.track.score_decimals)
    points = [Point(lead.at, lead.score * scale) for lead in found]
    until = max([min(now, phase.frozen_at or phase.ends_at, phase.ends_at), *(lead.at for lead in found)])
    plot = line(points, holds_until=until)
    if plot is None:
        return None
    return Figure(
        name=LEADING,
        title=_("선두 점수의 흐름"),
        words=_(
            "지금 순위표에 올라 있는 점수를 제출한 시각 순서로 보아, 가장 높은 점수가 언제 얼마로 올랐는지 그렸습니다. "
            "팀이 스스로 넘어선 예전 점수는 순위표에 없으므로 그리지 않습니다."
        ),
        template="plots/line.html",
        plot=plot,
        heads=[_("시각(KST)"), _("선두 점수")],
        lines=[[formatting.short_time(lead.at), formatting.scaled_text(lead.score, scale, decimals)] for lead in found],
        header=["submitted_at", "leading_score"],
        rows=[[lead.at, lead.score] for lead in found],
    )


def distribution(teams: Field, own: float | None, phase: Phase) -> Figure | None:
    """How many teams have which score, ``own`` marked; ``None`` for fewer than two teams."""
    if len(teams.ranked) < FEWEST:
        return None
    scale = phase.track.score_scale
    marks = ticks(min(teams.ranked) * scale, max(teams.ranked) * scale, BINS)
    ends = list(pairwise(marks))
    counts = [0] * len(ends)
    for value in teams.ranked:
        counts[_bin(value * scale, marks)] += 1
    own_bin = None if own is None else _bin(own * scale, marks)
    spans = [f"{tick_text(low, marks)}–{tick_text(high, marks)}" for low, high in ends]
    columns = [
        Column(tick_text(low, marks), (count,), is_marked=at == own_bin)
        for at, ((low, _high), count) in enumerate(zip(ends, counts, strict=True))
    ]
    plot = bars(columns)
    if plot is None:
        return None
    return Figure(
        name=DISTRIBUTION,
        title=_("모든 팀의 점수 분포"),
        words=_("팀마다 순위표에 오른 점수가 어느 구간에 있는지 센 막대입니다. 내 팀이 있는 구간은 색이 다릅니다."),
        template="plots/bars.html",
        plot=plot,
        heads=[_("점수 구간"), _("팀")],
        lines=[[span, str(count)] for span, count in zip(spans, counts, strict=True)],
        header=["from", "to", "teams"],
        rows=[[low / scale, high / scale, count] for (low, high), count in zip(ends, counts, strict=True)],
    )


def _bin(value: float, marks: Sequence[float]) -> int:
    step = (marks[-1] - marks[0]) / (len(marks) - 1)
    return min(max(int((value - marks[0]) / step + 1e-9), 0), len(marks) - 2)


def movement(final: Board | None, phase: Phase) -> Figure | None:
    """How the teams moved from the public board to the final one; ``None`` without one, or with one team."""
    rows = [row for row in (final.rows if final else ()) if row.rank is not None and row.public_rank is not None]
    moves = [Move(row.team_name, row.public_rank or 1, row.rank or 1, row.is_own) for row in rows]
    drawn = [move for move in moves if move.after <= DRAWN and move.before <= 2 * DRAWN]
    plot = slopes(drawn) if len(moves) >= FEWEST else None
    if plot is None:
        return None
    scale, decimals = phase.track.score_scale, min(4, phase.track.score_decimals)
    return Figure(
        name=MOVEMENT,
        title=_("공개 순위에서 최종 순위로"),
        words=_("왼쪽이 공개 순위, 오른쪽이 최종 순위입니다. 선이 위로 가면 최종 순위에서 올라간 팀입니다."),
        template="plots/slope.html",
        plot=plot,
        heads=[_("팀"), _("공개 순위"), _("최종 순위"), _("공개 점수"), _("최종 점수")],
        lines=[
            [
                *(row.team_name, str(row.public_rank), str(row.rank)),
                *(formatting.scaled_text(value, scale, decimals) for value in (row.public_score, row.final_score)),
            ]
            for row in rows
        ],
        header=["team", "public_rank", "final_rank", "public_score", "final_score"],
        rows=[[row.team_name, row.public_rank, row.rank, row.public_score, row.final_score] for row in rows],
    )
