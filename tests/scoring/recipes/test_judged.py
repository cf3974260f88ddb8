"""Recipes with a judge beside them, without any judge: what it is shown, and that the recipe's own scores stay."""

from __future__ import annotations

from typing import Any

import pytest

from scoring.recipes import RECIPES, RUBRICS, Recipe, UnknownRecipe, get_recipe, judged_versions, takes_a_judge
from scoring.recipes.judged import judged_id, parts_of, source_of
from scoring.records import Item, Items

BOTH = "+fluency+faithfulness"
JUDGES = tuple(RUBRICS.values())
CAPTIONS = get_recipe(f"captioning-lexical@1{BOTH}")
ASKED = Item("a", "가", 1, input={"question": "어느 쪽?", "passage": "글"}, others=("나", "가"))


def items(*given: Item) -> Items:
    return Items(given, "json-array", "0" * 64)


# --- names ------------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.id)
def test_a_recipe_of_texts_has_three_versions_with_a_judge_and_others_have_none(recipe: Recipe) -> None:
    versions = judged_versions(recipe)
    if recipe.answer_form not in ("answers", "captions"):
        assert (takes_a_judge(recipe), versions) == (False, [])
        with pytest.raises(UnknownRecipe):
            get_recipe(f"{recipe.id}+fluency")
        return
    assert [each.id.removeprefix(recipe.id) for each in versions] == ["+fluency", "+faithfulness", BOTH]
    for each in versions:
        assert get_recipe(each.id) == each
        assert not takes_a_judge(each)
        assert (each.metrics, each.tie_breaks, each.composite) == (recipe.metrics, recipe.tie_breaks, recipe.composite)
        assert each.columns[: len(recipe.columns)] == recipe.columns
        assert {column.group for column in each.columns[len(recipe.columns) :]} == {"reference"}
        assert each.optional_metrics == (*recipe.optional_metrics, *(RUBRICS[name] for name in parts_of(each.id)[1]))
        assert each.file_shape == recipe.file_shape


@pytest.mark.parametrize(
    "wrong",
    [
        "rag-qa@1+faithfulness+fluency",
        "rag-qa@1+fluency+fluency",
        "rag-qa@1+",
        "rag-qa@1+style",
        "+fluency",
        "x@1+fluency",
    ],
)
def test_one_choice_of_rubrics_has_one_name(wrong: str) -> None:
    with pytest.raises(UnknownRecipe):
        get_recipe(wrong)


def test_the_id_of_a_choice_does_not_depend_on_its_order() -> None:
    assert judged_id("rag-qa@1", ["faithfulness", "fluency"]) == f"rag-qa@1{BOTH}"
    assert judged_id("rag-qa@1", ["faithfulness"]) == "rag-qa@1+faithfulness"
    assert judged_id("rag-qa@1", []) == "rag-qa@1"
    assert parts_of(f"rag-qa@1{BOTH}") == ("rag-qa@1", ("fluency", "faithfulness"))


# --- what the judge is shown ------------------------------------------------------------------------------------------
def test_the_judge_reads_every_caption_and_for_faithfulness_the_references() -> None:
    references = items(Item("a", "개가 달린다", 1, others=("강아지가 뛴다",)), Item("b", "눈이 온다", 2))
    layout = CAPTIONS.prepare(references, items(Item("b", "눈", 1)))
    alone, with_source = (layout.pairs[name] for name in JUDGES)
    assert alone.ids == with_source.ids == ("a", "b")
    assert alone.candidates == with_source.candidates == ("", "눈")
    assert alone.references == (("",), ("",))
    assert with_source.references == (("개가 달린다\n강아지가 뛴다",), ("눈이 온다",))
    assert layout.pairs["meteor"].references[0] == ("개가 달린다", "강아지가 뛴다")


def test_choices_and_short_answers_are_not_judged() -> None:
    kinds = ("선다형", "단답형", "서술형")
    file = items(*(Item(kind, "1", line, question_type=kind) for line, kind in enumerate(kinds, start=1)))
    recipe = get_recipe("culture-qa@1+fluency")
    assert recipe.prepare(file, file).pairs["judge_fluency"].ids == ("서술형",)
    assert [recipe.is_free_text(item) for item in file.items] == [False, False, True]


def test_a_source_is_what_was_asked_and_what_is_accepted_or_the_captions() -> None:
    assert source_of(ASKED, "answers") == "[질문과 자료]\nquestion: 어느 쪽?\npassage: 글\n\n[정답]\n가\n나"
    assert source_of(ASKED, "captions") == "가\n나"
    assert source_of(Item("a", "가", 1), "answers") == "[정답]\n가"


@pytest.mark.parametrize(
    ("metric", "rule"),
    [("judge_fluency", "judged-alone@1"), ("judge_faithfulness", "judged-with-source@1"), ("meteor", "caption@1")],
)
def test_the_rule_by_which_a_metric_gets_its_texts_is_named(metric: str, rule: str) -> None:
    assert CAPTIONS.input_rule(metric) == rule


@pytest.mark.parametrize(
    ("rubrics", "reads"), [("", False), ("+fluency", False), ("+faithfulness", True), (BOTH, True)]
)
def test_a_score_changes_with_what_was_asked_only_where_the_judge_is_shown_it(rubrics: str, reads: bool) -> None:
    assert get_recipe(f"rag-qa@1{rubrics}").reads_input is reads


# --- scores -----------------------------------------------------------------------------------------------------------
def test_the_final_score_is_the_recipes_and_the_judges_stand_last() -> None:
    means = {"judge_fluency": 0.2, "meteor": 0.5}
    found = CAPTIONS.final_scores(means)
    assert list(found.items()) == [("final_score", 0.5), ("meteor", 0.5), ("judge_fluency", 0.2)]
    assert CAPTIONS.final_scores({"meteor": 0.5}) == {"final_score": 0.5, "meteor": 0.5}


def aggregated(references: Items, values: dict[str, dict[str, float]]) -> Any:
    layout = CAPTIONS.prepare(references, items())
    return CAPTIONS.aggregate(layout, values).scores


def test_a_judges_score_is_the_mean_of_its_values_and_absent_without_any() -> None:
    references = items(Item("a", "가", 1), Item("b", "나", 2))
    values = {"meteor": {"a": 0.5, "b": 0.7}, "judge_fluency": {"a": 0.2, "b": 1.0}}
    scores = {"final_score": 0.6, "meteor": 0.6}
    assert aggregated(references, values) == pytest.approx(scores | {"judge_fluency": 0.6})
    assert aggregated(references, {"meteor": values["meteor"]}) == pytest.approx(scores)
    nothing = {name: dict[str, float]() for name in values}
    assert aggregated(items(), nothing) == {"final_score": 0.0, "meteor": 0.0}


def test_the_scores_of_its_metrics_are_called_as_the_recipe_calls_them() -> None:
    assert [CAPTIONS.score_name(metric) for metric in ("judge_fluency", "rougel_okt")] == ["judge_fluency", "rouge_l"]
