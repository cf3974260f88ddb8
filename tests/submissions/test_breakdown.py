"""The scores of a result by kinds of items: what is told of them, and that nothing follows of few items."""

from __future__ import annotations

import random

import pytest

from malpan.submissions.breakdown import FEWEST, REST, breakdowns_of, broken_down
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
        ({"a": 50, "c": 5}, None),
        ({"a": 50}, None),
        ({"a": 3, "b": 4}, None),
    ],
)
def test_small_kinds_are_taken_together_with_the_next(sizes: dict[str, int], expected: dict[str, int] | None) -> None:
    assert of(sizes) == expected


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
