"""Essay scoring (AI 말평 2026) held against numpy, scipy, scikit-learn and the published rule written once more."""

from __future__ import annotations

import json
import math
import random
import time
import warnings

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.metrics import cohen_kappa_score, root_mean_squared_error

from scoring import engine
from scoring.composite import Component
from scoring.metrics import METRICS, load_metric
from scoring.metrics.essay_agreement import quadratic_kappa, root_mean_square
from scoring.metrics.essay_rank import MAX_TABLE, EssayRank, moments_of_table, spearman
from scoring.metrics.essay_rationales import rationale_row, runs_of
from scoring.reading import read_predictions, read_references
from scoring.recipes import ORGANISER_CODES, get_recipe, warning_text
from scoring.recipes.essay_scoring import MIN_ESSAYS
from scoring.report import render, report_as_dict
from scoring.running.needs import needs_models
from scoring.significance.comparison import compare
from scoring.text.essays import answer_of, predicted_average, read_output, rounded, text_of
from tests.scoring.essays import (
    ESSAY,
    TRAITS,
    dumped,
    extracted,
    parsed,
    prediction,
    reference,
    rmse,
    spearman_of,
    traits,
)

RECIPE = get_recipe("essay-scoring@1")
FILES = 10_000
SCORES = (1, 2, 3, 4, 5, 0.5, 1.5, 2.5, 3.5, 4.5, 2.4999999999999996, 3.49, 3.51, 4.95, 1.05, 2.675)
ODD_SCORES = ("4", "4.5", "４", " 3 ", "1_0", "넷", "", True, False, None, [4], {"score": 4}, 0, -2.5, 7, 1e9, 10**400)
ODD_LITERALS = ("NaN", "Infinity", "-Infinity", "1e999", "04", "+4", "4.")
official_spearman = spearman_of(spearmanr)


# --- raw texts that a model might write -------------------------------------------------------------------------------
def raw_text(rng: random.Random) -> str:
    """The raw text of an answer: sound for the most part, else broken or odd in one of many ways."""
    answer = traits(*(rng.choice(SCORES) for _ in TRAITS), rationale=rng.choice(("좋다", "", '그는 "왜?"라고 했다\n')))
    kind = rng.randrange(16)
    if kind == 0:
        answer[rng.choice(TRAITS)]["score"] = rng.choice(ODD_SCORES)
    elif kind == 1:
        answer[rng.choice(TRAITS)]["rationale"] = rng.choice(
            ("중괄호 } 하나", "{ 열림", "{ 짝이 맞음 }", "} 거꾸로 {", "```")
        )
    elif kind == 2:
        answer[rng.choice(TRAITS)] = rng.choice((4, "4", None, [4], {}, {"rationale": "점수가 없다"}, {"Score": 4}))
    elif kind == 3:
        del answer[rng.choice(TRAITS)]
    elif kind == 4:
        answer = {"judge": answer}
    elif kind == 5:
        answer["total"] = {"inner": {"deep": {"score": [{}, {"a": {}}]}}}
    text = damaged(rng, json.dumps(answer, ensure_ascii=rng.random() < 0.5, indent=rng.choice((None, 2))))
    wrap = rng.choice(
        ("{}", "```json\n{}\n```", "```{}```", "  {}\n", "답은 다음과 같습니다.\n{}\n이상입니다.", "```JSON\n{}\n```")
    )
    return wrap.replace("{}", text)


def damaged(rng: random.Random, text: str) -> str:
    """``text`` or, now and then, something that is no longer an answer."""
    kind = rng.randrange(6, 20)
    if kind == 6:
        text = text.replace('"score": ', f'"score": {rng.choice(ODD_LITERALS)}, "was": ', 1)
    elif kind == 7:
        text = text[: rng.randrange(len(text))]
    elif kind == 8:
        text = text.replace('"score"', '"score": 5, "score"', 1)
    elif kind == 9:
        text = rng.choice(
            ("", "점수를 매길 수 없습니다.", "{", "}", "{}", "[]", "null", "}{", "```json\n```", '"{"', "[1, 2]")
        )
    elif kind == 10:
        text = rng.choice(("{생각} ", "답: {} ", "{'content': 4} ", "} ")) + text
    elif kind == 11:
        text = text.replace(",", "", 1)
    return text


