"""Two results compared: what is tested and how, what is refused, and how it reads."""

import itertools
import json
import random
from dataclasses import replace

import pytest

from scoring.figures import average
from scoring.metrics.chrf import Chrf, best_counts
from scoring.metrics.classification import Classification, encode
from scoring.metrics.corpus_bleu import CorpusBleu, counts
from scoring.recipes import get_recipe
from scoring.records import ItemScores, ScoreReport
from scoring.significance.comparison import DifferentItems, DifferentRecipes, compare
from scoring.significance.resampling import SEED, TRIALS
from scoring.significance.view import render_comparison
from tests.scoring.texts import WORDS

REASONS = ("bleurt", "bertscore", "rouge_1")
MEANS = ("meteor", "meteor_synonym", "meteor_ko", "cider", "bertscore", "rouge_1", "rouge_2", "rouge_l", "spice_ko")
MONTE_CARLO = 4 * 0.5 / TRIALS**0.5
NAMES = ("a.json", "b.json")


def signature(recipe, **changes):
    metrics = {metric: {"metric": metric, "model": {"weights": "aa"}} for metric in recipe.metrics}
    about = {"references_file_sha256": "ff", "profile": None, "is_demo": False}
    return {
        "recipe": recipe.id,
        "references": {"items": 1, "sha256": "ee"},
        "metrics": metrics,
        "about": about,
        **changes,
    }


def report_of(recipe_id, items, corpus=None):
    """A report whose scores follow from ``items`` by the rule of the recipe."""
    recipe = get_recipe(recipe_id)
    names = dict.fromkeys(name for item in items for name in item.scores)
    means = {name: average([item.scores[name] for item in items if name in item.scores]) for name in names}
    for name in ("exact_match", *REASONS) if recipe_id.startswith("rag-qa") else ():
        means.setdefault(name, 0.0)
    scores = recipe.final_scores({**means, **(corpus or {})})
    return ScoreReport(
        recipe=recipe.id,
        final_score=scores["final_score"],
        scores=scores,
        coverage={"items": len(items)},
        warnings=(),
        items=tuple(items),
        signature=signature(recipe),
        signature_hash="",
        metric_signatures={},
    )


def contest(seed, items=10, skill=0.5, reasons=0.7):
    """A contest result: EM for all items, reason scores for some."""
    source = random.Random(seed)
    rows = []
    for number in range(items):
        scores = {"exact_match": float(source.random() < skill)}
        if source.random() < reasons:
            scores |= {metric: source.random() * skill for metric in REASONS}
        rows.append(ItemScores(f"q-{number}", scores))
    return report_of("rag-qa@1", rows)


def captions(seed, items=40, skill=0.5):
    """A captioning result with means, counts of BLEU and chrF, and diversity."""
    source, truth = random.Random(seed), random.Random(0)
    rows = []
    for number in range(items):
        reference = truth.choices(WORDS, k=12)
        caption = [word if source.random() < skill else source.choice(WORDS) for word in reference]
        statistics = {
            "bleu": counts([reference], caption),
            "chrf": best_counts([" ".join(reference)], " ".join(caption)),
            "diversity": (1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 12.0),
        }
        rows.append(ItemScores(f"c-{number}", {name: source.random() * skill for name in MEANS}, statistics))
    corpus = CorpusBleu.aggregate([row.statistics["bleu"] for row in rows])
    corpus |= Chrf().aggregate([row.statistics["chrf"] for row in rows])
    corpus |= {"distinct_1": 0.2, "distinct_2": 0.3, "unique_captions": skill, "length_ratio": 1.0}
    return report_of("captioning@1", rows, corpus)


def lines_of(comparison):
    return {line.key: line for line in comparison.lines}


def exact_final_p(a, b):
    """The p-value of the official final score over all ways to swap whole items."""
    recipe = get_recipe("rag-qa@1")

    def final(items):
        means = {
            name: average([item.scores[name] for item in items if name in item.scores])
            for name in ("exact_match", *REASONS)
        }
        return recipe.final_scores(means)["final_score"]

    observed = abs(b.final_score - a.final_score)
    far = total = 0
    pairs = list(zip(a.items, b.items, strict=True))
    for swaps in itertools.product((0, 1), repeat=len(pairs)):
        sides = [[pair[swap ^ side] for pair, swap in zip(pairs, swaps, strict=True)] for side in (0, 1)]
        far += abs(final(sides[1]) - final(sides[0])) >= observed - 1e-12
        total += 1
    return far / total


@pytest.mark.parametrize("seeds", [(1, 2), (3, 4), (5, 6)])
def test_final_score_is_tested_by_swapping_whole_items(seeds):
    """Reason means over different items in A and B: the p-value is that of all 1,024 swaps, recipe and all."""
    a, b = contest(seeds[0], skill=0.4), contest(seeds[1], skill=0.9)
    line = lines_of(compare(a, b))["final_score"]
    assert line.result.p == pytest.approx(exact_final_p(a, b), abs=MONTE_CARLO)
    assert (line.a, line.b) == (a.final_score, b.final_score)
    assert line.difference == b.final_score - a.final_score


