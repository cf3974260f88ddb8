"""The published result of a human evaluation in words and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from malpan.arena.models import Campaign
from malpan.web.plots.forest import Estimate, Forest, forest
from malpan.web.plots.matrix import Matrix, win_matrix
from malpan.web.presenters.arena import SEVERITIES
from malpan.web.presenters.arena_manage import figure_text, interval_text, points_text
from malpan.web.presenters.formatting import range_text

MATRIX_MOST: Final = 30  # systems that a drawing of the matrix has room for; the table has all
JUDGED: Final = {  # what people did, and what they do while it runs
    Campaign.Protocol.PAIRWISE: (
        gettext_lazy("평가자는 팀을 알 수 없는 출력 두 개를 나란히 보고 더 나은 쪽을 골랐습니다."),
        gettext_lazy("평가자는 팀을 알 수 없는 출력 두 개를 나란히 보고 더 나은 쪽을 고릅니다."),
    ),
    Campaign.Protocol.RANKING: (
        gettext_lazy("평가자는 팀을 알 수 없는 출력 여러 개의 순위를 매겼습니다."),
        gettext_lazy("평가자는 팀을 알 수 없는 출력 여러 개의 순위를 매깁니다."),
    ),
    Campaign.Protocol.RUBRIC: (
        gettext_lazy("평가자는 팀을 알 수 없는 출력을 하나씩 보고 기준마다 점수를 매겼습니다."),
        gettext_lazy("평가자는 팀을 알 수 없는 출력을 하나씩 보고 기준마다 점수를 매깁니다."),
    ),
    Campaign.Protocol.ERRORS: (
        gettext_lazy("평가자는 팀을 알 수 없는 출력을 하나씩 보고 오류를 표시한 뒤 점수를 매겼습니다."),
        gettext_lazy("평가자는 팀을 알 수 없는 출력을 하나씩 보고 오류를 표시한 뒤 점수를 매깁니다."),
    ),
}
_DEVIATIONS: Final = gettext_lazy("점수는 평가자마다 후하고 박한 정도를 고른 뒤의 편차로, 0이 평균입니다.")
SCORED: Final = {
    Campaign.Protocol.PAIRWISE: gettext_lazy(
        "점수는 무승부와 보인 차례의 영향을 함께 셈하는 브래들리–테리 모형의 강도(로짓, 평균 0)입니다. 강도가 1만큼 "
        "높으면 승부가 갈린 비교의 73%를 이깁니다. ‘둘 다 나쁨’은 무승부로 셉니다."
    ),
    Campaign.Protocol.RANKING: gettext_lazy(
        "점수는 순위를 모든 쌍의 승패로 풀어 구한 브래들리–테리 모형의 강도(로짓, 평균 0)입니다."
    ),
    Campaign.Protocol.RUBRIC: _DEVIATIONS,
    Campaign.Protocol.ERRORS: _DEVIATIONS,
}


def method_text(campaign: Campaign) -> str:
    """What people do, or did once it is closed, and what the scores of that are."""
    protocol = Campaign.Protocol(campaign.protocol)
    done, doing = JUDGED[protocol]
    return f"{doing if campaign.closed_at is None else done} {SCORED[protocol]}"


@dataclass(frozen=True, slots=True)
class SystemLine:
    """A system of the result. ``code``: its rank, by which the matrix names it. ``band``: equal numbers are
    statistically tied.
    """

    rank: int
    team: str
    score: str
    interval: str
    ranks: str
    band: int
    is_tied: bool
    points: str
    wins: int | None
    ties: int | None
    losses: int | None
    votes: int


def system_lines(document: Mapping[str, Any]) -> list[SystemLine]:
    """The ranked systems, the best first."""
    rows = document["systems"]
    sizes: dict[Any, int] = {}
    for row in rows:
        sizes[row["cluster"]] = sizes.get(row["cluster"], 0) + 1
    return [
        SystemLine(
            rank=row["rank"],
            team=row["name"],
            score=figure_text(row["score"]),
            interval=interval_text(row),
            ranks=range_text(row["best_rank"], row["worst_rank"]),
            band=row["cluster"],
            is_tied=sizes[row["cluster"]] > 1,
            points=points_text(row),
            wins=row.get("wins"),
            ties=row.get("ties"),
            losses=row.get("losses"),
            votes=row["votes"],
        )
        for row in rows
    ]


def forest_of(document: Mapping[str, Any], own: int | None) -> Forest | None:
    """The scores with their intervals; ``own``: the number of the reader's team."""
    return forest(
        [
            Estimate(f"{row['rank']}. {row['name']}", row["score"], row["low"], row["high"], row["team_number"] == own)
            for row in document["systems"]
            if row["low"] is not None
        ]
    )