def reference_scores(rng: random.Random) -> list[float]:
    content = min(5.0, max(1.0, round(rng.gauss(3.3, 0.65), 1)))
    rest = (min(5.0, max(1.0, round(rng.gauss(mean, 0.8) * 4) / 4)) for mean in (3.3, 3.7))
    return [content, *rest]


def rows_of_file(rng: random.Random) -> tuple[list[float], list[str]]:
    """Averages and raw texts of one file: often a single essay or a few, sometimes constant on a side."""
    size = rng.choice((1, 1, 2, 2, 3, 4, 6, 9))
    averages = [round(sum(reference_scores(rng)) / 3 + rng.choice((0, 0.0067, -0.0067)), 4) for _ in range(size)]
    if rng.random() < 0.1:
        averages = averages[:1] * size
    constant = json.dumps(traits(3)) if rng.random() < 0.1 else None
    return averages, [constant or raw_text(rng) for _ in range(size)]


def is_huge(scores: list[float] | None) -> bool:
    return scores is not None and max(map(abs, scores)) > 1e100


def test_rmse_spearman_and_parse_failures_are_those_of_numpy_and_scipy_on_10_000_files() -> None:
    rng, differences, seen = random.Random(20260819), [0.0], dict.fromkeys(("failed", "single", "undefined"), 0)
    began = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scipy's, of a constant side
        for _ in range(FILES):
            averages, outputs = rows_of_file(rng)
            known = [parsed(output) for output in outputs]
            predicted = [prediction(None if is_huge(scores) else scores) for scores in known]
            own = [text_of(read_output(output)) for output in outputs]
            references = [(json.dumps({"average": average}),) for average in averages]
            ids = [str(number) for number in range(len(own))]
            found: dict[str, float] = {}
            for name in ("essay_error", "essay_rank"):
                metric = load_metric(name)
                found |= metric.aggregate(metric.statistics(ids, references, own))
            expected = {"rmse": rmse(predicted, averages), "spearman": official_spearman(predicted, averages)}
            failures = sum(scores is None or is_huge(scores) for scores in known)
            assert found["parse_failures"] == failures
            differences += [abs(found[name] - value) / max(1, abs(value)) for name, value in expected.items()]
            seen["failed"] += failures
            seen["single"] += len(averages) == 1
            seen["undefined"] += expected["spearman"] == 0
    print(f"largest difference of {FILES:,} files: {max(differences):.1e}; {time.perf_counter() - began:.1f} s; {seen}")
    assert max(differences) <= 1e-12
    assert min(seen.values()) > 1000


def test_whole_files_have_the_same_values_through_reading_and_engine() -> None:
    rng = random.Random(6)
    for size in (1, 2, 60, 400):
        rows = [reference(number, reference_scores(rng)) for number in range(size)]
        outputs = [raw_text(rng) for _ in rows]
        given = [{"id": row["id"], "output": text} for row, text in zip(rows, outputs, strict=True)]
        known = read_references(dumped(rows), RECIPE)
        report = engine.score(RECIPE.id, known, read_predictions(dumped(given), RECIPE, known))
        scores = [None if is_huge(one := parsed(text)) else one for text in outputs]
        predicted, averages = [prediction(one) for one in scores], [row["score"]["average"] for row in rows]
        assert report.scores["rmse"] == pytest.approx(rmse(predicted, averages), abs=1e-12, rel=1e-12)
        assert report.scores["rmse"] == pytest.approx(root_mean_squared_error(averages, predicted), rel=1e-12)
        assert report.scores["spearman"] == pytest.approx(official_spearman(predicted, averages), abs=1e-12)
        assert report.scores["parse_failures"] == scores.count(None) == size - report.coverage["answered"]
        assert report.final_score == max(0.0, 1 - report.scores["rmse"] / 5)
        _compare_for_reference(report.scores, rows, scores)


