"""Practice items that an organiser wrote, in words, and an example of their file for each protocol."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy

from malpan.arena.models import Campaign
from malpan.core.language import in_language

CHOICES: Final[dict[str, Promise]] = {
    "first": gettext_lazy("첫째"),
    "second": gettext_lazy("둘째"),
    "tie": gettext_lazy("비김"),
    "both_bad": gettext_lazy("둘 다 나쁨"),
}
_OUTPUTS: Final = ("첫째 출력의 글", "둘째 출력의 글", "셋째 출력의 글")


def _example(count: int, expected: Mapping[str, Any]) -> str:
    item = {
        "input": "문항의 입력",
        "reference": "",
        "outputs": list(_OUTPUTS[:count]),
        "expected": expected,
        "feedback_ko": "왜 그렇게 판단하는지",
        "feedback_en": "",
    }
    return json.dumps([item], ensure_ascii=False, indent=2)


EXAMPLES: Final[dict[Campaign.Protocol, str]] = {
    Campaign.Protocol.PAIRWISE: _example(2, {"choice": ["first", "tie"]}),
    Campaign.Protocol.RUBRIC: _example(1, {"scores": {"fluency": [1, 2]}}),
    Campaign.Protocol.RANKING: _example(3, {"ranks": [1, 2, 2]}),
    Campaign.Protocol.ERRORS: _example(1, {"score": [0, 40]}),
}


@dataclass(frozen=True, slots=True)
class PracticeLine:
    """A practice item. ``outputs``: as shown; ``expected``: the judgement, in words."""

    number: int
    input: str
    reference: str
    outputs: tuple[str, ...]
    expected: str
    feedback: str


def practice_lines(campaign: Campaign, items: Sequence[Mapping[str, Any]]) -> list[PracticeLine]:
    """``items`` of ``campaign``, which fit it."""
    return [
        PracticeLine(
            number,
            item["input"],
            item["reference"],
            tuple(item["outputs"]),
            _expected(campaign, item["expected"]),
            in_language(item["feedback_ko"], item["feedback_en"]),
        )
        for number, item in enumerate(items, start=1)
    ]


def _expected(campaign: Campaign, expected: Mapping[str, Any]) -> str:
    if "choice" in expected:
        return ", ".join(str(CHOICES[each]) for each in expected["choice"])
    if "ranks" in expected:
        return ", ".join(map(str, expected["ranks"]))
    if "score" in expected:
        return _range(expected["score"])
    labels = {row["key"]: in_language(row["label_ko"], row["label_en"]) for row in campaign.rubric.criteria}
    return ", ".join(f"{labels[key]} {_range(scores)}" for key, scores in expected["scores"].items())


def _range(ends: Sequence[int]) -> str:
    low, high = ends
    return str(low) if low == high else f"{low}~{high}"
