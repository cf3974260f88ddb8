"""The scores of a result by kinds of items, in words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from malpan.competitions.models import Track
from malpan.submissions.breakdown import FEWEST, REST, Breakdown, shown_breakdowns
from malpan.submissions.models import ScoringRun
from malpan.submissions.visibility import ShownRun
from malpan.web.presenters import scores
from malpan.web.presenters.submissions import known_columns, metric_label
from scoring.recipes import Column, get_recipe

TITLES: Final[dict[str, Promise]] = {
    "type": gettext_lazy("문항 유형"),
    "category": gettext_lazy("분류"),
    "domain": gettext_lazy("영역"),
    "length": gettext_lazy("질문 길이(글자 수)"),
}


@dataclass(frozen=True, slots=True)
class GroupLine:
    name: str
    count: int
    values: Sequence[str]


@dataclass(frozen=True, slots=True)
class BreakdownTable:
    key: str
    title: str
    metrics: Sequence[str]
    lines: Sequence[GroupLine]


def breakdown_context(run: ScoringRun | None, shown: ShownRun, track: Track) -> dict[str, object]:
    """The tables of the scores that ``shown`` has of ``run``."""
    tables = [_table(each, run, track) for each in shown_breakdowns(run, shown) if run is not None]
    return {"breakdowns": tables, "fewest": FEWEST}


def _table(found: Breakdown, run: ScoringRun, track: Track) -> BreakdownTable:
    recipe = get_recipe(run.recipe)
    columns = {column.key: column for column in known_columns(run.recipe)}
    of_metrics = [columns.get(recipe.score_name(name)) for name in found.metrics]
    lines = [
        GroupLine(
            name=_("그 밖") if group.name == REST else group.name,
            count=group.count,
            values=[
                "–" if mean is None else f"{mean:.4f}" if column is None else _value(column, mean, track)
                for column, mean in zip(of_metrics, group.means, strict=True)
            ],
        )
        for group in found.groups
    ]
    labels = [metric_label(run, name) for name in found.metrics]
    return BreakdownTable(found.dimension, str(TITLES[found.dimension]), labels, lines)


def _value(column: Column, mean: float, track: Track) -> str:
    return scores.score_text(column, mean, track, is_short=True)
