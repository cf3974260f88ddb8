"""Recipes: how an answer is taken apart and how item values become scores, by the official rules."""

import math
import subprocess
import sys
import unicodedata
from dataclasses import replace

import pytest

from scoring.composite import Component
from scoring.metrics import METRICS
from scoring.recipes import RECIPES, MismatchedFiles, UnknownRecipe, _checked, get_recipe, task_hints, warning_text
from scoring.recipes.base import align
from scoring.recipes.rag_qa import answer_part, rag_qa_scores, split_answer
from scoring.recipes.warning_texts import warning_texts
from scoring.records import Item, Items, ScoreWarning
from scoring.text.essays import TRAITS
from tests.scoring.texts import GOLDEN, answer_file

REASONS = ("bleurt", "bertscore", "rouge1_mecab")
REASON_SCORES = ("bleurt", "bertscore", "rouge_1")
NO_REASONS: dict[str, dict[str, float]] = {metric: {} for metric in REASONS}


def codes(prepared):
    return [warning.code for warning in prepared.warnings]


@pytest.mark.parametrize("item", GOLDEN["items"], ids=lambda item: item["id"])
def test_official_reasons_of_every_item(item):
    assert split_answer(item["reference"])[1] == item["reference_reason"]
    assert split_answer(item["prediction"])[1] == item["prediction_reason"]


@pytest.mark.parametrize(
    ("text", "answer", "reason"),
    [
        ('"가다"가 옳다. 이유.', '"가다"가 옳다', "이유."),
        ("'읽음'이 옳다 . , 이유", "'읽음'이 옳다", "이유"),
        ("'읽음'이 옳다. '되'가 옳다. 이유", "'읽음'이 옳다. '되'가 옳다", "이유"),  # 가 anywhere comes before 이
        ("'가'가 옳다. 나가 옳다. 이유", "'가'가 옳다", "나가 옳다. 이유"),  # the first occurrence
        ("  가가 옳다", "가가 옳다", ""),
        ("이유만 있다.", "이유만 있다.", ""),
        ("가가 옳다 ., .,", "가가 옳다", ""),
        ("가가 옳다.\n이유", "가가 옳다", "\n이유"),  # only full stops, commas and spaces are stripped, officially
        ("가가  옳다. 이유", "가가  옳다. 이유", ""),  # two spaces are another text
        ("", "", ""),
    ],
)
def test_answer_ends_after_the_verdict_and_the_rest_is_the_reason(text, answer, reason):
    assert split_answer(text) == (answer, reason)


def test_answer_part_drops_straight_quotation_marks_only():
    assert answer_part("\"'가' 나\"가 옳다. 이유") == "가 나가 옳다"
    assert answer_part("‘가’가 옳다") == "‘가’가 옳다"


@pytest.mark.parametrize("row", GOLDEN["combination"]["rows"], ids=lambda row: str(row["final"]))
def test_public_board_rows_reproduce_the_final_score(row):
    scores = rag_qa_scores(row["exact_match"], {score: row[score] for score in REASON_SCORES})
    assert scores["final_score"] == pytest.approx(row["final"], abs=1e-7)


RAG_REFERENCES = answer_file(
    [
        ("a", "'읽음'이 옳다. 어간에 받침이 있다."),
        ("b", "'돼'가 옳다. '되어'의 준말이다."),
        ("c", "짜장면#자장면"),
        ("d", "'쇠고기'가 옳다#'소고기'가 옳다. 둘 다 표준어이다."),
    ]
)
RAG_PREDICTIONS = answer_file(
    [
        ("d", "'소고기'가 옳다."),
        ("c", " 자장면 "),
        ("b", "돼가 옳다"),
        ("a", '"읽음"이 옳다, 받침 때문이다.'),
    ]
)


def test_rag_qa_pairs_are_in_reference_order():
    prepared = get_recipe("rag-qa@1").prepare(RAG_REFERENCES, RAG_PREDICTIONS)
    assert prepared.item_ids == ("a", "b", "c", "d")
    assert prepared.pairs["exact_match"].candidates == ("읽음이 옳다", "돼가 옳다", "자장면", "소고기가 옳다")
    for metric in REASONS:
        pairs = prepared.pairs[metric]
        assert (pairs.ids, pairs.references, pairs.candidates) == (
            ("a",),
            (("어간에 받침이 있다.",),),
            ("받침 때문이다.",),
        )


