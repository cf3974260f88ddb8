"""Recipes of the further tasks of the contest: generation, classification and regression, from hand-made values."""

import json

import numpy as np
import pytest

from scoring import engine
from scoring.metrics import METRICS, load_metric
from scoring.reading import read_references
from scoring.recipes.base import MismatchedFiles
from scoring.recipes.columns import ACCURACY, F1_MACRO
from scoring.recipes.generation import dialogue_summary, story_completion
from scoring.recipes.labels import multi_label, regression, single_label
from scoring.records import Item, Items
from scoring.text.answers import UnreadableAnswer, label_text, labels_of
from tests.scoring.fakes import STORE
from tests.scoring.texts import answer_file

SERIES = (
    story_completion(),
    dialogue_summary(),
    single_label(F1_MACRO),
    single_label(ACCURACY),
    multi_label(),
    regression(),
)


def score(recipe, references, predictions):
    """All scores by way of the recipe's only metric."""
    prepared = recipe.prepare(answer_file(references), answer_file(predictions))
    [name] = recipe.metrics
    pairs, metric = prepared.pairs[name], load_metric(name)
    if name == "classification":
        corpus = metric.aggregate(metric.statistics(pairs.ids, pairs.references, pairs.candidates))
        return recipe.aggregate(prepared, {}, corpus).scores
    values = metric.score_pairs([texts[0] for texts in pairs.references], pairs.candidates)
    return recipe.aggregate(prepared, {name: dict(zip(pairs.ids, values, strict=True))}).scores


def test_the_series_has_six_recipes():
    assert [recipe.id for recipe in SERIES] == [
        "story-completion@1",
        "dialogue-summary@1",
        "classification@1",
        "classification-accuracy@1",
        "multi-label@1",
        "regression@1",
    ]


@pytest.mark.parametrize("recipe", SERIES, ids=lambda recipe: recipe.id)
def test_every_recipe_of_the_series_is_complete(recipe):
    assert set(recipe.metrics) <= set(METRICS)
    assert [column.key for column in recipe.columns if column.is_main] == ["final_score"]
    assert recipe.columns[0].key == "final_score"
    assert {*recipe.tie_breaks} <= {column.key for column in recipe.columns}
    assert recipe.question_types == ()
    assert recipe.title("ko") != recipe.title("en")
    assert recipe.rule("ko") != recipe.rule("en")
    assert all(column.label("ko") and column.label("en") for column in recipe.columns)
    assert all(recipe.input_rule(metric).endswith("@1") for metric in recipe.metrics)
    assert isinstance(hash(recipe), int)


@pytest.mark.parametrize("recipe", SERIES, ids=lambda recipe: recipe.id)
def test_files_with_other_ids_are_refused(recipe):
    with pytest.raises(MismatchedFiles):
        recipe.prepare(answer_file([("a", "1")]), answer_file([("b", "1")]))


GENERATED = {
    "rouge1_mecab": {"a": 0.2, "b": 0.4},
    "sentence_bleu1": {"a": 0.5, "b": 0.5},
    "bleurt": {"a": 0.1, "b": 0.7},
    "bertscore": {"a": 0.9, "b": 0.7},
}


def test_story_completion_is_the_mean_of_the_four():
    recipe = story_completion()
    prepared = recipe.prepare(answer_file([("a", "가"), ("b", "나")]), answer_file([("b", "다"), ("a", "")]))
    scores = recipe.aggregate(prepared, GENERATED).scores
    assert scores["final_score"] == pytest.approx((0.3 + 0.5 + 0.4 + 0.8) / 4)
    assert {column.key for column in recipe.columns} == set(scores)
    assert prepared.coverage == {"items": 2, "answered": 1}
    assert [warning.code for warning in prepared.warnings] == ["empty_answers"]


def test_dialogue_summary_reproduces_the_published_baseline():
    """Llama-3-Bllossom-8B without fine-tuning, as its public repository reports it: 54.276."""
    recipe = dialogue_summary()
    scores = recipe.final_scores({"rouge_1": 44.592, "bertscore": 73.277, "bleurt": 44.958})
    assert scores["final_score"] == pytest.approx(54.276, abs=5e-4)