def _compare_for_reference(found, rows, scores) -> None:
    halves_up = np.vectorize(lambda value: math.floor(value + 0.5))
    for place, trait in enumerate(TRAITS):
        expected = np.array([row["score"][trait] for row in rows])
        given = np.array([0.0 if one is None else math.floor(one[place] + 0.5) for one in scores])
        assert found[f"rmse_{trait}"] == pytest.approx(root_mean_squared_error(expected, given), rel=1e-12)
        assert found[f"kappa_{trait}"] == pytest.approx(_kappa(halves_up(expected), given.astype(int)), abs=1e-12)
        if len(rows) > 1:
            assert found[f"spearman_{trait}"] == pytest.approx(official_spearman(given, expected), abs=1e-12)
    errors = np.array([prediction(one) for one in scores]) - [row["score"]["average"] for row in rows]
    assert found["mae"] == pytest.approx(np.abs(errors).mean(), rel=1e-12)
    assert found["bias"] == pytest.approx(errors.mean(), rel=1e-12)
    whole = [score == int(score) for one in scores if one is not None for score in one]
    assert found["integer_share"] == pytest.approx(np.mean(whole) if whole else 0.0, abs=1e-12)
    for prompt in {row["prompt_num"] for row in rows}:
        part = [place for place, row in enumerate(rows) if row["prompt_num"] == prompt]
        assert (f"rmse_prompt_{prompt}" in found) == (len(part) >= MIN_ESSAYS)
        if len(part) < MIN_ESSAYS:
            continue
        assert found[f"rmse_prompt_{prompt}"] == pytest.approx(np.sqrt((errors[part] ** 2).mean()), rel=1e-12)
        sides = zip(*((prediction(scores[place]), rows[place]["score"]["average"]) for place in part), strict=True)
        assert found[f"spearman_prompt_{prompt}"] == pytest.approx(official_spearman(*sides), abs=1e-12)


def _kappa(one, other) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = cohen_kappa_score(one, other, weights="quadratic")
    return 0.0 if math.isnan(value) else value


def test_kappa_is_that_of_scikit_learn_also_where_classes_are_missing_or_alone() -> None:
    rng, largest = random.Random(3), 0.0
    for _ in range(300):
        classes = rng.sample((0, 1, 2, 3, 4, 5, 9), rng.randint(1, 5))
        one, other = ([rng.choice(classes) for _ in range(rng.randint(1, 12))] for _ in range(2))
        size = min(len(one), len(other))
        largest = max(largest, abs(quadratic_kappa(one[:size], other[:size]) - _kappa(one[:size], other[:size])))
    assert largest <= 1e-12


@pytest.mark.parametrize(("score", "whole"), [(2.5, 3), (3.5, 4), (4.5, 5), (0.5, 1), (2.4999, 2), (-2.5, -2), (3, 3)])
def test_half_a_point_is_rounded_up_not_to_the_even_number(score: float, whole: int) -> None:
    assert rounded(score) == whole
    assert predicted_average(read_output(json.dumps(traits(score)))) == whole


@pytest.mark.parametrize(
    ("output", "is_read"),
    [
        (json.dumps(traits(4, rationale="짝 {이} 맞는다")), True),
        (json.dumps(traits(4, rationale="닫힘 } 하나")), False),  # the rule counts braces inside strings
        (json.dumps(traits(4, rationale="열림 { 하나")), False),
        ("```json\n" + json.dumps(traits(4)) + "\n```", True),
        ("{} " + json.dumps(traits(4)), False),  # the first object is the empty one
        (json.dumps(traits(4)) + json.dumps(traits(1)), True),
        (json.dumps(traits(4))[:-1], False),
        (json.dumps(traits("4")), True),
        (json.dumps(traits(True)), True),
        (json.dumps(traits("4점")), False),
        (json.dumps(traits(float("nan"))), False),
        (json.dumps(traits(1e100)), True),
        (json.dumps(traits(1e101)), False),
        ("{" * 100_000 + "}" * 100_000, False),
        ("", False),
    ],
)
def test_what_is_read_of_a_raw_text(output: str, is_read: bool) -> None:
    answer = read_output(output)
    assert (answer is not None) == is_read
    assert (parsed(output) is not None) == is_read or "1e+101" in output
    assert answer_of(text_of(answer)) == answer
    assert extracted(output) is None or extracted(output).startswith("{")


