"""Human evaluation in words, for judges: what is asked, how much is left, what they said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from malpan.arena.models import Assignment, Campaign, Rubric
from malpan.core.language import in_language

LETTERS: Final = "ABCDEFGH"  # of outputs, in the order shown
MORE_THAN_BUTTONS: Final = 11  # points of a scale; with more the score is typed
TASKS: Final = {
    Campaign.Protocol.PAIRWISE: gettext_lazy("어느 출력이 더 낫습니까?"),
    Campaign.Protocol.RUBRIC: gettext_lazy("출력을 기준마다 평가해 주십시오"),
    Campaign.Protocol.RANKING: gettext_lazy("출력의 순위를 매겨 주십시오"),
    Campaign.Protocol.ERRORS: gettext_lazy("출력의 오류를 표시해 주십시오"),
}
EXPLANATIONS: Final = {
    Campaign.Protocol.PAIRWISE: gettext_lazy(
        "한 번에 출력 두 개를 보고 더 나은 쪽을 고릅니다. "
        "비슷하면 ‘비슷함’, 둘 다 쓸 수 없으면 ‘둘 다 나쁨’을 고릅니다."
    ),
    Campaign.Protocol.RUBRIC: gettext_lazy("한 번에 출력 하나를 보고 기준마다 점수를 고릅니다."),
    Campaign.Protocol.RANKING: gettext_lazy(
        "한 번에 출력 여러 개를 보고 순위를 정합니다. 우열을 가릴 수 없으면 같은 순위를 주어도 됩니다."
    ),
    Campaign.Protocol.ERRORS: gettext_lazy(
        "한 번에 출력 하나를 보고 오류가 있는 곳에 정도와 종류를 표시한 뒤, 전체 점수를 0점부터 100점까지로 적습니다."
    ),
}
_WITHOUT_KINDS: Final = gettext_lazy(
    "한 번에 출력 하나를 보고 오류가 있는 곳에 정도를 표시한 뒤, 전체 점수를 0점부터 100점까지로 적습니다."
)
CHOICES: Final = {
    "first": gettext_lazy("A가 나음"),
    "second": gettext_lazy("B가 나음"),
    "tie": gettext_lazy("비슷함"),
    "both_bad": gettext_lazy("둘 다 나쁨"),
}
SEVERITIES: Final = {
    "minor": gettext_lazy("가벼움"),
    "major": gettext_lazy("무거움"),
    "critical": gettext_lazy("치명적"),
}


@dataclass(frozen=True, slots=True)
class Criterion:
    """A criterion of a rubric in the reader's language. ``anchors``: what a score means, by score."""

    key: str
    label: str
    low: int
    high: int
    anchors: Mapping[int, str]

    @property
    def is_typed(self) -> bool:
        """Whether the scale has too many points for a button each."""
        return self.high - self.low + 1 > MORE_THAN_BUTTONS


def explanation_of(campaign: Campaign) -> str:
    """How one judges in ``campaign``; kinds of errors are spoken of where its rubric has them."""
    if campaign.protocol == Campaign.Protocol.ERRORS and not campaign.rubric.reasons:
        return str(_WITHOUT_KINDS)
    return str(EXPLANATIONS[Campaign.Protocol(campaign.protocol)])


def criteria_of(rubric: Rubric) -> tuple[Criterion, ...]:
    """The criteria in their order."""
    return tuple(
        Criterion(one["key"], label_of(one), int(one["low"]), int(one["high"]), _anchors(one))
        for one in rubric.criteria
    )


def _anchors(criterion: Mapping[str, Any]) -> dict[int, str]:
    anchors = {int(score): text for score, text in (criterion.get("anchors") or {}).items()}
    return {score: in_language(text.get("ko", ""), text.get("en", "")) for score, text in sorted(anchors.items())}


def label_of(row: Mapping[str, Any]) -> str:
    """The name of a criterion or reason in the reader's language."""
    return in_language(row["label_ko"], row.get("label_en", ""))


def time_left(seconds: int | None) -> str:
    """``약 25분``, ``약 1시간 5분``; empty if it is not known yet, or nothing is left."""
    if not seconds:
        return ""
    minutes = ceil(seconds / 60)
    if minutes < 60:
        return ngettext("약 %(count)d분", "약 %(count)d분", minutes) % {"count": minutes}
    hours, rest = divmod(5 * ceil(minutes / 5), 60)
    if not rest:
        return ngettext("약 %(count)d시간", "약 %(count)d시간", hours) % {"count": hours}
    return _("약 %(hours)d시간 %(minutes)d분") % {"hours": hours, "minutes": rest}


def summary(campaign: Campaign, value: Mapping[str, Any]) -> str:
    """A judgement in a line: ``A가 나음 (정확성)``, ``유창성 4 · 정확성 3``, ``A 1위 · B 2위``, ``78점 · 오류 3개``."""
    rubric = campaign.rubric
    if campaign.protocol == Campaign.Protocol.PAIRWISE:
        reasons = [label_of(one) for one in rubric.reasons if one["key"] in value.get("reasons", ())]
        return str(CHOICES[value["choice"]]) + (f" ({', '.join(reasons)})" if reasons else "")
    if campaign.protocol == Campaign.Protocol.RUBRIC:
        scores = value["scores"]
        return " · ".join(f"{one.label} {scores[one.key]}" for one in criteria_of(rubric) if one.key in scores)
    if campaign.protocol == Campaign.Protocol.RANKING:
        return " · ".join(_ranked(letter, rank) for letter, rank in zip(LETTERS, value["ranks"], strict=False))
    return _errors(value["score"], value["spans"])


def expectation(assignment: Assignment) -> str:
    """The judgement that a calibration expects, in a line like ``summary``'s."""
    campaign, bad = assignment.campaign, assignment.bad_index or 0
    expected = (assignment.item.expected or {}).get("value")
    if expected is None:  # made by rule: one output is bad
        if campaign.protocol == Campaign.Protocol.PAIRWISE:
            return str(CHOICES["second" if bad == 0 else "first"])
        if campaign.protocol == Campaign.Protocol.RANKING:
            return _("%(letter)s이(가) 가장 낮음") % {"letter": LETTERS[bad]}
        return _("낮은 점수")
    if "choice" in expected:
        return _(" 또는 ").join(str(CHOICES[one]) for one in expected["choice"])
    if "ranks" in expected:
        return summary(campaign, expected)
    if "scores" in expected:
        rows = [one for one in criteria_of(campaign.rubric) if one.key in expected["scores"]]
        return " · ".join(f"{one.label} {_range(expected['scores'][one.key])}" for one in rows)
    return _("%(score)s점") % {"score": _range(expected["score"])}


def _range(ends: Sequence[int]) -> str:
    low, high = ends
    return str(low) if low == high else f"{low}–{high}"


def _ranked(letter: str, rank: int) -> str:
    return _("%(letter)s %(rank)d위") % {"letter": letter, "rank": rank}


def _errors(score: int, spans: Sequence[Any]) -> str:
    count = ngettext("오류 %(count)d개", "오류 %(count)d개", len(spans)) % {"count": len(spans)}
    points = _("%(score)s점") % {"score": score}
    return f"{points} · {count}"
