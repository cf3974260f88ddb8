"""The plots of a board: the leading score over time, how all scores lie, two metrics against each other, and how ranks
moved to the final board.

Each is a plot with the table that says the same, which is also a CSV file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

from django.utils.translation import gettext as _

from malpan.competitions.models import Phase
from malpan.competitions.shown_scores import fewest_decimals
from malpan.leaderboard.boards import Board
from malpan.leaderboard.field import Field
from malpan.leaderboard.leading import Lead
from malpan.web.plots.bars import Bars, Column, bars
from malpan.web.plots.line import Line, Point, line
from malpan.web.plots.matrix import Matrix
from malpan.web.plots.scales import tick_text, ticks
from malpan.web.plots.scatter import Point as PlacedPoint
from malpan.web.plots.scatter import Scatter, scatter
from malpan.web.plots.slope import Move, Slopes, slopes
from malpan.web.presenters import formatting, scores

LEADING: Final = "leading"
DISTRIBUTION: Final = "distribution"
METRICS: Final = "metrics"
MOVEMENT: Final = "movement"
AXES: Final = ("x", "y")  # of two metrics
BINS: Final = 20  # at most
DRAWN: Final = 30  # teams of the slope chart
FEWEST: Final = 2  # teams whose scores are drawn
POINTS: Final = 300  # teams, from the first, of two metrics against each other


@dataclass(frozen=True, slots=True)
class Choice:
    """What of a figure can be chosen: a field of the address with its options, (value, label), and what it is now."""

    name: str
    label: str
    options: Sequence[tuple[str, str]]
    chosen: str


@dataclass(frozen=True, slots=True)
class Figure:
    """``header`` and ``rows`` are those of the CSV, ``heads`` and ``lines`` the same in words. ``template`` draws."""

    name: str
    title: str
    words: str
    template: str
    plot: Line | Bars | Slopes | Scatter | Matrix
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]
    header: Sequence[str]
    rows: Sequence[Sequence[Any]]
    choices: Sequence[Choice] = ()


def leading(found: Sequence[Lead], phase: Phase, now: datetime) -> Figure | None:
    """How the best score rose; ``None`` where it has not yet."""
    scale = phase.track.score_scale
    decimals = fewest_decimals(min(4, phase.track.score_decimals), scale, phase.score_step)
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
    bins = binned([value * scale for value in teams.ranked])
    own_bin = None if own is None else bins.of(own * scale)
    columns = [
        Column(span, (count,), is_marked=at == own_bin)
        for at, (span, count) in enumerate(zip(bins.spans, bins.counts, strict=True))
    ]
    plot = bars(columns, bins.edges)
    if plot is None:
        return None
    return Figure(
        name=DISTRIBUTION,
        title=_("모든 팀의 점수 분포"),
        words=_("팀마다 순위표에 오른 점수가 어느 구간에 있는지 센 막대입니다. 내 팀이 있는 구간은 색이 다릅니다."),
        template="plots/bars.html",
        plot=plot,
        heads=[_("점수 구간"), _("팀")],
        lines=[[span, str(count)] for span, count in zip(bins.spans, bins.counts, strict=True)],
        header=["from", "to", "teams"],
        rows=[[low / scale, high / scale, count] for (low, high), count in zip(bins.ends, bins.counts, strict=True)],
    )


@dataclass(frozen=True, slots=True)
class Bins:
    """How many values lie between neighbours of ``marks``, which are round."""

    marks: Sequence[float]
    counts: Sequence[int]

    @property
    def ends(self) -> list[tuple[float, float]]:
        return list(pairwise(self.marks))

    @property
    def edges(self) -> list[str]:
        """Where each begins, and where the last one ends."""
        return [tick_text(mark, list(self.marks)) for mark in self.marks]

    @property
    def spans(self) -> list[str]:
        return [f"{low}–{high}" for low, high in pairwise(self.edges)]

    def of(self, value: float) -> int:
        """The place of the bin that ``value`` is in."""
        return _bin(value, self.marks)


def binned(values: Sequence[float]) -> Bins:
    """``values``, at least one, counted."""
    marks = ticks(min(values), max(values), BINS)
    counts = [0] * (len(marks) - 1)
    for value in values:
        counts[_bin(value, marks)] += 1
    return Bins(marks, counts)


def _bin(value: float, marks: Sequence[float]) -> int:
    step = (marks[-1] - marks[0]) / (len(marks) - 1)
    return min(max(int((value - marks[0]) / step + 1e-9), 0), len(marks) - 2)


def metrics(found: Board, asked: Mapping[str, str]) -> Figure | None:
    """The teams of ``found`` by two of its scores, chosen by ``x`` and ``y`` of the address; ``None`` where it has only
    one score, or one team.
    """
    rows = [row for row in found.rows if row.rank is not None]
    columns = [column for column in found.columns if sum(column.key in row.scores for row in rows) >= FEWEST]
    if len(columns) < 2:
        return None
    by_key = {column.key: column for column in columns}
    x = by_key.get(asked.get(AXES[0], ""), columns[1])
    y = by_key.get(asked.get(AXES[1], ""), columns[0])
    track, language = found.phase.track, scores.language()
    scales = [track.score_scale if column.is_scaled else 1 for column in (x, y)]
    placed = [row for row in rows if x.key in row.scores and y.key in row.scores]
    points = [
        PlacedPoint(
            row.scores[x.key] * scales[0], row.scores[y.key] * scales[1], f"{row.rank} {row.team_name}", row.is_own
        )
        for row in placed
    ]
    plot = scatter(points, x.label(language), y.label(language))
    if plot is None:
        return None
    options = [(column.key, column.label(language)) for column in columns]
    return Figure(
        name=METRICS,
        title=_("두 지표 견주기"),
        words=_(
            "점 하나가 한 팀입니다. 두 지표가 함께 오르면 점이 오른쪽 위로 늘어섭니다. 테두리가 있는 점이 내 팀입니다."
        ),
        template="plots/scatter.html",
        plot=plot,
        heads=[_("팀"), x.label(language), y.label(language)],
        lines=[
            [
                row.team_name,
                *(
                    scores.score_text(column, row.scores[column.key], track, found.step, is_short=True)
                    for column in (x, y)
                ),
            ]
            for row in placed
        ],
        header=["team", x.key, y.key],
        rows=[[row.team_name, row.scores[x.key], row.scores[y.key]] for row in placed],
        choices=[
            Choice(name, label, options, chosen.key)
            for name, label, chosen in zip(AXES, (_("가로 지표"), _("세로 지표")), (x, y), strict=True)
        ],
    )


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
        heads=[_("팀"), _("공개 순위"), _("최종 순위"), _("공개 점수"), _("최종 순위를 정한 점수")],
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