def test_a_reference_is_split_on_its_verdict_before_its_alternatives():
    """Officially: alternatives are those of the answer part, which ends after the first verdict."""
    pairs = get_recipe("rag-qa@1").prepare(RAG_REFERENCES, RAG_PREDICTIONS).pairs["exact_match"]
    assert pairs.references[3] == ("쇠고기가 옳다",)


def test_reason_coverage_is_always_reported():
    prepared = get_recipe("rag-qa@1").prepare(RAG_REFERENCES, RAG_PREDICTIONS)
    assert prepared.coverage == {
        "items": 4,
        "answered": 4,
        "reason_gold": 3,
        "reason_answered": 1,
        "reason_coverage": 1 / 3,
    }
    assert codes(prepared) == ["reasons_missing"]
    assert prepared.warnings[0].params == {"missing": 2, "gold": 3, "percent": 100 / 3}


def test_an_answer_without_verdict_is_warned_about_only_where_the_reference_has_one():
    predictions = answer_file([("a", "읽음"), ("b", "돼. 되어의 준말"), ("c", "짜장면"), ("d", "'소고기'가 옳다.")])
    prepared = get_recipe("rag-qa@1").prepare(RAG_REFERENCES, predictions)
    assert [warning.params for warning in prepared.warnings if warning.code == "no_verdict"] == [{"count": 2}]


def test_official_reason_mean_leaves_out_missing_reasons_and_the_strict_one_counts_them_as_zero():
    values = {"exact_match": {"a": 1.0, "b": 1.0, "c": 1.0, "d": 0.0}}
    values |= {"bleurt": {"a": 0.3}, "bertscore": {"a": 0.6}, "rouge1_mecab": {"a": 0.9}}
    for recipe_id, share in (("rag-qa@1", 1.0), ("rag-qa-strict@1", 1 / 3)):
        recipe = get_recipe(recipe_id)
        prepared = recipe.prepare(RAG_REFERENCES, RAG_PREDICTIONS)
        scores = recipe.aggregate(prepared, values).scores
        assert scores["exact_match"] == 0.75
        assert scores["bleurt"] == pytest.approx(0.3 * share)
        assert scores["descriptive_avg"] == pytest.approx(0.6 * share)
        assert scores["final_score"] == pytest.approx((0.75 + 0.6 * share) / 2)
    assert codes(prepared)[0] == "reasons_missing_zero"


def test_leaving_out_hard_reasons_raises_the_official_mean_but_not_the_strict_one():
    references = answer_file([("a", "가가 옳다. 쉬운 이유"), ("b", "나가 옳다. 어려운 이유")])
    full = answer_file([("a", "가가 옳다. 쉬운 이유"), ("b", "나가 옳다. 틀린 말")])
    stuffed = answer_file([("a", "가가 옳다. 쉬운 이유"), ("b", "나가 옳다.")])
    scores = {}
    for recipe_id in ("rag-qa@1", "rag-qa-strict@1"):
        recipe = get_recipe(recipe_id)
        values = {metric: {"a": 1.0, "b": 0.1} for metric in REASONS} | {"exact_match": {"a": 1.0, "b": 1.0}}
        for name, file in (("full", full), ("stuffed", stuffed)):
            scores[recipe_id, name] = recipe.aggregate(recipe.prepare(references, file), values).scores["final_score"]
    assert scores["rag-qa@1", "stuffed"] > scores["rag-qa@1", "full"]
    assert scores["rag-qa-strict@1", "stuffed"] < scores["rag-qa-strict@1", "full"]


def test_without_any_reason_pair_the_reason_scores_are_zero():
    predictions = answer_file([("a", "x"), ("b", "x"), ("c", "짜장면"), ("d", "x")])
    recipe = get_recipe("rag-qa@1")
    prepared = recipe.prepare(RAG_REFERENCES, predictions)
    values = NO_REASONS | {"exact_match": {"a": 0.0, "b": 0.0, "c": 1.0, "d": 0.0}}
    scores = recipe.aggregate(prepared, values).scores
    assert [scores[key] for key in (*REASON_SCORES, "descriptive_avg")] == [0.0] * 4
    assert scores["final_score"] == 0.125


def test_a_reason_that_no_reference_asks_for_is_not_scored():
    references = answer_file([("a", "짜장면")])
    predictions = answer_file([("a", "짜장면이 옳다. 표준어이다.")])
    prepared = get_recipe("rag-qa-strict@1").prepare(references, predictions)
    assert len(prepared.pairs["bleurt"]) == 0
    assert prepared.coverage["reason_coverage"] == 1.0
    assert codes(prepared) == []


