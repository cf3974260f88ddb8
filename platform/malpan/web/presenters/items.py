"""What the items of a team's own submissions scored, where the organiser opened that: in words, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from django.utils.translation import gettext as _

from malpan.competitions.models import Phase
from malpan.submissions.models import Submission
from malpan.submissions.shown_items import DECIMALS, ShownValue, closed_by, shown_items
from malpan.submissions.visibility import ShownRun
from malpan.web.presenters.submissions import metric_label


@dataclass(frozen=True, slots=True)
class ItemTexts:
    """The values of items as the reader may see them: ``metrics`` are names with their labels. ``order``: the items
    from the lowest value on, where that tells no more than the values do.
    """

    metrics: Sequence[tuple[str, str]] = ()
    by_item: Mapping[str, Sequence[Sequence[str]]] = field(default_factory=dict)
    order: Sequence[str] = ()

    @property
    def labels(self) -> list[str]:
        return [label for _name, label in self.metrics]

    def of(self, item: str) -> list[tuple[str, Sequence[str]]]:
        """The label of each metric with the values of the submissions, in their order; empty where none are shown."""
        return list(zip(self.labels, self.by_item[item], strict=True)) if item in self.by_item else []


def item_texts(submissions: Sequence[Submission], shown: Sequence[ShownRun | None], *, by: str = "") -> ItemTexts:
    """``shown_items`` in words."""
    found = shown_items(submissions, shown, by=by)
    if found.run is None:
        return ItemTexts()
    return ItemTexts(
        metrics=[(name, metric_label(found.run, name)) for name in found.metrics],
        by_item={
            item: [[_value_text(value) for value in values] for values in metrics]
            for item, metrics in found.by_item.items()
        },
        order=found.order,
    )


def closed_text(phase: Phase, shown: Sequence[ShownRun | None], texts: ItemTexts) -> str:
    """Why there are no values beside the answers, as a sentence; empty where there are."""
    if texts.metrics:
        return ""
    reasons = {
        "": _("문항별 점수가 남아 있지 않아 우리 팀이 올린 답만 보입니다."),
        "closed": _("우리 팀이 올린 답만 보입니다. 주최 측이 열지 않은 단계라 정답과 문항별 점수는 보이지 않습니다."),
        "not_scored": _("우리 팀이 올린 답만 보입니다. 문항별 점수는 채점이 끝나면 보입니다."),
        "withheld": _("우리 팀이 올린 답만 보입니다. 점수를 아직 알리지 않는 제출이라 문항별 점수도 보이지 않습니다."),
        "rounded": _(
            "우리 팀이 올린 답만 보입니다. 공개 점수를 반올림하는 단계라, 가린 자리를 드러낼 문항별 점수는 최종 발표 "
            "뒤에 보입니다."
        ),
    }
    return reasons[closed_by(phase, shown)]


def _value_text(value: ShownValue | None) -> str:
    """``0.8123``, or the quarter it is in: ``0.75–1``."""
    if value is None:
        return "–"
    return f"{value.low:.{DECIMALS}f}" if value.low == value.high else f"{value.low:g}–{value.high:g}"
