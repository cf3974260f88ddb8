"""What the items of a team's own submissions scored, where the organiser opened that: in words, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from malpan.submissions.models import Submission
from malpan.submissions.shown_items import DECIMALS, ShownValue, shown_items
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


def _value_text(value: ShownValue | None) -> str:
    """``0.8123``, or the quarter it is in: ``0.75–1``."""
    if value is None:
        return "–"
    return f"{value.low:.{DECIMALS}f}" if value.low == value.high else f"{value.low:g}–{value.high:g}"
