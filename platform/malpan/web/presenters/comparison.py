"""Two results of a team in words: the differences of their scores with intervals and p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from malpan.competitions.models import Track
from malpan.competitions.shown_scores import scale_of
from malpan.leaderboard.comparing.own import NOT_SCORED, ROUNDED, TEXT_DECIMALS, WITHHELD, ScorePair
from malpan.leaderboard.models import ResultComparison
from malpan.submissions.visibility import ShownRun
from malpan.web.presenters import formatting, scores


@dataclass(frozen=True, slots=True)
class Tested:
    """What resampling the items says of a difference; texts are empty where it was not tested."""

    interval: str = ""
    p: str = ""
    verdict: str = ""
    is_significant: bool = False


@dataclass(frozen=True, slots=True)
class ComparedLine:
    """One score of both, the difference (the later minus the earlier) and what is known of it."""

    label: str
    one: str
    other: str
    difference: str
    tested: Tested
    is_main: bool


def refusal_text(refusal: str, shown: Sequence[ShownRun | None]) -> str:
    """Why the scores of the two, as their team may see them (``shown``), are not compared, as a sentence; empty where
    they are.
    """
    if refusal == WITHHELD and all(run is None or run.withheld != "board" for run in shown):
        return _(
            "공개 점수가 한 단위 넘게 오른 제출만 점수를 받는 단계이고, 점수를 받지 못한 제출이 있어 점수는 비교하지 "
            "않습니다. 그 점수는 최종 발표 때 공개합니다. 답은 아래에서 비교할 수 있습니다."
        )
    texts = {
        NOT_SCORED: _("채점이 끝난 제출끼리만 점수를 비교합니다. 답은 아래에서 비교할 수 있습니다."),
        WITHHELD: _("이 단계는 점수를 아직 알리지 않아 점수는 비교하지 않습니다. 답은 아래에서 비교할 수 있습니다."),
        ROUNDED: _(
            "공개 점수를 반올림하는 단계라, 가린 자리를 드러낼 비교는 최종 발표 뒤에 냅니다. 답은 아래에서 비교할 수 "
            "있습니다."
        ),
    }
    return texts.get(refusal, "")


def lines_of(row: ResultComparison, pairs: Sequence[ScorePair], track: Track) -> list[ComparedLine]:
    """A line for each of ``pairs``; of one that was not tested, the difference alone."""
    return [_line(pair, row, track) for pair in pairs]


def _line(pair: ScorePair, row: ResultComparison, track: Track) -> ComparedLine:
    column, scale, decimals = pair.column, scale_of(pair.column, track), min(TEXT_DECIMALS, track.score_decimals)
    return ComparedLine(
        label=column.label(scores.language()),
        one=scores.score_text(column, pair.one, track, is_short=True),
        other=scores.score_text(column, pair.other, track, is_short=True),
        difference=formatting.signed_text(pair.other - pair.one, scale, decimals),
        tested=known_of(row, column.key, scale, decimals),
        is_main=column.is_main,
    )


def known_of(row: ResultComparison, score: str, scale: int, decimals: int, *, is_turned: bool = False) -> Tested:
    """What ``row`` knows of the difference of a score: of the later result minus the earlier, or ``is_turned``."""
    found: Mapping[str, Any] = row.lines.get(score, {})
    ends, p = found.get("interval") or [], found.get("p")
    if is_turned:
        ends = [-end for end in reversed(ends)]
    is_significant = bool(found.get("is_significant"))
    return Tested(
        interval=" ~ ".join(formatting.signed_text(end, scale, decimals) for end in ends),
        p="" if p is None else f"{p:.4f}",
        verdict="" if p is None else _("차이가 있음") if is_significant else _("우연일 수 있음"),
        is_significant=is_significant,
    )


def reason_text(row: ResultComparison) -> str:
    """Why nothing was tested, as a sentence; empty where it was, or is yet to be."""
    texts = {
        "no_items": _("문항별 점수가 남아 있지 않은 제출이 있어 차이가 우연인지는 검정하지 못했습니다."),
        "items": _("두 제출을 서로 다른 문항으로 채점해 차이가 우연인지는 검정하지 못했습니다."),
        "recipe": _("두 제출을 서로 다른 채점 방식으로 채점해 차이가 우연인지는 검정하지 못했습니다."),
        ResultComparison.CRASHED: _(
            "검정하다가 우리 쪽 오류가 났습니다. 잠시 뒤 이 페이지를 다시 열면 새로 계산합니다."
        ),
    }
    return texts.get(row.reason, "")
