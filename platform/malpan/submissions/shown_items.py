"""What a team may know of the items of its own submissions: their values, where the organiser opened them.

The pages and the API use this. A value here has no more digits than is shown; nothing here is of reference answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from malpan.competitions.models import Phase
from malpan.submissions.manage_selectors import item_values
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.visibility import ShownRun

BINS: Final = 4  # of item values, from 0 to 1
DECIMALS: Final = 4
Closed = Literal["", "closed", "not_scored", "withheld", "rounded"]


class ShownValue(NamedTuple):
    """Between which ends the value of an item is: both are the value itself, or the quarter it is in."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class ShownItems:
    """``by_item``: for every metric, in the order of ``metrics``, the value that each submission has, ``None`` where it
    has none. ``order``: the items from the lowest value on, where that tells no more than the values do.

    ``run``: the last one, which names the metrics; ``None`` where nothing is shown.
    """

    run: ScoringRun | None = None
    metrics: Sequence[str] = ()
    by_item: Mapping[str, Sequence[Sequence[ShownValue | None]]] = field(default_factory=dict)
    order: Sequence[str] = ()


def shown_items(submissions: Sequence[Submission], shown: Sequence[ShownRun | None], *, by: str = "") -> ShownItems:
    """The values of items where the organiser opened them: of the public split, of all once the final board is out;
    none of a score that the team may not see with every digit. ``by``: the metric to order by, the first by default.
    """
    phase = submissions[0].phase
    runs = [row.live_run for row in submissions if row.live_run is not None]
    if closed_by(phase, shown) or len(runs) < len(submissions):
        return ShownItems()
    tables = [item_values(run, by=by, with_private=phase.final_published_at is not None) for run in runs]
    metrics, newest = tables[-1]
    values = [{item.id: item.values for item in items} for _metrics, items in tables]
    is_binned = phase.item_scores == Phase.ItemScores.BINNED
    return ShownItems(
        run=runs[-1],
        metrics=metrics,
        by_item={
            item.id: [[_shown(each.get(item.id, {}).get(name), is_binned) for each in values] for name in metrics]
            for item in newest
        },
        order=() if is_binned else [item.id for item in newest],
    )


def closed_by(phase: Phase, shown: Sequence[ShownRun | None]) -> Closed:
    """Why the team sees no values of items; empty where it does: the organiser did not open them, a score is not there
    or is withheld, or scores are rounded, also where one of a Ladder is withheld.
    """
    if phase.item_scores == Phase.ItemScores.CLOSED:
        return "closed"
    runs = [run for run in shown if run is not None and run.state == ScoringRun.State.FINISHED]
    if len(runs) < len(shown):
        return "not_scored"
    if any(run.withheld == "board" for run in runs):
        return "withheld"
    return "rounded" if any(run.is_score_hidden or not run.is_exact for run in runs) else ""


def _shown(value: float | None, is_binned: bool) -> ShownValue | None:
    """Values beyond 0 to 1 are in the first or the last quarter."""
    if value is None:
        return None
    if not is_binned:
        return ShownValue(round(value, DECIMALS), round(value, DECIMALS))
    at = min(max(int(value * BINS), 0), BINS - 1)
    return ShownValue(at / BINS, (at + 1) / BINS)
