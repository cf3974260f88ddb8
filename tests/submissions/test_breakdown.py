"""The scores of a result by kinds of items: what is told of them, and that nothing follows of few items."""

from __future__ import annotations

import random
from decimal import Decimal
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

import pytest

from malpan.competitions.models import ReferenceVersion
from malpan.submissions import breakdown
from malpan.submissions.breakdown import FEWEST, REST, Breakdown, breakdowns_of, broken_down, shown_breakdowns
from malpan.submissions.manage_selectors import ItemValues
from malpan.submissions.models import ScoringRun
from malpan.submissions.visibility import ShownRun
from scoring.records import Item
from tests.submissions.kinds_world import scored


def kinds(sizes: dict[str, int]) -> dict[str, str]:
    return {f"{name}{number}": name for name, size in sizes.items() for number in range(size)}


def of(sizes: dict[str, int]) -> dict[str, int] | None:
    found = kinds(sizes)
    told = broken_down("type", found, ["em"], {item: {"em": 0.5} for item in found})
    return None if told is None else {group.name: group.count for group in told.groups}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ({"a": 50, "b": 30}, {"a": 50, "b": 30}),
        ({"a": 50, "b": 30, "c": 5, "d": 6}, {"a": 50, "b": 30, REST: 11}),
        ({"a": 50, "b": 30, "c": 5}, {"a": 50, REST: 35}),  # c alone would follow from the mean of all
        ({"a": 50, "b": 10}, {"a": 50, "b": 10}),  # as few as may be told
        ({"a": 50, "b": 9}, None),
        ({"a": 50, "b": 10, "c": 5, "d": 5}, {"a": 50, "b": 10, REST: 10}),
        ({"a": 50, "c": 5}, None),
        ({"a": 50}, None),
        ({"a": 3, "b": 4}, None),
    ],
)
def test_small_kinds_are_taken_together_with_the_next(sizes: dict[str, int], expected: dict[str, int] | None) -> None:
    assert of(sizes) == expected


def test_the_largest_kind_comes_first_and_those_taken_together_last() -> None:
    found = of({"a": 20, "b": 30, **dict.fromkeys("cdefgh", 8)})
    assert found is not None
    assert list(found.items()) == [("b", 30), ("a", 20), (REST, 48)]


@pytest.mark.parametrize("seed", range(200))
def test_no_told_cell_is_of_few_values_and_together_they_are_all_items(seed: int) -> None:
    source = random.Random(seed)
    found = kinds({name: source.randint(1, 40) for name in "abcdefgh"[: source.randint(1, 8)]})
    values: dict[str, dict[str, float]] = {
        item: {"em": source.random(), **({"reason": source.random()} if source.random() < 0.5 else {})}
        for item in found
    }
    told = broken_down("type", found, ["em", "reason"], values)
    if told is None:
        return
    assert sum(group.count for group in told.groups) == len(found)
    assert len(told.groups) >= 2
    named = {group.name for group in told.groups}
    for group in told.groups:
        own = [values[item] for item, kind in found.items() if (kind if kind in named else REST) == group.name]
        assert len(own) == group.count >= FEWEST
        for metric, mean in zip(told.metrics, group.means, strict=True):
            known = [row[metric] for row in own if metric in row]
            assert (mean is None) == (not known)
            if known:
                assert len(known) >= FEWEST
                assert mean == pytest.approx(sum(known) / len(known))


@pytest.mark.django_db
def test_the_kinds_come_from_the_questions() -> None:
    found = {each.dimension: each for each in breakdowns_of(scored(None))}
    assert list(found) == ["type", "category", "length"]
    assert {group.name: group.count for group in found["type"].groups} == {"선다형": 60, "서술형": 60}
    assert {group.name: group.count for group in found["category"].groups} == {"말": 80, REST: 40}
    assert [group.name for group in found["length"].groups] == ["2–2", "3–4", "5–6"]
    assert found["type"].metrics[0] == "exact_match"


@pytest.mark.django_db
def test_only_items_of_the_public_split_are_counted() -> None:
    run = scored([f"q{number}" for number in range(60)])
    found = {each.dimension: each for each in breakdowns_of(run)}
    assert {group.name: group.count for group in found["type"].groups} == {"선다형": 30, "서술형": 30}
    assert "category" not in found  # all of them are of one
    private = {row.metric: row.values for row in run.submission.metric_results.all()}["exact_match"]
    [first, *_rest] = [group for group in found["type"].groups if group.name == "선다형"]
    own = [private[f"q{number}"] for number in range(60) if number % 2]
    assert first.means[0] == pytest.approx(sum(own) / 30)


@pytest.mark.django_db
def test_few_public_items_are_not_broken_down_at_all() -> None:
    assert breakdowns_of(scored(["q1", "q2", "q3"])) == []


