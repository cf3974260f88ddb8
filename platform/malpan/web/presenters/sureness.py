"""How sure a board is, in words and as a plot: beside each rank, in each main cell, and under the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.utils.translation import gettext as _

from malpan.competitions.models import Phase, Track
from malpan.leaderboard.boards import COMPOSITE, Board, BoardRow
from malpan.leaderboard.sureness.sources import ROWS
from malpan.web import fragments
from malpan.web.plots.forest import Estimate, forest
from malpan.web.presenters import formatting, scores
from scoring.recipes import Column

DRAWN: Final = 30  # rows of the plot
FEW_ITEMS: Final = 30  # of fewer, tests of pairs tell only the clearest apart
DECIMALS: Final = 2  # of the end of an interval, times a hundred


def ranked_by(found: Board) -> str:
    """The name of the score that ranks."""
    return COMPOSITE if found.components else "final_score"


def interval_text(row: BoardRow, score: str, track: Track) -> str:
    """``81.20–84.93``; empty where there is none."""
    if row.sureness is None or score not in row.sureness.scores:
        return ""
    low, high = (_end_text(value, track) for value in row.sureness.scores[score])
    return f"{low}–{high}"


def interval_of(ends: Mapping[str, tuple[float, float]], column: Column, track: Track) -> str:
    """The interval of the score of ``column`` as the page of a result shows it; empty where there is none."""
    return "–".join(scores.score_text(column, end, track, is_short=True) for end in ends.get(column.key, ()))


def places_text(row: BoardRow) -> str:
    """``1–4위``: the interval of the rank; of a team that holds one place in it, ``1위``."""
    if row.sureness is None or row.sureness.places is None:
        return ""
    best, worst = row.sureness.places
    if best == worst:
        return _("%(place)d위") % {"place": best}
    return _("%(best)d–%(worst)d위") % {"best": best, "worst": worst}


def tied_rank(row: BoardRow) -> int | None:
    """The rank of the first of the row's band, where it has more teams than one."""
    if row.rank is None or row.sureness is None or row.sureness.tied < 2:
        return None
    return row.sureness.shared_rank


def sureness_context(found: Board) -> dict[str, Any]:
    """What is said and drawn under ``found``, rendered once for everybody who sees the same."""
    sure = found.sureness
    if sure is None or not found.row_count:
        return {}
    drawn = [] if sure.reason else _estimates(found.rows, ranked_by(found), found.phase.track)
    said = {
        "tested_rows": ROWS if found.total > ROWS and not sure.reason else None,
        "shows_bands": found.phase.ties != Phase.Ties.NONE,
        "shares_ranks": found.phase.ties == Phase.Ties.SHARED,
    }

    def content() -> dict[str, Any]:
        return said | {
            "sureness": sure,
            "sureness_reason": _reason_text(sure.reason),
            "has_few_items": sure.items < FEW_ITEMS,
            "forest": forest(drawn) if len(drawn) > 1 else None,
        }

    key = (sure.stamp, sure.is_current, sure.computed_at, said, drawn)
    return {"sureness_html": fragments.remembered("pages/board_sureness.html", key, content)}


def _estimates(rows: Sequence[BoardRow], score: str, track: Track) -> list[Estimate]:
    found = []
    for row in rows:
        if row.sureness is not None and score in row.sureness.scores:
            value = row.composite.value if row.composite is not None else row.final_score
            low, high = row.sureness.scores[score]
            label = row.team_name if row.rank is None else f"{row.rank} {row.team_name}"
            scale = track.score_scale
            found.append(Estimate(label, value * scale, low * scale, high * scale, is_marked=row.is_own))
    return found[:DRAWN]


def _end_text(value: float, track: Track) -> str:
    return formatting.scaled_text(value, track.score_scale, DECIMALS if track.score_scale > 1 else 2 * DECIMALS)


def _reason_text(reason: str) -> str:
    """Why there are no bands, as a sentence; empty where there are."""
    if not reason:
        return ""
    texts = {
        "rounded": _("공개 점수를 반올림하는 단계라, 가린 자리를 드러낼 구간과 동률 검정은 최종 발표 뒤에 냅니다."),
        "no_items": _("문항별 점수가 남아 있지 않은 결과가 있어 구간과 동률을 계산하지 못했습니다."),
        "crashed": _("구간을 계산하다가 우리 쪽 오류가 났습니다. 점수와 순위에는 영향이 없습니다."),
        "too_large": _("문항과 팀이 너무 많아 구간과 동률을 계산하지 않습니다."),
    }
    return texts.get(reason, _("문항을 다시 뽑아 계산할 수 없는 점수로 매긴 순위라, 구간과 동률은 내지 않습니다."))
