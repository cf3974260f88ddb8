"""How stages are shown: their rule in words, their scores with equal decimals, the combined standing with its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from malpan.competitions.models import Track
from malpan.stages.models import Stage
from malpan.stages.tables import plain_number
from malpan.web.presenters.formatting import scaled_text

POINTS: Final = 100  # normalised and combined scores are shown as points of a hundred
POINT_DECIMALS: Final = 4
DECIMALS_MAX: Final = 6
CAMPAIGN_DECIMALS: Final = 4


@dataclass(frozen=True, slots=True)
class StageLine:
    """A team in a stage."""

    rank: int
    team: str
    team_number: int
    score: str
    points: str
    goes_on: bool
    is_own: bool
    is_out: bool


@dataclass(frozen=True, slots=True)
class PartCell:
    """What a stage gives a team of the combined standing; without a score it took no part."""

    title: str
    score: str
    points: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class FinalLine:
    """A team of the combined standing. ``stopped``: the title of the stage from which it did not go on."""

    rank: int | None
    team: str
    team_number: int
    points: str
    parts: tuple[PartCell, ...]
    stopped: str
    is_own: bool
    is_out: bool


@dataclass(frozen=True, slots=True)
class StageHead:
    """A stage with its share of the combined score, in per cent."""

    stage: Stage
    share: str


def points_text(value: float | None) -> str:
    """A number 0-1 as points of a hundred."""
    return scaled_text(value, POINTS, POINT_DECIMALS)


def heads_of(stages: Sequence[Stage]) -> list[StageHead]:
    """The stages with their shares; without any weight there is none to show."""
    total = sum(stage.weight for stage in stages)
    return [StageHead(stage, _share(stage.weight, total)) for stage in stages]


def _share(weight: int, total: int) -> str:
    return "–" if not total else f"{plain_number(round(100 * weight / total, 1))}%"


def resting_names(resting: Sequence[Stage | None]) -> str:
    """The names of results that rest on another one; ``None`` is the combined standing."""
    return ", ".join(_("종합 결과") if each is None else f"{each.position}. {each.title}" for each in resting)


def rule_words(rule: Mapping[str, Any], track: Track) -> list[str]:
    """The rule of a stage of ``track`` in sentences; ``rule`` is that of a snapshot or of ``rule_facts``."""
    shown = track.score_scale if rule["source"] == Stage.Source.BOARD else 1
    low, high = (plain_number(float(value * shown)) for value in rule["scale"])
    words = []
    if rule["source"] == Stage.Source.CAMPAIGN:
        words = [
            _(
                "점수는 사람 평가의 결과를 0~1로 나타낸 값으로, 0.5가 평균입니다. 쌍 비교와 순위 매기기에서는 평균 실력의 "
                "상대를 이길 확률입니다."
            )
        ]
    if rule["normalisation"] == Stage.Normalisation.RANK:
        text = _(
            "환산 점수(100점 만점)는 팀 n개 가운데 r위이면 100 × (n − r) ÷ (n − 1)입니다. 순위가 같으면 그 자리들의 "
            "평균이 r이고, 팀이 하나면 100입니다."
        )
        words.append(text)
    else:
        text = _("환산 점수(100점 만점) = 100 × (점수 − %(low)s) ÷ (%(high)s − %(low)s).")
        words.append(text % {"low": low, "high": high})
    words.append(str(Stage.TieRule(rule["tie_rule"]).label))
    if (cut := rule["cut"]) is not None:
        words.append(ngettext("상위 %(cut)s팀이 진출합니다.", "상위 %(cut)s팀이 진출합니다.", cut) % {"cut": cut})
    return words


def score_decimals(values: Iterable[float]) -> int:
    """As many decimals as the longest of entered scores has."""
    lengths = (len(plain_number(value).partition(".")[2]) for value in values)
    return min(max(lengths, default=0), DECIMALS_MAX)


def score_text(value: float | None, source: str, track: Track, decimals: int) -> str:
    """A score as the track shows those of a board, or as it was entered."""
    if value is None:
        return "–"
    if source == Stage.Source.BOARD:
        return scaled_text(value, track.score_scale, track.score_decimals)
    if source == Stage.Source.CAMPAIGN:
        return scaled_text(value, 1, CAMPAIGN_DECIMALS)
    return f"{value:.{decimals}f}"


def stage_lines(
    rows: Sequence[Mapping[str, Any]], source: str, track: Track, *, own: int | None = None, out: Iterable[int] = ()
) -> list[StageLine]:
    """The rows of a stage. ``own``: the number of the reader's team; ``out``: teams that are disqualified now."""
    decimals, gone = score_decimals(row["score"] for row in rows), set(out)
    return [
        StageLine(
            rank=row["rank"],
            team=row["team"],
            team_number=row["team_number"],
            score=score_text(row["score"], source, track, decimals),
            points=points_text(row["normalised"]),
            goes_on=row["goes_on"],
            is_own=row["team_number"] == own,
            is_out=row["team_number"] in gone,
        )
        for row in rows
    ]


def final_lines(
    rows: Sequence[Mapping[str, Any]], stages: Sequence[Stage], *, own: int | None = None, out: Iterable[int] = ()
) -> list[FinalLine]:
    """The rows of the combined standing, each with a cell for every stage."""
    gone = set(out)
    decimals = [
        score_decimals(row["parts"][index]["score"] for row in rows if len(row["parts"]) > index)
        for index in range(len(stages))
    ]
    return [
        FinalLine(
            rank=row["rank"],
            team=row["team"],
            team_number=row["team_number"],
            points=points_text(row["final_score"]),
            parts=tuple(_cell(row["parts"], index, stage, decimals[index]) for index, stage in enumerate(stages)),
            stopped="" if row["stopped_at"] is None else stages[row["stopped_at"] - 1].title,
            is_own=row["team_number"] == own,
            is_out=row["team_number"] in gone,
        )
        for row in rows
    ]


def _cell(parts: Sequence[Mapping[str, Any]], index: int, stage: Stage, decimals: int) -> PartCell:
    if index >= len(parts):
        return PartCell(stage.title, "–", "–", None)
    part = parts[index]
    score = score_text(part["score"], stage.source, stage.track, decimals)
    return PartCell(stage.title, score, points_text(part["normalised"]), part["rank"])