# --- who is told ------------------------------------------------------------------------------------------------------
FINISHED = ScoringRun.State.FINISHED


@pytest.mark.parametrize(
    ("is_there", "fields", "is_told"),
    [
        (True, {}, True),
        (True, {"withheld": "board"}, False),
        (True, {"withheld": "ladder"}, False),
        (True, {"step": Decimal("0.01")}, False),
        (True, {"state": ScoringRun.State.RUNNING}, False),
        (True, {"state": ScoringRun.State.FAILED}, False),
        (False, {}, False),
    ],
)
def test_only_who_sees_the_finished_score_with_every_digit_is_told(
    monkeypatch: pytest.MonkeyPatch, is_there: bool, fields: dict[str, Any], is_told: bool
) -> None:
    told = [Breakdown("type", [], [])]
    monkeypatch.setattr(breakdown, "breakdowns_of", lambda run: told)
    given: dict[str, Any] = {"state": FINISHED, "stage": "", "progress": 1.0, "recipe": "rag-qa@1", **fields}
    shown = ShownRun(pk=1, started_at=None, finished_at=None, error_code="", **given)
    assert shown_breakdowns(ScoringRun() if is_there else None, shown) == (told if is_told else [])


@pytest.mark.parametrize(("count", "told"), [(10, ["em", "reason"]), (9, ["em"])])
def test_a_metric_with_few_values_is_not_told(monkeypatch: pytest.MonkeyPatch, count: int, told: list[str]) -> None:
    found = kinds({"a": 30, "b": 20})
    items = [
        ItemValues(item, None, {"em": 0.5, **({"reason": 0.5} if number < count else {})})
        for number, item in enumerate(found)
    ]
    monkeypatch.setattr(breakdown, "kinds_of", lambda version, recipe: {"type": found})
    monkeypatch.setattr(breakdown, "item_values", lambda run, with_private: (["em", "reason"], items))
    [of_type] = breakdowns_of(ScoringRun(reference_version=ReferenceVersion()))
    assert of_type.metrics == told
    assert {group.name: group.count for group in of_type.groups} == {"a": 30, "b": 20}


# --- the kinds of the questions ---------------------------------------------------------------------------------------
def kinds_of(monkeypatch: pytest.MonkeyPatch, asked: list[dict[str, Any]]) -> dict[str, list[str]]:
    """The kinds of items with these inputs in their order, by dimension."""
    items = [Item(f"q{number}", "", number, input=each) for number, each in enumerate(asked)]
    monkeypatch.setattr(breakdown, "load_references", lambda version, recipe: SimpleNamespace(items=items))
    found = breakdown.kinds_of(ReferenceVersion(pk=1, file_sha256=uuid4().hex), "rag-qa@1")
    return {name: [of_dimension[item.id] for item in items] for name, of_dimension in found.items()}


@pytest.mark.parametrize(
    ("categories", "is_there"),
    [
        (["말", "글"], True),
        (["말", "말"], False),
        (["말", "글", ""], False),
        (["말", "글", None], False),
        ([f"{number}" for number in range(30)], True),
        ([f"{number}" for number in range(31)], False),
    ],
)
def test_a_dimension_sorts_every_item_into_two_to_thirty_kinds(
    monkeypatch: pytest.MonkeyPatch, categories: list[str | None], is_there: bool
) -> None:
    found = kinds_of(monkeypatch, [{"category": each, "question": "물음"} for each in categories])
    assert found == ({"category": categories} if is_there else {})


def asked_of(*lengths: int) -> list[dict[str, Any]]:
    return [{"question": "물" * length} for length in lengths]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        (range(1, 13), ["1–4"] * 4 + ["5–8"] * 4 + ["9–12"] * 4),
        (range(1, 11), ["1–4"] * 4 + ["5–7"] * 3 + ["8–10"] * 3),
        ([7, 3, 5], ["6–7", "3–3", "4–5"]),
        ([4, 4, 9], ["4–4", "4–4", "5–9"]),
        ([0, 0, 5], ["0–0", "0–0", "1–5"]),
        ([2, 6], ["2–2", "3–6"]),
    ],
)
def test_lengths_are_three_kinds_of_as_many_items_each(
    monkeypatch: pytest.MonkeyPatch, lengths: list[int], expected: list[str]
) -> None:
    assert kinds_of(monkeypatch, asked_of(*lengths)) == {"length": expected}


@pytest.mark.parametrize("lengths", [[], [5], [5, 5, 5], [0, 0, 0]])
def test_equal_lengths_and_none_tell_nothing(monkeypatch: pytest.MonkeyPatch, lengths: list[int]) -> None:
    assert kinds_of(monkeypatch, asked_of(*lengths)) == {}
