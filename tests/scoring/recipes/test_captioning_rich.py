"""captioning-rich@1: which captions fluency and required words get, and which columns only describe."""

from __future__ import annotations

import pytest

from scoring.recipes import get_recipe
from scoring.records import Item, Items

RECIPE = get_recipe("captioning-rich@1")


def items(*given: Item) -> Items:
    return Items(given, "id-object", "0" * 64)


REFERENCES = items(
    Item("a", "개가 달린다", 1, others=("강아지가 뛴다",), required=("개#강아지", "빨간  우산")),
    Item("b", "파도가 친다", 2),
    Item("c", "눈이 온다", 3, required=("눈",)),
)
PREDICTIONS = items(Item("a", "개가 뛴다", 1), Item("b", " ", 2))


def test_fluency_reads_answered_captions_alone_and_required_words_what_an_item_demands() -> None:
    pairs = RECIPE.prepare(REFERENCES, PREDICTIONS).pairs
    alone, demanding = pairs["fluency"], pairs["required_words"]
    assert (alone.ids, alone.references, alone.candidates) == (("a",), (("",),), ("개가 뛴다",))
    assert (demanding.ids, demanding.candidates) == (("a", "c"), ("개가 뛴다", ""))
    assert demanding.references == (("개#강아지\n빨간 우산",), ("눈",))
    assert pairs["meteor"].references == (("개가 달린다", "강아지가 뛴다"), ("파도가 친다",), ("눈이 온다",))


def test_what_reads_no_item_has_no_mean_and_the_others_have_0() -> None:
    layout = RECIPE.prepare(REFERENCES, PREDICTIONS)
    nothing, metrics = RECIPE.prepare(items(), items()), ("fluency", "required_words", "meteor")
    assert all(RECIPE.counts(layout, metric) for metric in metrics)
    assert [RECIPE.counts(nothing, metric) for metric in metrics] == [False, False, True]


@pytest.mark.parametrize(
    ("metric", "rule"),
    [("fluency", "caption-alone@1"), ("required_words", "required-words@1"), ("meteor", "caption@1")],
)
def test_the_rule_by_which_a_metric_gets_its_texts_is_named(metric: str, rule: str) -> None:
    assert RECIPE.input_rule(metric) == rule


def test_shares_describe_and_what_is_no_share_is_not_scaled() -> None:
    assert {column.key for column in RECIPE.columns if not column.has_direction} == {
        "colour_share", "adjective_share", "modifier_share", "hangul_share", "foreign_runs", "foreign_captions",
    }  # fmt: skip
    assert {column.key for column in RECIPE.columns if not column.is_scaled} == {"cider", "foreign_runs", "fluency"}
    assert (RECIPE.scale, RECIPE.decimals) == (1, 4)
