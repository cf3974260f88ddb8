"""Own submissions item by item, and two of them compared."""

from __future__ import annotations

import uuid
from typing import Any

from ninja import Schema

from malpan.competitions.models import Phase
from malpan.competitions.shown_scores import scale_of, scaled_text, signed_text
from malpan.core.language import reader_language
from malpan.leaderboard.comparing.own import TEXT_DECIMALS, Compared, ScorePair
from malpan.leaderboard.models import ResultComparison
from malpan.submissions.integrity.answers import Answers
from malpan.submissions.integrity.duplicates import AnswerPair
from malpan.submissions.models import Submission
from malpan.submissions.shown_items import ShownItems, ShownValue
from scoring.recipes import UnknownRecipe, get_recipe


class ItemMetric(Schema):
    key: str
    label: str


class ItemValue(Schema):
    """Where the value (0-1) is: both ends are the value, to four decimals, or those of the quarter that it is in."""

    low: float
    high: float


class Item(Schema):
    """``values`` by metric: not there where they are not shown. ``question``: what the file itself says that the item
    asks.
    """

    id: str
    question: str
    answer: str
    values: dict[str, ItemValue]


class ItemPair(Schema):
    """``null``: a file does not have the item. ``values`` by metric: of the earlier and of the later submission.
    ``question``: what either file says that the item asks.
    """

    id: str
    question: str
    one: str | None
    other: str | None
    is_same: bool
    values: dict[str, tuple[ItemValue | None, ItemValue | None]]


class _Items(Schema):
    count: int
    next: str | None
    item_scores: str  # closed, binned or open: as the organiser has it
    metrics: list[ItemMetric]
    is_unreadable: bool


class ItemPage(_Items):
    items: list[Item]


class ItemPairPage(_Items):
    changed_count: int
    items: list[ItemPair]


class ScoreDifference(Schema):
    """``difference``: of the later one minus the earlier, with the ends of its 95 % interval; ``p`` after Holm's
    correction. What was not tested is not there. ``*_text`` as the pages write it.
    """

    key: str
    label: str
    one: float
    other: float
    difference: float
    one_text: str
    other_text: str
    difference_text: str
    interval: tuple[float, float] | None = None
    p: float | None = None
    is_significant: bool | None = None


class Comparison(Schema):
    one: uuid.UUID
    other: uuid.UUID
    refusal: str | None  # not_scored, withheld or rounded: then there are no scores
    split: str  # public or private
    has_private: bool
    is_computed: bool
    reason: str | None  # no_items, items, recipe or crashed: why nothing was tested
    items: int
    trials: int
    seed: int
    scores: list[ScoreDifference]


def about_values(found: ShownItems, phase: Phase) -> dict[str, Any]:
    """Whether values are shown, and of which metrics."""
    metrics = [{"key": name, "label": _label(found, name)} for name in found.metrics]
    return {"item_scores": phase.item_scores, "metrics": metrics}


def item(item_id: str, answers: Answers, found: ShownItems) -> dict[str, Any]:
    rows = zip(found.metrics, found.by_item.get(item_id, ()), strict=False)
    values = {name: _value(value) for name, [value] in rows if value}
    question = answers.question_of(item_id)
    return {"id": item_id, "question": question, "answer": answers[item_id], "values": values}


def item_pair(pair: AnswerPair, found: ShownItems) -> dict[str, Any]:
    rows = zip(found.metrics, found.by_item.get(pair.id, ()), strict=False)
    values = {name: [_value(each) for each in both] for name, both in rows if any(both)}
    return {
        "id": pair.id,
        "question": pair.question,
        "one": pair.one,
        "other": pair.other,
        "is_same": pair.is_same,
        "values": values,
    }


def comparison(one: Submission, other: Submission, found: Compared) -> dict[str, Any]:
    row = found.row or ResultComparison()
    return {
        "one": one.public_id,
        "other": other.public_id,
        "refusal": found.refusal or None,
        "split": "private" if found.is_private else "public",
        "has_private": found.has_private,
        "is_computed": row.computed_at is not None,
        "reason": row.reason or None,
        "items": row.items,
        "trials": row.trials,
        "seed": row.seed,
        "scores": [_difference(each, row, one.phase) for each in found.scores],
    }


def _difference(pair: ScorePair, row: ResultComparison, phase: Phase) -> dict[str, Any]:
    column, track = pair.column, phase.track
    scale, decimals = scale_of(column, track), min(TEXT_DECIMALS, track.score_decimals)
    difference = pair.other - pair.one
    known = {name: value for name, value in row.lines.get(column.key, {}).items() if value is not None}
    tested = {name: known[name] for name in ("interval", "p", "is_significant") if "p" in known and name in known}
    return {
        "key": column.key,
        "label": column.label(reader_language()),
        "one": pair.one,
        "other": pair.other,
        "difference": difference,
        "one_text": scaled_text(pair.one, scale, decimals),
        "other_text": scaled_text(pair.other, scale, decimals),
        "difference_text": signed_text(difference, scale, decimals),
        **tested,
    }


def _value(value: ShownValue | None) -> dict[str, float] | None:
    return value and value._asdict()


def _label(found: ShownItems, name: str) -> str:
    assert found.run is not None
    try:
        return get_recipe(found.run.recipe).metric_label(name, reader_language())
    except UnknownRecipe:
        return name