# --- what stands beside the scores ------------------------------------------------------------------------------------
def report_of(answers, size: int = 12, rows=None):
    rows = rows or [reference(number, (3.4, 2.75, 4)) for number in range(size)]
    known = read_references(dumped(rows), RECIPE)
    given = [{"id": row["id"], **answer} for row, answer in zip(rows, answers, strict=True)]
    return engine.score(RECIPE.id, known, read_predictions(dumped(given), RECIPE, known))


def codes(report) -> set[str]:
    """Of the warnings, but that there is no judge: none of these scores needs one."""
    return {warning.code for warning in report.warnings} - {"llm_judge_not_configured"}


def test_constant_scores_and_one_rationale_are_warned_of() -> None:
    report = report_of([traits(3, rationale="글이 좋다")] * 12)
    assert codes(report) == {"constant_predictions", "rationale_repeated"}
    assert report.scores["spearman"] == 0
    assert "rationale_repeated" in ORGANISER_CODES
    texts = [warning_text(warning) for warning in report.warnings]
    assert any("3점" in text for text in texts)
    assert any("100.0%" in text for text in texts)
    different = [traits(3 + number % 2, rationale=f"까닭 {number}") for number in range(12)]
    assert codes(report_of(different)) == set()


def test_failures_are_named_and_count_as_0() -> None:
    answers = [{"output": ""}, {"output": "모르겠다"}, *([traits(3.4, 2.75, 4, rationale="")] * 2)]
    report = report_of(answers, 4)
    [warning] = [each for each in report.warnings if each.code == "parse_failed"]
    assert warning.params == {"count": 2, "items": "e0, e1"}
    average = round((3.4 + 2.75 + 4) / 3, 3)
    assert report.scores["rmse"] == pytest.approx(math.sqrt((2 * average**2 + 2 * (10 / 3 - average) ** 2) / 4))


def test_a_file_of_which_nothing_can_be_read_has_a_warning_of_its_own() -> None:
    report = report_of([{"output": "모르겠다"}] * 7, 7)
    [warning] = [each for each in report.warnings if each.code in ("parse_failed", "nothing_parsed")]
    assert (warning.code, warning.params) == ("nothing_parsed", {"count": 7, "items": "e0, e1, e2, e3, e4 …"})
    for language in ("ko", "en"):
        assert '{"content": {"score": 4, "rationale": "..."}' in warning_text(warning, language)


@pytest.mark.parametrize(("failing", "items"), [(5, "e0, e1, e2, e3, e4"), (6, "e0, e1, e2, e3, e4 …")])
def test_five_failures_are_named_and_more_are_hinted_at(failing: int, items: str) -> None:
    report = report_of([{"output": "모르겠다"}] * failing + [traits(3)], failing + 1)
    [warning] = [each for each in report.warnings if each.code == "parse_failed"]
    assert warning.params == {"count": failing, "items": items}


def test_an_average_that_is_not_that_of_the_traits_is_told_to_the_organiser() -> None:
    rows = [reference(0, (3, 3, 3), 3.04), reference(1, (3, 3, 3), 3.2)]
    report = report_of([traits(3), traits(4)], rows=rows)
    assert [each.params for each in report.warnings if each.code == "averages_differ"] == [{"count": 1}]
    assert "averages_differ" in ORGANISER_CODES