def matrix_of(document: Mapping[str, Any]) -> Matrix | None:
    """Who won how often against whom, by the ranks; ``None`` for ratings and for more than there is room for."""
    matrix = document["matrix"]
    if matrix is None or len(matrix["systems"]) > MATRIX_MOST:
        return None
    return win_matrix(_codes(document), matrix["wins"], matrix["ties"])


def matrix_rows(document: Mapping[str, Any]) -> list[tuple[str, str, list[str]]]:
    """The table of the matrix: code, team, and for every column "wins–ties–losses"."""
    matrix = document["matrix"]
    if matrix is None:
        return []
    names = {row["label"]: row["name"] for row in document["systems"]}
    wins, ties = matrix["wins"], matrix["ties"]
    return [
        (
            code,
            names[label],
            [
                "" if row == column else f"{wins[row][column]}–{ties[row][column]}–{wins[column][row]}"
                for column in range(len(wins))
            ],
        )
        for row, (code, label) in enumerate(zip(_codes(document), matrix["systems"], strict=True))
    ]


def _codes(document: Mapping[str, Any]) -> list[str]:
    ranks = {row["label"]: str(row["rank"]) for row in document["systems"]}
    codes: list[str] = []
    for label in document["matrix"]["systems"]:
        code = ranks[label]
        again = sum(each.rstrip("′") == code for each in codes)
        codes.append(code + "′" * again)  # equal ranks are told apart
    return codes


def order_sentence(document: Mapping[str, Any]) -> str:
    """What the order shown did to the choices; empty for ratings."""
    parameters = document["parameters"]
    if parameters is None:
        return ""
    order = parameters["order"]
    if document["protocol"] == Campaign.Protocol.RANKING:
        return ""
    text = _(
        "먼저 보인 출력이 얻은 이점은 %(value)s로짓(95%% 구간 %(interval)s)이며, 점수는 이 영향을 뺀 "
        "값입니다. 무승부는 %(tie)s%%였습니다."
    )
    return text % {
        "value": figure_text(order["value"]),
        "interval": interval_text(order),
        "tie": f"{100 * parameters['shares']['tie']:.1f}",
    }


def influence_sentence(document: Mapping[str, Any]) -> str:
    """How much the standing hangs on one judge; empty where there is one alone."""
    rows = document["influence"]
    if not rows:
        return ""
    change = max(row["rank_change"] for row in rows)
    if not change:
        return _("어느 평가자 한 사람을 빼도 순위는 바뀌지 않습니다.")
    text = _("평가자 한 사람을 빼면 순위가 많아야 %(change)d계단 움직입니다.") % {"change": change}
    changes = any(row["first_changes"] for row in rows)
    first = _("누구를 빼느냐에 따라 1위가 바뀝니다.") if changes else _("1위는 누구를 빼도 그대로입니다.")
    return f"{text} {first}"


def csv_rows(document: Mapping[str, Any]) -> tuple[Sequence[str], list[list[Any]]]:
    """The standing as a table: all digits."""
    columns = [
        "rank",
        "team_number",
        "name",
        "label",
        "score",
        "low",
        "high",
        "best_rank",
        "worst_rank",
        "cluster",
        "votes",
        "points",
    ]
    if document["matrix"] is not None:
        columns += ["wins", "ties", "losses"]
    marked = [_marked_cells(row) for row in document["systems"]]
    rows = [
        [*(row.get(name) for name in columns), *cells.values()]
        for row, cells in zip(document["systems"], marked, strict=True)
    ]
    return [*columns, *marked[0]], rows


def _marked_cells(row: Mapping[str, Any]) -> dict[str, float]:
    """Of marked errors the means by column: by severity, the penalty, by kind."""
    if "errors" not in row:
        return {}
    errors = {f"errors_{name}": row["errors"][name] for name in SEVERITIES}
    return errors | {"penalty": row["penalty"]} | {f"kind_{name}": mean for name, mean in row["kinds"].items()}
