"""What the items of a team's own submissions scored, where the organiser opened that: in words, item by item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from malpan.competitions.models import Phase
from malpan.submissions.manage_selectors import item_values
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.visibility import ShownRun
from malpan.web.presenters.submissions import metric_label

BINS: Final = 4  # of item values, from 0 to 1


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
    """The values of items where the organiser opened them: of the public split, of all once the final board is out;
    none of a score that the team may not see with every digit. ``by``: the metric to order by, the first by default.
    """
    phase = submissions[0].phase
    runs = [row.live_run for row in submissions if row.live_run is not None]
    if phase.item_scores == Phase.ItemScores.CLOSED or not all(map(_is_whole, shown)) or len(runs) < len(submissions):
        return ItemTexts()
    tables = [item_values(run, by=by, with_private=phase.final_published_at is not None) for run in runs]
    metrics, newest = tables[-1]
    values = [{item.id: item.values for item in items} for _metrics, items in tables]
    is_binned = phase.item_scores == Phase.ItemScores.BINNED
    return ItemTexts(
        metrics=[(name, metric_label(runs[-1], name)) for name in metrics],
        by_item={
            item.id: [[_value_text(each.get(item.id, {}).get(name), is_binned) for each in values] for name in metrics]
            for item in newest
        },
        order=() if is_binned else [item.id for item in newest],
    )


def _is_whole(run: ShownRun | None) -> bool:
    """Whether the team sees the score of ``run`` with every digit."""
    is_shown = run is not None and run.state == ScoringRun.State.FINISHED and not run.is_score_hidden
    return is_shown and run is not None and run.is_exact


def _value_text(value: float | None, is_binned: bool) -> str:
    """``0.8123``, or the quarter it is in: ``0.75–1``. Values beyond 0 to 1 are at the end."""
    if value is None:
        return "–"
    if not is_binned:
        return f"{value:.4f}"
    at = min(max(int(value * BINS), 0), BINS - 1)
    return f"{at / BINS:g}–{(at + 1) / BINS:g}"