def test_a_quotation_is_ten_letters_of_the_essay_whatever_stands_between_them() -> None:
    quoting = "‘가까운 곳에서 나는, 채소’라는 말이 좋다."
    row = rationale_row(ESSAY, [quoting, "가까운 채소가 좋다는 뜻이다.", " "])
    assert row[:3] == (2, len(quoting) + 16, 1)
    assert row[3] == row[4] > 0
    assert row[7] == 0
    assert row[5] != row[6]
    assert rationale_row("짧다", ["", "", ""]) == (0,) * 8


def test_quotations_are_counted_rationale_by_rationale() -> None:
    quoting = "가까운 곳에서 나는 채소"
    assert rationale_row(ESSAY, [quoting, f"{quoting}!", "맞춤법이 바르고 짜임이 좋은 글이다."])[2] == 2
    assert runs_of("가나다 라마바사아-자") == set()
    assert runs_of("가나다라마바사아자차") == {"가나다라마바사아자차"}
    assert runs_of("가나다라마바사아자차카") == {"가나다라마바사아자차", "나다라마바사아자차카"}


@pytest.mark.parametrize(
    ("same", "items", "is_told"),
    [(5, 50, True), (5, 51, False), (4, 4, False), (6, 60, True), (199, 1999, False), (200, 2000, True)],
)
def test_a_rationale_is_repeated_from_five_essays_and_a_tenth_of_them(same: int, items: int, is_told: bool) -> None:
    """Whatever others have; blank ones, which have the code 0, are none."""
    rows = [(1.0, 9.0, 0.0, 9.0, 9.0, 7.0 if number < same else 100.0 + number, 0.0) for number in range(items)]
    told = load_metric("essay_rationales").warnings(rows)
    assert [(each.code, each.params["count"], each.params["items"]) for each in told] == (
        [("rationale_repeated", same, items)] if is_told else []
    )
    assert load_metric("essay_rationales").warnings([(0.0,) * 8] * items) == []


def test_prompts_have_scores_but_no_columns() -> None:
    report = report_of([traits(2 + number % 3) for number in range(12)])
    assert {"rmse_prompt_Q1", "spearman_prompt_Q2"} <= report.scores.keys()
    assert not [column.key for column in RECIPE.columns if "prompt" in column.key]
    assert "RMSE(Q1)" in render(report)
    assert "Spearman (Q2)" in render(report, "markdown", "en")


def prompts_of(*names: str) -> list[str]:
    """The prompts that have scores, in their order, of a file with five essays of each of these and four of another."""
    prompts = [*(name for name in names for _essay in range(5)), *["rare"] * 4]
    rows = [reference(number) | {"prompt_num": name} for number, name in enumerate(prompts)]
    scores = report_of([traits(3)] * len(rows), rows=rows).scores
    found = [key.removeprefix("rmse_prompt_") for key in scores if key.startswith("rmse_prompt_")]
    assert [key.removeprefix("spearman_prompt_") for key in scores if key.startswith("spearman_prompt_")] == found
    return found


def test_prompts_have_scores_where_they_are_groups() -> None:
    """Of five essays or more, in up to 30 prompts with names of up to 40 characters; Q2 comes before Q10."""
    assert prompts_of("Q10", "Q2", "가" * 40) == ["Q2", "Q10", "가" * 40]
    assert prompts_of("Q1", "가" * 41) == []
    names = [f"Q{number}" for number in range(1, 31)]
    assert prompts_of(*names[:29]) == names[:29]
    assert prompts_of(*names) == []


def test_columns_of_prompts_know_which_way_is_better() -> None:
    columns = RECIPE.further_columns({"rmse": 1.0, "rmse_prompt_Q1": 1.0, "spearman_prompt_Q1": 0.5})
    assert [(column.key, column.higher_is_better, column.group) for column in columns] == [
        ("rmse_prompt_Q1", False, "reference"),
        ("spearman_prompt_Q1", True, "reference"),
    ]
    assert not any(column.is_scaled for column in columns), "points of an essay and correlations are not of 100"