CULTURE_REFERENCES = answer_file(
    [
        ("1", "3", "선다형"),
        ("2", "2", "선다형"),
        ("3", "훈민정음#한글", "단답형"),
        ("4", "김장은 겨울에 먹을 김치를 담그는 일이다.", "서술형"),
    ]
)


def test_culture_types_are_scored_by_their_own_rule_on_raw_texts():
    predictions = answer_file([("1", "3"), ("2", "2 "), ("3", " 한글 "), ("4", "김치를 담그는 일")])
    prepared = get_recipe("culture-qa@1").prepare(CULTURE_REFERENCES, predictions)
    assert prepared.pairs["accuracy"].candidates == ("3", "2 ")
    assert prepared.pairs["exact_match"].references == (("훈민정음#한글",),)
    assert {prepared.pairs[metric].ids for metric in REASONS} == {("4",)}
    assert prepared.coverage == {"items": 4, "answered": 4, "multiple_choice": 2, "short_answer": 1, "descriptive": 1}
    assert codes(prepared) == ["padded_choices"]


def test_of_culture_a_judge_reads_descriptions_alone():
    recipe = get_recipe("culture-qa@1")
    assert [recipe.is_free_text(item) for item in CULTURE_REFERENCES.items] == [False, False, False, True]


def test_culture_public_baseline_is_the_mean_of_the_three_types():
    recipe = get_recipe("culture-qa@1")
    prepared = recipe.prepare(CULTURE_REFERENCES, CULTURE_REFERENCES)
    values = {
        "accuracy": {"1": 0.4715, "2": 0.4715},
        "exact_match": {"3": 0.4118},
        "rouge1_mecab": {"4": 0.4109},
        "bertscore": {"4": 0.7198},
        "bleurt": {"4": 0.5450},
    }
    scores = recipe.aggregate(prepared, values).scores
    assert scores["descriptive_avg"] == pytest.approx(0.5586, abs=5e-5)
    assert scores["final_score"] == pytest.approx(0.4806, abs=5e-5)


def test_culture_type_without_items_has_no_score_and_does_not_count():
    references = answer_file([("1", "3", "선다형"), ("3", "한글", "단답형")])
    recipe = get_recipe("culture-qa@1")
    prepared = recipe.prepare(references, references)
    values = {"accuracy": {"1": 1.0}, "exact_match": {"3": 0.0}, **NO_REASONS}
    assert recipe.aggregate(prepared, values).scores == {"final_score": 0.5, "accuracy": 1.0, "exact_match": 0.0}


def test_culture_descriptions_have_a_mean_only_where_all_their_metrics_ran():
    scores = get_recipe("culture-qa@1").final_scores({"accuracy": 1.0, "rouge_1": 0.5})

    assert scores == {"final_score": 1.0, "accuracy": 1.0, "rouge_1": 0.5}


def test_culture_choices_with_white_space_around_them_are_warned_about():
    kinds = ("선다형", "선다형", "선다형", "단답형")
    texts = ("3 ", "3", "3", "3 ")
    gold = answer_file([(item, "3", kind) for item, kind in zip("abcd", kinds, strict=True)])
    given = answer_file([(item, text, kind) for item, text, kind in zip("abcd", texts, kinds, strict=True)])

    [warning] = get_recipe("culture-qa@1").prepare(gold, given).warnings
    assert (warning.code, warning.params) == ("padded_choices", {"count": 1})


@pytest.mark.parametrize(
    ("text", "kind", "is_empty"),
    [("가#", "단답형", True), ("가#나", "단답형", False), ("가#", "서술형", False), ("#", "단답형", True)],
)
def test_culture_short_answers_alone_have_alternatives_that_may_be_empty(text, kind, is_empty):
    [answer] = answer_file([("a", text, kind)]).items

    assert get_recipe("culture-qa@1").has_empty_alternative(answer) is is_empty


def test_culture_bleu_variant_has_bleu_in_place_of_bleurt():
    assert get_recipe("culture-qa@1").metrics[2:] == ("rouge1_mecab", "bertscore", "bleurt")
    assert get_recipe("culture-qa-bleu@1").metrics[2:] == ("rouge1_mecab", "bertscore", "sentence_bleu1")