def test_generation_gives_every_reference_to_every_metric():
    recipe = dialogue_summary()
    references = Items((Item("a", "하나", 1, others=("둘",)),), "json-array", "0" * 64)
    prepared = recipe.prepare(references, answer_file([("a", "둘")]))
    assert {pairs.references for pairs in prepared.pairs.values()} == {(("하나", "둘"),)}


def test_of_several_summaries_the_best_counts_metric_by_metric(fake_models):
    texts = ("아이가 공을 찬다", "찬다")
    gold = json.dumps([{"id": "a", "output": {"answer": texts}}]).encode()
    given = answer_file([("a", "아이가 찬다")])
    several = scores_of(read_references(gold, dialogue_summary()), given)
    first, second = (scores_of(answer_file([("a", text)]), given) for text in texts)
    for metric in map(dialogue_summary().score_name, dialogue_summary().metrics):
        assert several[metric] == max(first[metric], second[metric])
    assert several["rouge_1"] == first["rouge_1"] > second["rouge_1"]
    assert several["bleurt"] == second["bleurt"] > first["bleurt"]


def scores_of(references, predictions):
    return engine.score("dialogue-summary@1", references, predictions, store=STORE).scores


LABELLED = [("1", "긍정"), ("2", "부정"), ("3", "부정"), ("4", "중립"), ("5", "부정")]
ANSWERED = [("1", "긍정"), ("2", "부정 "), ("3", "긍정"), ("4", ""), ("5", "[부정]")]


def test_classification_ranks_by_macro_f1_over_the_labels_seen():
    from sklearn.metrics import f1_score

    truth = [label for _, label in LABELLED]
    given = [label.strip() for _, label in ANSWERED]
    scores = score(single_label(F1_MACRO), LABELLED, ANSWERED)
    assert scores["final_score"] == scores["f1_macro"]
    assert scores["f1_macro"] == pytest.approx(f1_score(truth, given, average="macro", zero_division=0), abs=1e-12)
    assert scores["accuracy"] == scores["f1_micro"] == 0.4
    assert "f1_samples" not in scores


def test_classification_by_accuracy_differs_in_the_final_score_only():
    by_accuracy, by_macro = (score(single_label(column), LABELLED, ANSWERED) for column in (ACCURACY, F1_MACRO))
    assert by_accuracy["final_score"] == by_accuracy["accuracy"] == 0.4
    assert by_accuracy | {"final_score": 0} == by_macro | {"final_score": 0}


def test_a_single_label_that_looks_like_json_is_still_one_label():
    assert score(single_label(ACCURACY), [("1", "[가]"), ("2", "{")], [("1", "[가]"), ("2", "{")])["final_score"] == 1.0


def test_an_unanswered_item_is_a_wrong_label_and_not_left_out():
    scores = score(single_label(ACCURACY), [("1", "가"), ("2", "가")], [("1", "가"), ("2", "")])
    assert scores["f1_micro"] == scores["accuracy"] == 0.5


EMOTIONS = [("1", '["기쁨", "신뢰"]'), ("2", '{"기쁨": "False", "분노": "True"}'), ("3", "슬픔")]


def test_several_labels_rank_by_micro_f1_whatever_their_order_and_notation():
    scores = score(multi_label(), EMOTIONS, [("1", '["신뢰", "기쁨"]'), ("2", "분노"), ("3", '{"슬픔": true}')])
    assert scores == dict.fromkeys(scores, 1.0)
    partly = score(multi_label(), EMOTIONS, [("1", '["신뢰"]'), ("2", '["분노", "혐오"]'), ("3", "[]")])
    assert partly["final_score"] == partly["f1_micro"] == pytest.approx(2 * 2 / (4 + 3))
    assert partly["accuracy"] == 0.0