def test_a_judge_reads_task_essay_and_reasons_and_no_score() -> None:
    rows = [reference(0), {key: value for key, value in reference(1).items() if key != "prompt"}]
    known = read_references(dumped(rows), RECIPE)
    answers = [traits(4, rationale=" 좋다 "), {"output": "모르겠다"}]
    answers[0]["organization"]["rationale"] = " "
    given = read_predictions(
        dumped([{"id": row["id"], **answer} for row, answer in zip(rows, answers, strict=True)]), RECIPE, known
    )
    pairs = RECIPE.prepare(known, given).pairs["llm_judge"]
    assert pairs.references == ((f"[과제]\n{rows[0]['prompt']}\n\n[글]\n{ESSAY}",), (f"[글]\n{ESSAY}",))
    assert pairs.candidates == ("내용: 좋다\n\n표현: 좋다", "")

    alone = read_predictions(dumped([{"id": "e0", "output": "모르겠다"}]), RECIPE)
    assert RECIPE.prepare(alone, alone).pairs["llm_judge"].references == (("[글]\n",),), "checked without references"


def test_the_recipe_ranks_by_a_composite_and_lower_is_better_for_errors() -> None:
    assert RECIPE.composite == (Component("rmse", 45, False), Component("spearman", 45), Component("llm_judge", 10))
    lower = {column.key for column in RECIPE.columns if not column.higher_is_better}
    assert lower == {"rmse", "parse_failures", "mae", *(f"rmse_{trait}" for trait in TRAITS)}
    assert not METRICS["essay_error"].higher_is_better
    without_direction = {column.key for column in RECIPE.columns if not column.has_direction}
    of_rationales = {f"rationale_{name}" for name in ("length", "quotes", "hangul")}
    assert without_direction == {"bias", "integer_share"} | of_rationales
    scaled = {column.key for column in RECIPE.columns if column.is_scaled}
    assert scaled == {"final_score", "llm_judge", "integer_share", "rationale_quotes", "rationale_hangul"}
    assert [column.key for column in RECIPE.columns if column.is_main] == ["final_score"]
    assert RECIPE.tie_breaks == ("spearman",)
    assert RECIPE.optional_metrics == ("llm_judge",)
    assert "읽지 못한 답" in RECIPE.rule()
    assert "composite" in RECIPE.rule("en")


def test_a_count_is_shown_without_decimals() -> None:
    shown = render(report_of([{"output": ""}] * 2 + [traits(3)], 3), "markdown", "en")
    assert "| Parse failures | 2 |" in shown


def test_nothing_of_an_essay_is_cut() -> None:
    rows = [reference(0) | {"essay": "가" * 30_000}, reference(1)]
    report = report_of([traits(3, rationale="나" * 30_000), traits(4)], rows=rows)
    assert not codes(report) & {"texts_cut", "references_cut"}
    assert report.scores["rationale_length"] == pytest.approx((3 * 30_000 + 3 * 2) / 6)


# --- the significance test --------------------------------------------------------------------------------------------
def test_a_summed_table_has_the_moments_of_the_ranks() -> None:
    rng = np.random.default_rng(1)
    rows = [(float(a), float(b)) for a, b in rng.integers(0, 5, (30, 2))]
    sides = EssayRank.summable(rows, rows[::-1])
    for draw in (np.ones(30), np.bincount(rng.integers(0, 30, 30), minlength=30)):
        drawn = [row for row, times in zip(rows, draw.astype(int), strict=True) for _ in range(times)]
        values = [[row[side] for row in drawn] for side in (0, 1)]
        found = EssayRank.scores(list((draw @ sides.systems[0])[:, None]))["spearman"]
        assert found == pytest.approx([spearman(*values)], abs=1e-14)
        assert found == pytest.approx([spearmanr(*values)[0]], abs=1e-12)
    assert len(moments_of_table(list(sides.systems[0].sum(axis=0)[:, None]))) == 3


