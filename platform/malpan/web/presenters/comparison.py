"""Two results of a team in words: the differences of their scores with intervals and p-values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _

from malpan.competitions.models import Track
from malpan.leaderboard.models import ResultComparison
from malpan.submissions.models import ScoringRun
from malpan.submissions.visibility import ShownRun
from malpan.web.presenters import formatting, scores
from scoring.recipes import Column, get_recipe

DECIMALS: Final = 4


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


def refusal_of(shown: Sequence[ShownRun | None]) -> str:
    """Why the scores of the two are not compared; empty where they are."""
    if any(run is None or run.state != ScoringRun.State.FINISHED for run in shown):
        return _("채점이 끝난 제출끼리만 점수를 비교합니다. 답은 아래에서 비교할 수 있습니다.")
    if any(run is None or run.is_score_hidden for run in shown):
        return _("이 단계는 점수를 아직 알리지 않아 점수는 비교하지 않습니다. 답은 아래에서 비교할 수 있습니다.")
    if any(run is None or not run.is_exact for run in shown):
        return _(
            "공개 점수를 반올림하는 단계라, 가린 자리를 드러낼 비교는 최종 발표 뒤에 냅니다. 답은 아래에서 비교할 수 "
            "있습니다."
        )
    return ""


def lines_of(row: ResultComparison, one: ShownRun, other: ShownRun, track: Track) -> list[ComparedLine]:
    """A line for every score that both have; of one that was not tested, the difference alone."""
    first, second = (_values(run, row.is_private) for run in (one, other))
    columns = get_recipe(other.recipe).columns
    return [
        _line(column, first[column.key], second[column.key], row, track)
        for column in columns
        if column.key in first and column.key in second
    ]


def _values(run: ShownRun, is_private: bool) -> Mapping[str, float]:
    return run.hidden.scores if is_private and run.hidden is not None else run.scores


def _line(column: Column, first: float, second: float, row: ResultComparison, track: Track) -> ComparedLine:
    scale, decimals = track.score_scale if column.is_scaled else 1, min(DECIMALS, track.score_decimals)
    return ComparedLine(
        label=column.label(scores.language()),
        one=scores.score_text(column, first, track, is_short=True),
        other=scores.score_text(column, second, track, is_short=True),
        difference=formatting.signed_text(second - first, scale, decimals),
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