def test_culture_refuses_a_type_it_has_no_rule_for():
    references = answer_file([("1", "3", "선택형")])
    with pytest.raises(MismatchedFiles, match="선택형"):
        get_recipe("culture-qa@1").prepare(references, references)


@pytest.mark.parametrize(
    "rows", [[("a", "x")], [("a", "x"), ("b", "x"), ("e", "x")], [("a", "x"), ("a", "y"), ("b", "x")]]
)
def test_files_with_other_ids_are_refused(rows):
    references = answer_file([("a", "x"), ("b", "y")])
    with pytest.raises(MismatchedFiles):
        get_recipe("rag-qa@1").prepare(references, answer_file(rows))
    with pytest.raises(MismatchedFiles):
        get_recipe("rag-qa@1").prepare(answer_file(rows), references)


def test_normalised_and_empty_answers_are_warned_about():
    references = answer_file([("a", "가가 옳다. 이유"), ("b", "나가 옳다. 이유")])
    predictions = answer_file([("a", unicodedata.normalize("NFD", "가가 옳다. 이유")), ("b", " \n")])
    prepared = get_recipe("rag-qa@1").prepare(references, predictions)
    assert codes(prepared) == ["reasons_missing", "no_verdict", "nfc_normalized", "empty_answers"]
    assert prepared.coverage["answered"] == 1


def test_aggregate_is_independent_of_the_order_of_values():
    recipe = get_recipe("rag-qa@1")
    ids = [f"{number:04}" for number in range(500)]
    references = answer_file([(item, "가가 옳다. 이유") for item in ids])
    prepared = recipe.prepare(references, references)
    backwards = recipe.prepare(answer_file([(item, "가가 옳다. 이유") for item in reversed(ids)]), references)
    values = {metric: {item: math.sqrt(int(item)) / 30 for item in ids} for metric in recipe.metrics}
    assert recipe.aggregate(prepared, values).scores == recipe.aggregate(backwards, values).scores


def test_aggregate_uses_values_of_its_pairs_only_and_misses_none_silently():
    recipe = get_recipe("rag-qa@1")
    prepared = recipe.prepare(RAG_REFERENCES, RAG_PREDICTIONS)
    values = {metric: dict.fromkeys("abcd", 0.5) for metric in recipe.metrics}
    stale = {metric: column | {"gone": 1.0} for metric, column in values.items()}
    assert recipe.aggregate(prepared, stale).scores == recipe.aggregate(prepared, values).scores
    del values["bleurt"]["a"]
    with pytest.raises(KeyError):
        recipe.aggregate(prepared, values)


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=lambda recipe: recipe.id)
def test_every_recipe_is_complete(recipe):
    assert set(recipe.metrics) <= set(METRICS)
    assert recipe.columns[0].key == "final_score"
    assert [column.key for column in recipe.columns if column.is_main] == ["final_score"]
    assert _checked(recipe.id, recipe) is recipe, "what is asked of a plug-in's holds of it"
    keys = {column.key for column in recipe.columns}
    for language in ("ko", "en"):
        assert all(recipe.metric_label(metric, language) for metric in recipe.metrics)
    metrics = (*recipe.metrics, *recipe.optional_metrics)
    scores = {name for metric in metrics for name in METRICS[metric].score_names}
    assert keys - {"final_score", "descriptive_avg"} <= scores
    assert recipe.title("ko") != recipe.title("en")
    assert recipe.rule("ko") != recipe.rule("en")
    assert all(column.label("ko") and column.label("en") for column in recipe.columns)
    assert hash(recipe) == hash(get_recipe(recipe.id))


def test_unknown_recipe_is_named_with_the_known_ones():
    with pytest.raises(UnknownRecipe, match=r"'rag-qa@9'.*rag-qa@1"):
        get_recipe("rag-qa@9")


PARAMS = {"gold": 10, "missing": 2, "percent": 80.0, "count": 3, "profile": "demo"}


@pytest.mark.parametrize("code", warning_texts())
def test_every_warning_has_words_in_both_languages(code):
    korean, english = (warning_text(ScoreWarning(code, PARAMS), language) for language in ("ko", "en"))
    assert korean != english
    assert "{" not in korean + english