def test_an_unanswered_item_has_no_labels_where_there_may_be_several():
    empty_text = score(multi_label(), EMOTIONS, [("1", " "), ("2", "분노"), ("3", "슬픔")])
    empty_list = score(multi_label(), EMOTIONS, [("1", "[]"), ("2", "분노"), ("3", "슬픔")])
    assert empty_text == empty_list


def test_labels_given_as_several_texts_count_together():
    references = Items((Item("a", "기쁨", 1, others=("신뢰",)),), "json-array", "0" * 64)
    pairs = multi_label().prepare(references, answer_file([("a", '["신뢰", "기쁨"]')])).pairs["classification"]
    assert pairs.references == ((pairs.candidates[0],),)


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("긍정", {"긍정"}),
        (" 긍정\n", {"긍정"}),
        ("긍정, 부정", {"긍정, 부정"}),
        ('["가", " 나 ", "가"]', {"가", "나"}),
        ("[]", set()),
        ('{"가": true, "나": false, "다": "true", "라": "False"}', {"가", "다"}),
        ("{}", set()),
    ],
)
def test_a_label_text_is_a_json_list_or_object_or_one_label(text, labels):
    assert labels_of(text) == labels
    assert labels_of(label_text(labels)) == labels


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("[가]", "bad_label_list"),
        ('["가", 1]', "bad_label_list"),
        ('[["가"]]', "bad_label_list"),
        ('{"가": 1}', "bad_label_list"),
        ('{"가": "네"}', "bad_label_list"),
        ('{"가": []}', "bad_label_list"),
        ('["가"', "bad_label_list"),
        ("[" * 9_000, "bad_label_list"),
        (label_text(map(str, range(201))), "too_many_labels"),
    ],
)
def test_what_is_no_label_text_is_refused(text, code):
    with pytest.raises(UnreadableAnswer) as caught:
        labels_of(text)
    assert caught.value.code == code


def test_regression_is_one_without_error_and_falls_as_the_error_grows():
    references = [("1", "1"), ("2", "2.5")]
    exact = score(regression(), references, [("1", "1.0"), ("2", " 25e-1")])
    near = score(regression(), references, [("1", "2"), ("2", "2.5")])
    far = score(regression(), references, [("1", "-3"), ("2", "0.5")])
    assert exact == {"final_score": 1.0, "mse": 0.0}
    assert near == {"final_score": 1 / 1.5, "mse": 0.5}
    assert far == {"final_score": 1 / 11, "mse": 10.0}


def test_the_error_is_shown_as_it_is():
    assert [column.is_scaled for column in regression().columns] == [True, False]


def test_finals_can_be_made_of_resampled_means():
    mse = np.array([0.0, 1.0, 3.0])
    assert regression().final_scores({"mse": mse})["final_score"].tolist() == [1.0, 0.5, 0.25]
    means = {"rouge_1": np.array([0.3, 0.6]), "bertscore": np.array([0.6, 0.6]), "bleurt": np.array([0.0, 0.3])}
    assert dialogue_summary().final_scores(means)["final_score"].tolist() == pytest.approx([0.3, 0.5])


@pytest.mark.parametrize(
    ("ranking", "recipe", "columns", "tie_breaks"),
    [
        (
            F1_MACRO,
            "classification@1",
            ("final_score", "f1_macro", "accuracy", "f1_weighted", "f1_micro"),
            ("accuracy", "f1_weighted"),
        ),
        (
            ACCURACY,
            "classification-accuracy@1",
            ("final_score", "accuracy", "f1_macro", "f1_weighted", "f1_micro"),
            ("f1_macro", "f1_weighted"),
        ),
    ],
)
def test_what_ranks_one_label_stands_first_and_the_others_break_ties(ranking, recipe, columns, tie_breaks):
    made = single_label(ranking)
    means = {column: number / 10 for number, column in enumerate(columns[1:], start=1)}

    assert made.final_scores(means)["final_score"] == means[ranking.key]
    assert made.id == recipe
    assert tuple(column.key for column in made.columns) == columns
    assert made.tie_breaks == tie_breaks