def test_every_score_of_the_recipe_has_its_line_in_board_order():
    comparison = compare(contest(1), contest(2))
    assert [line.key for line in comparison.lines] == [column.key for column in get_recipe("rag-qa@1").columns]
    assert all(line.result is not None and line.reason is None for line in comparison.lines)
    assert (comparison.items, comparison.trials, comparison.seed) == (10, TRIALS, SEED)


def test_order_of_the_items_changes_nothing():
    a, b = contest(1, 60), contest(2, 60)
    shuffled = replace(b, items=tuple(random.Random(0).sample(b.items, len(b.items))))
    assert compare(a, shuffled) == compare(a, b)


def test_a_result_compared_with_itself_differs_nowhere():
    a = captions(1)
    for line in compare(a, a).lines:
        assert line.difference == 0
        assert line.result is None or (line.result.p == 1.0 and not line.is_significant)


def test_a_submission_without_reasons_is_compared():
    a, b = contest(1, 50, reasons=0.0), contest(2, 50)
    lines = lines_of(compare(a, b))
    assert lines["bleurt"].a == 0.0
    assert lines["bleurt"].result is not None
    assert lines["final_score"].result.p < 1


def test_corpus_metrics_are_resampled_from_their_rows():
    lines = lines_of(compare(captions(1, skill=0.5), captions(2, skill=0.8)))
    for key in ("bleu_1", "bleu_4", "chrf"):
        interval = lines[key].result.difference_interval
        assert interval.low < lines[key].difference < interval.high
        assert lines[key].is_significant


def test_diversity_has_a_difference_but_no_p():
    lines = lines_of(compare(captions(1, skill=0.5), captions(2, skill=0.8)))
    assert lines["unique_captions"].difference == pytest.approx(0.3)
    assert lines["unique_captions"].result is None
    assert lines["unique_captions"].reason == "not_resampled"


def test_a_final_score_that_is_the_mean_of_one_metric_counts_once_in_the_correction():
    """culture-qa with choices only: the final score is the accuracy, one hypothesis, so nothing is multiplied."""
    sides = [[ItemScores(f"q-{n}", {"accuracy": float(n % period == 0)}) for n in range(30)] for period in (2, 3)]
    lines = compare(*(report_of("culture-qa@1", side) for side in sides)).lines
    assert [line.key for line in lines] == ["final_score", "accuracy"]
    assert lines[0].result == lines[1].result
    assert lines[0].adjusted_p == lines[0].result.p


def test_all_tested_scores_are_corrected_together():
    comparison = compare(captions(1, skill=0.5), captions(2, skill=0.8))
    tested = [line for line in comparison.lines if line.result is not None]
    assert min(line.adjusted_p for line in tested) == pytest.approx(len(tested) * min(line.result.p for line in tested))
    assert all(line.adjusted_p >= line.result.p for line in tested)


def test_different_recipes_are_an_error_that_names_both():
    with pytest.raises(DifferentRecipes) as caught:
        compare(contest(1), captions(1))
    assert "rag-qa@1" in caught.value.message()
    assert "captioning@1" in caught.value.message("en")


def test_different_items_are_an_error_that_counts_and_names_them():
    a = contest(1, 10)
    with pytest.raises(DifferentItems) as caught:
        compare(a, replace(a, items=a.items[:4]))
    assert "A에만 6개(q-4, q-5, q-6, …)" in caught.value.message()
    assert "6 in A only" in caught.value.message("en")


def changed_signature(report, part, value):
    metrics = {**report.signature["metrics"], part: value} if part != "references" else report.signature["metrics"]
    top = {"references": value} if part == "references" else {}
    return replace(report, signature={**report.signature, "metrics": metrics, **top})


def test_other_references_are_said_and_nothing_is_tested():
    a = contest(1)
    b = changed_signature(contest(2), "references", {"items": 1, "sha256": "dd"})
    comparison = compare(a, b)
    assert {line.reason for line in comparison.lines} == {"other_references"}
    assert all(line.difference is not None for line in comparison.lines)
    text = render_comparison(comparison, NAMES)
    assert "정답 파일의 내용이 다릅니다(sha256)" in text
    assert "유의함\n" not in text


def test_a_metric_of_another_signature_is_not_tested_nor_what_is_made_of_it():
    a = contest(1)
    b = changed_signature(contest(2), "bleurt", {"metric": "bleurt", "model": {"weights": "bb"}})
    comparison = compare(a, b)
    reasons = {line.key: line.reason for line in comparison.lines}
    assert reasons == {
        "final_score": "depends",
        "exact_match": None,
        "descriptive_avg": "depends",
        "bleurt": "other_signature",
        "bertscore": None,
        "rouge_1": None,
    }
    assert "bleurt: 서명이 다릅니다(model.weights)." in render_comparison(comparison, NAMES)


def test_results_without_statistics_say_what_is_missing():
    a, b = captions(1), captions(2)
    bare = replace(b, items=tuple(replace(item, statistics={}) for item in b.items))
    lines = lines_of(compare(a, bare))
    assert lines["bleu_4"].reason == lines["chrf"].reason == "no_statistics"
    assert lines["final_score"].result is not None