def test_recipes_load_no_analyser_and_no_model():
    code = (
        "import sys, scoring.recipes, scoring.signature\n"
        "print({'torch', 'transformers', 'mecab', 'konlpy', 'numpy'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


# --- what a board shows of them ---------------------------------------------------------------------------------------
BUILT_IN = [get_recipe(recipe_id) for recipe_id in RECIPES]


@pytest.mark.parametrize("recipe", BUILT_IN, ids=lambda recipe: recipe.id)
def test_a_score_is_shown_on_the_scale_of_its_task(recipe):
    assert (recipe.scale, recipe.decimals) == ((1, 4) if recipe.answer_form == "captions" else (100, 7))
    assert [column.key for column in recipe.columns if column.is_main] == ["final_score"]


def test_scores_that_are_no_share_are_shown_as_they_are():
    columns = [column for recipe in BUILT_IN for column in recipe.columns]
    unscaled = {column.key for column in columns if not column.is_scaled}

    assert unscaled == {
        *("cider", "clip_cosine", "clipscore", "fluency", "foreign_runs", "length_ratio", "mse", "refclipscore"),
        *("rmse", "spearman", "parse_failures", "mae", "kappa", "bias", "rationale_length"),
        *(f"{score}_{trait}" for score in ("rmse", "spearman", "kappa") for trait in TRAITS),
    }
    assert unscaled.isdisjoint(column.key for column in columns if column.is_scaled)


def test_scores_that_only_describe_rank_nobody_and_all_others_may():
    without = {column.key for recipe in BUILT_IN for column in recipe.columns if not column.has_direction}
    assert without == {
        *("length_ratio", "colour_share", "adjective_share", "modifier_share"),
        *("hangul_share", "foreign_runs", "foreign_captions"),
        *("bias", "integer_share", "rationale_length", "rationale_quotes", "rationale_hangul"),
    }
    for recipe in BUILT_IN:
        assert recipe.directed_scores == tuple(column.key for column in recipe.columns if column.key not in without)


def test_less_is_better_of_errors_and_failures_alone():
    less = {column.key for recipe in BUILT_IN for column in recipe.columns if not recipe.higher_is_better(column.key)}
    assert less == {"mse", "rmse", "mae", "parse_failures", *(f"rmse_{trait}" for trait in TRAITS)}


def test_composite_column_and_metric_each_may_say_that_less_is_better():
    recipe = get_recipe("regression@1")
    plain = replace(recipe, columns=recipe.columns[:1])
    assert not plain.higher_is_better("mse"), "its metric says so"
    assert plain.higher_is_better("final_score")
    columns = (recipe.columns[0], replace(recipe.columns[1], key="of_a_column"))
    assert not replace(recipe, columns=columns).higher_is_better("of_a_column")
    composite = (Component("more", 1), Component("less", 1, higher_is_better=False))
    ranked = replace(recipe, composite=composite)
    assert [ranked.higher_is_better(name) for name in ("more", "less", "final_score")] == [True, False, True]


def test_an_answer_is_one_of_its_references_where_any_alternative_is_that_text():
    long = "열 글자가 넘는 답이다"
    rows = {"a": [long], "b": ["짧다"], "c": ["다른 답도 있다", f"가#{long} "], "d": [f"{long}."], "e": ["다른 답"]}
    items = (Item(name, texts[0], 1, others=tuple(texts[1:])) for name, texts in rows.items())
    given = answer_file([("a", f" {long}"), ("b", "짧다"), ("c", long), ("d", long), ("e", "")])
    layout = get_recipe("dialogue-summary@1").prepare(Items(tuple(items), "json-array", "0" * 64), given)

    assert layout.same_items(0) == {"a", "b", "c"}
    assert layout.same_items(len(long)) == {"a", "c"}
    assert layout.same_items(len(long) + 1) == set()


def test_what_a_recipe_says_of_itself_where_it_says_nothing():
    recipe = get_recipe("dialogue-summary@1")
    [answer] = answer_file([("a", "가#")]).items
    assert (recipe.has_choices, recipe.reads_input) == (False, False)
    assert (recipe.has_empty_alternative(answer), recipe.is_free_text(answer)) == (False, True)
    assert {recipe.id for recipe in BUILT_IN if recipe.has_choices} == {"culture-qa@1", "culture-qa-bleu@1"}


def test_captions_are_judged_by_three_scores_and_shown_with_others_for_reference():
    columns = get_recipe("captioning@1").columns

    assert [column.key for column in columns if column.group == "main"] == ["final_score", "cider", "bertscore"]
    assert [column.key for column in columns if column.group == "reference"] == [
        *("meteor_synonym", "meteor_ko", "bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_1", "rouge_2", "rouge_l"),
        *("chrf", "spice_ko", "distinct_1", "distinct_2", "unique_captions", "length_ratio"),
        *("clipscore", "refclipscore", "clip_cosine"),
    ]


def test_several_references_are_taken_where_a_task_has_them():
    assert {recipe.id for recipe in BUILT_IN if recipe.takes_several_references} == {
        *("dialogue-summary@1", "generation-rouge1@1", "generation-rougel@1", "generation-bleu@1"),
        *("generation-from-data@1", "generation-from-data-best@1"),
    }


@pytest.mark.parametrize("recipe", BUILT_IN, ids=lambda recipe: recipe.id)
def test_a_metric_is_called_as_its_column_is(recipe):
    labels = {column.key: column.label("en") for column in recipe.columns}

    for metric in recipe.metrics:
        kind = METRICS[metric]
        name = kind.score_names[0] if kind.has_item_values else metric
        assert recipe.score_name(metric) == name
        assert recipe.metric_label(metric, "en") == labels.get(name, kind.label.text("en"))
    assert recipe.metric_label("of a plug-in that is gone") == "of a plug-in that is gone"


@pytest.mark.parametrize(
    ("references", "predictions"),
    [
        ([("a", "x"), ("a", "x")], [("a", "x"), ("a", "x")]),
        ([("a", "x"), ("a", "x")], [("a", "x")]),
        ([("a", "x")], [("a", "x"), ("a", "y")]),
        ([("a", "x")], [("b", "x")]),
        ([("a", "x"), ("b", "x")], [("a", "x")]),
        ([("a", "x")], [("a", "x"), ("b", "x")]),
    ],
)
def test_files_must_hold_the_same_ids_each_once(references, predictions):
    with pytest.raises(MismatchedFiles):
        align(answer_file(references), answer_file(predictions))


@pytest.mark.parametrize(
    ("recipe", "rules"),
    [
        ("rag-qa@1", {"exact_match": "rag-qa-answer@1", **dict.fromkeys(REASONS, "rag-qa-reason@1")}),
        (
            "culture-qa@1",
            {
                "accuracy": "culture-qa-multiple_choice@1",
                "exact_match": "culture-qa-short_answer@1",
                **dict.fromkeys(("rouge1_mecab", "bertscore", "bleurt"), "culture-qa-descriptive@1"),
            },
        ),
        ("classification@1", {"classification": "single-label@1"}),
        ("multi-label@1", {"classification": "label-set@1"}),
        ("regression@1", {"squared_error": "decimal-number@1"}),
    ],
)
def test_a_signature_names_the_rule_by_which_a_metric_gets_its_texts(recipe, rules):
    made = get_recipe(recipe)

    assert {metric: made.input_rule(metric) for metric in made.metrics} == rules


@pytest.mark.parametrize(
    ("recipe_id", "of_models"),
    [
        ("rag-qa@1", {"final_score", "descriptive_avg", "bleurt", "bertscore"}),
        ("culture-qa-bleu@1", {"final_score", "descriptive_avg", "bertscore"}),
        ("captioning@1", {"bertscore", "clipscore", "refclipscore", "clip_cosine"}),
        ("captioning-rich@1", {"bertscore", "fluency"}),
        ("captioning-lexical@1", set()),
        ("regression@1", set()),
    ],
)
def test_the_scores_that_a_model_takes_part_in_are_known(recipe_id, of_models):
    recipe = get_recipe(recipe_id)
    assert recipe.model_scores & {column.key for column in recipe.columns} == of_models


def test_a_file_of_another_task_gets_a_hint():
    culture = answer_file([("a", "3", "선다형"), ("b", "김치", "단답형")])
    [hint] = task_hints(get_recipe("rag-qa@1"), culture)
    assert hint.params["recipe"] == "culture-qa@1"
    assert "단답형, 선다형" in warning_text(hint)
    assert "a file for culture-qa@1" in warning_text(hint, "en")
    assert [one.code for one in task_hints(get_recipe("rag-qa@1"), answer_file([("a", "가", "선택형")]), culture)] == []
    assert not task_hints(get_recipe("culture-qa@1"), culture)
    assert not task_hints(get_recipe("multi-label@1"), culture)
    assert not task_hints(get_recipe("rag-qa@1"), RAG_REFERENCES)