def test_two_files_are_tested_by_what_ranks_and_by_nothing_else() -> None:
    rng = random.Random(2)
    rows = [reference(number, reference_scores(rng)) for number in range(60)]
    near = [traits(*(row["score"][trait] for trait in TRAITS)) for row in rows]
    far = [traits(rng.choice((1, 5))) for _ in rows]
    one, other = report_of(far, rows=rows), report_of(near, rows=rows)
    lines = {line.key: line for line in compare(one, other, trials=500).lines}
    tested = {key for key, line in lines.items() if line.result is not None}
    assert tested == {"final_score", "rmse", "spearman", "parse_failures"}
    assert lines["rmse"].difference < 0 < lines["spearman"].difference
    assert lines["rmse"].is_significant
    assert lines["spearman"].is_significant
    assert lines["spearman"].result.b == pytest.approx(other.scores["spearman"], abs=1e-12)
    assert {line.reason for key, line in lines.items() if key not in tested} == {"not_resampled"}


def test_the_final_score_and_the_error_that_it_is_made_of_are_one_test() -> None:
    """1 - RMSE / 5 and RMSE: Holm multiplies by the number of the other tests only."""
    rng = random.Random(5)
    rows = [reference(number, reference_scores(rng)) for number in range(60)]
    one, other = (report_of([traits(rng.choice((2, 3, 4))) for _ in rows], rows=rows) for _side in range(2))
    lines = {line.key: line for line in compare(one, other, trials=500).lines if line.result is not None}
    assert lines["final_score"].result.p == lines["rmse"].result.p
    independent = [lines[key].result.p for key in ("rmse", "spearman", "parse_failures")]
    assert len(set(independent)) == 3
    adjusted = [
        max(min(1.0, each * sum(other >= each for other in independent)) for each in independent if each <= own)
        for own in independent
    ]
    assert [lines[key].adjusted_p for key in ("rmse", "spearman", "parse_failures")] == pytest.approx(adjusted)
    assert lines["final_score"].adjusted_p == lines["rmse"].adjusted_p


def test_too_large_a_table_is_not_tested(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("scoring.metrics.essay_rank.MAX_TABLE", 10)
    report = report_of([traits(2 + number % 3) for number in range(12)])
    reasons = {line.key: line.reason for line in compare(report, report, trials=20).lines}
    assert reasons["spearman"] == "too_many_classes"
    assert reasons["rmse"] is None


def test_the_table_of_one_system_may_fill_its_64_mib_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four items of two averages and three predictions are a table of 24 numbers; without a table nothing is summed."""
    assert MAX_TABLE * np.dtype(float).itemsize == 64 * 2**20
    rows = [(1.0, 1.0), (2.0, 2.0), (1.0, 3.0), (2.0, 1.0)]
    monkeypatch.setattr("scoring.metrics.essay_rank.MAX_TABLE", 24)
    assert EssayRank.summable(rows).approximate == ()
    monkeypatch.setattr("scoring.metrics.essay_rank.MAX_TABLE", 23)
    found = EssayRank.summable(rows)
    assert found.approximate == ("spearman",)
    [nothing] = found.systems
    assert np.asarray(nothing).shape == (4, 3)
    assert not np.asarray(nothing).any()


def test_one_essay_is_no_constant_file_and_none_is_no_error() -> None:
    metric = load_metric("essay_rank")
    assert metric.warnings([(3.0, 2.0)]) == []
    assert [each.code for each in metric.warnings([(3.0, 2.0), (4.0, 2.0)])] == ["constant_predictions"]
    assert metric.parameters() == {"answers": "essay-output@1", "ties": "average", "undefined": 0}
    assert root_mean_square([]) == 0.0
    assert root_mean_square([3.0, 4.0]) == pytest.approx(math.sqrt(12.5))


def test_the_report_can_be_stored_and_the_signature_names_the_rule() -> None:
    report = report_of([traits(3), traits(4)], 2)
    assert report_as_dict(report)["scores"]["parse_failures"] == 0
    metrics = report.signature["metrics"]
    assert set(metrics) == set(RECIPE.metrics)
    assert metrics["essay_error"]["answers"] == metrics["essay_error"]["input"] == "essay-output@1"
    assert all(METRICS[name].model is None for name in RECIPE.metrics)
    assert not needs_models(RECIPE)
