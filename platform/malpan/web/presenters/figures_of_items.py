"""The plots of a board's items: who beats whom on how many, how hard they are, and which metrics agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from django.utils.translation import gettext as _

from malpan.leaderboard.boards import Board
from malpan.leaderboard.sureness.items import ItemsFound
from malpan.web.plots.bars import Column, bars
from malpan.web.plots.matrix import correlation_matrix, win_matrix
from malpan.web.presenters import scores
from malpan.web.presenters.figures import FEWEST, Choice, Figure, binned

WINS: Final = "wins"
DIFFICULTY: Final = "difficulty"
CORRELATION: Final = "correlation"
HARDEST: Final = 50  # items that the table lists; the CSV has all


def wins(found: Board, items: ItemsFound, asked: Mapping[str, str]) -> Figure | None:
    """On how many items each of the first teams is better than each other, by the metric ``?wins=`` of the address;
    teams whose result is another one since are left out.
    """
    rows = {row.submission_name: row for row in found.rows if row.rank is not None}
    places = [at for at, name in enumerate(items.wins.submissions) if name in rows]
    if not items.wins.wins or len(places) < FEWEST:
        return None
    teams = [rows[items.wins.submissions[at]] for at in places]
    choice = _metric_choice(found, [name for name in items.metrics if name in items.wins.wins], asked, WINS)
    won, tied = (
        [[table[row][column] for column in places] for row in places]
        for table in (items.wins.wins[choice.chosen], items.wins.ties[choice.chosen])
    )
    codes = [str(row.rank) for row in teams]
    plot = win_matrix(codes, won, tied)
    if plot is None:
        return None
    pairs = [(row, column) for row in range(len(teams)) for column in range(len(teams)) if row != column]
    return Figure(
        name=WINS,
        title=_("문항마다 견준 승패"),
        words=_(
            "가로줄 팀이 세로줄 팀보다 좋은 값을 받은 문항의 수입니다. 팀은 순위로 적었고, 진할수록 많이 이겼습니다."
        ),
        template="plots/matrix.html",
        plot=plot,
        heads=[_("팀"), *codes],
        lines=[
            [
                f"{team.rank} {team.team_name}",
                *("–" if at == other else f"{won[at][other]}–{won[other][at]}" for other in range(len(teams))),
            ]
            for at, team in enumerate(teams)
        ],
        header=["team", "other", "wins", "ties", "losses"],
        rows=[
            [teams[row].team_name, teams[column].team_name, won[row][column], tied[row][column], won[column][row]]
            for row, column in pairs
        ],
        choices=[choice],
    )


def difficulty(found: Board, items: ItemsFound, asked: Mapping[str, str]) -> Figure | None:
    """How the teams' mean values of the items lie, by the metric ``?difficulty=`` of the address, the lowest first."""
    if not items.means:
        return None
    choice = _metric_choice(found, items.metrics, asked, DIFFICULTY)
    means = sorted(items.means[choice.chosen].items(), key=lambda pair: (pair[1], pair[0]))
    bins = binned([mean for _item, mean in means])
    plot = bars([Column(span, (count,)) for span, count in zip(bins.spans, bins.counts, strict=True)], bins.edges)
    if plot is None:
        return None
    return Figure(
        name=DIFFICULTY,
        title=_("문항의 난도"),
        words=_(
            "문항마다 순위표에 오른 팀들이 받은 값의 평균을 구해, 구간마다 문항을 센 막대입니다. 표에는 평균이 "
            "가장 낮은 문항부터 %(count)d개까지 있고 CSV에는 모두 있습니다."
        )
        % {"count": HARDEST},
        template="plots/bars.html",
        plot=plot,
        heads=["id", _("평균")],
        lines=[[item, f"{mean:.4f}"] for item, mean in means[:HARDEST]],
        header=["id", "mean"],
        rows=means,
        choices=[choice],
    )


def correlation(found: Board, items: ItemsFound) -> Figure | None:
    """How the values of every two metrics go together; ``None`` for fewer than two."""
    if len(items.metrics) < 2:
        return None
    codes = [str(number) for number in range(1, len(items.metrics) + 1)]
    plot = correlation_matrix(codes, items.correlations)
    if plot is None:
        return None
    labels = _labels(found, items.metrics)
    return Figure(
        name=CORRELATION,
        title=_("지표 사이의 상관"),
        words=_(
            "모든 팀의 모든 문항에서 두 지표가 준 값의 피어슨 상관 계수입니다. 두 지표를 함께 받은 문항만 셉니다. "
            "지표는 아래 표의 번호로 적었습니다."
        ),
        template="plots/matrix.html",
        plot=plot,
        heads=[_("지표"), *codes],
        lines=[
            [f"{code} {label}", *("–" if value is None else f"{value:.2f}".replace("-", "−") for value in values)]
            for code, label, values in zip(codes, labels, items.correlations, strict=True)
        ],
        header=["metric", *items.metrics],
        rows=[[name, *values] for name, values in zip(items.metrics, items.correlations, strict=True)],
    )


def _metric_choice(found: Board, names: Sequence[str], asked: Mapping[str, str], field: str) -> Choice:
    """Which of the metrics called ``names`` is asked for; the first by default."""
    options = list(zip(names, _labels(found, names), strict=True))
    chosen = asked.get(field, "")
    return Choice(field, _("지표"), options, chosen if chosen in names else names[0])


def _labels(found: Board, names: Sequence[str]) -> list[str]:
    return [found.recipe.metric_label(name, scores.language()) for name in names]