def test_stored_scores_that_do_not_follow_from_the_items_are_not_tested():
    a, b = contest(1), contest(2)
    lines = lines_of(compare(a, replace(b, scores={**b.scores, "exact_match": 0.123})))
    assert lines["exact_match"].reason == "items_disagree"
    assert lines["bleurt"].reason is None


def test_a_score_of_one_result_only_stands_without_a_difference():
    a, b = captions(1), captions(2)
    with_clip = replace(b, scores={**b.scores, "clipscore": 0.7})
    line = lines_of(compare(a, with_clip))["clipscore"]
    assert (line.a, line.b, line.difference, line.reason) == (None, 0.7, None, "one_side")


def test_two_types_of_question_make_one_final_score():
    """culture-qa without descriptions: the mean of accuracy and EM, also in every resampling."""
    source = random.Random(4)
    sides = [
        [ItemScores(f"q-{n}", {("accuracy", "exact_match")[n % 2]: float(source.random() < skill)}) for n in range(80)]
        for skill in (0.3, 0.8)
    ]
    comparison = compare(*(report_of("culture-qa@1", side) for side in sides))
    assert [line.key for line in comparison.lines] == ["final_score", "accuracy", "exact_match"]
    assert all(line.is_significant for line in comparison.lines)


def test_text_shows_scores_on_the_scale_of_the_recipe():
    a, b = contest(1, 50), contest(2, 50)
    text = render_comparison(compare(a, b), NAMES)
    row = next(line for line in text.splitlines() if line.startswith("EM "))
    assert row.split()[1:4] == [
        f"{100 * a.scores['exact_match']:.7f}",
        f"{100 * b.scores['exact_match']:.7f}",
        f"{100 * (b.scores['exact_match'] - a.scores['exact_match']):+.7f}",
    ]
    assert "문항 50개, 시행 10,000회, 시드 20261120" in text
    assert "차이 없음" in row


def test_cider_keeps_its_own_scale_and_captions_four_decimals():
    a, b = captions(1), captions(2)
    text = render_comparison(compare(a, b), NAMES, "markdown")
    assert f"| CIDEr-D | {a.scores['cider']:.4f} | {b.scores['cider']:.4f} |" in text
    assert "| Distinct-1 | 0.2000 | 0.2000 | +0.0000 | - | - | - | 검정 안 함 |" in text


def test_json_has_stored_values_intervals_and_reasons():
    a, b = captions(1, skill=0.5), captions(2, skill=0.8)
    out = json.loads(render_comparison(compare(a, b), NAMES, "json"))
    assert (out["a"], out["b"], out["items"], out["seed"]) == (*NAMES, 40, SEED)
    assert out["scores"]["bleu_1"]["a"] == a.scores["bleu_1"]
    assert out["scores"]["bleu_1"]["is_significant"] is True
    low, high = out["scores"]["bleu_1"]["difference_interval"]
    assert low < out["scores"]["bleu_1"]["difference"] < high
    assert out["scores"]["distinct_1"]["p"] is None
    assert out["scores"]["distinct_1"]["reason"] == "not_resampled"


def test_demo_models_are_said():
    a = contest(1)
    demo = replace(a, signature={**a.signature, "about": {**a.signature["about"], "is_demo": True}})
    assert "데모 모델 점수" in render_comparison(compare(a, demo), NAMES)
    assert "데모 모델 점수" not in render_comparison(compare(a, a), NAMES)


@pytest.mark.parametrize("form", ["text", "markdown", "json"])
def test_english_has_no_korean_words(form):
    a = captions(1)
    b = changed_signature(captions(2), "chrf", {"metric": "chrf"})
    text = render_comparison(compare(a, b), NAMES, form, "en")
    assert not [character for character in text if "가" <= character <= "힣"]
    assert "no difference" in text or form == "json"


@pytest.mark.parametrize(("recipe_id", "untested"), [("classification@1", True), ("classification-accuracy@1", False)])
def test_macro_f1_of_more_classes_than_are_resampled_says_so(recipe_id, untested):
    """Every free text that is no label is a class of its own: no sign that a file was changed."""
    gold = [f"분류{number % 5}" for number in range(400)]

    def result(step):
        labels = [label if number % step else f"자유 {number}" for number, label in enumerate(gold)]
        rows = [encode([right], [given]) for right, given in zip(gold, labels, strict=True)]
        items = [ItemScores(f"i-{n:03}", {}, {"classification": row}) for n, row in enumerate(rows)]
        return report_of(recipe_id, items, Classification().aggregate(rows))

    comparison = compare(result(3), result(2))
    lines = lines_of(comparison)
    assert lines["f1_macro"].reason == "too_many_classes"
    assert lines["final_score"].reason == ("depends" if untested else None)
    assert lines["f1_weighted"].result is not None
    assert lines["accuracy"].result is not None
    assert "분류나 값의 종류가 너무 많아" in render_comparison(comparison, NAMES)
