"""Files of every year of the contest as they are: read as references and predictions, checked, scored."""

import json
import subprocess
import sys
from dataclasses import replace

import mecab
import pytest
from nltk.translate.bleu_score import sentence_bleu

from scoring import engine
from scoring.errors import InvalidFile
from scoring.reading import read_predictions, read_references
from scoring.reading.answer_forms import FORMS, forms_of
from scoring.recipes import RECIPES, get_recipe
from tests.scoring.fakes import STORE
from tests.scoring.forms_of_years import YEARS, Year

pytestmark = pytest.mark.usefixtures("fake_models")


def scored(year: Year, references: bytes, predictions: bytes) -> dict[str, float]:
    recipe = get_recipe(year.recipe)
    known = read_references(references, recipe)
    report = engine.score(recipe.id, known, read_predictions(predictions, recipe, known), store=STORE)
    return dict(report.scores) | {"final_score": report.final_score}


@pytest.mark.parametrize("year", YEARS, ids=lambda year: year.name)
def test_the_value_is_that_of_the_official_rule(year: Year) -> None:
    found = scored(year, year.file(year.rows), year.file(year.answers))
    assert found[year.score] == pytest.approx(year.official(year.rows, year.answers), abs=1e-9)
    assert year.official(year.rows, year.answers) > 0, "a value of 0 proves little"


@pytest.mark.parametrize("year", YEARS, ids=lambda year: year.name)
def test_the_order_of_the_items_and_the_format_do_not_matter(year: Year) -> None:
    rows = json.dumps({"data": year.rows}, ensure_ascii=False).encode()
    lines = "\n".join(json.dumps(row, ensure_ascii=False) for row in reversed(year.answers)).encode()
    assert scored(year, rows, lines) == scored(year, year.file(year.rows), year.file(year.answers))


@pytest.mark.parametrize("year", YEARS, ids=lambda year: year.name)
def test_the_answers_may_be_wrapped_as_those_of_2025(year: Year) -> None:
    if "output" not in year.rows[0]:
        return
    wrapped = [[row | {"output": {"answer": row["output"]}} for row in rows] for rows in (year.rows, year.answers)]
    assert scored(year, *map(year.file, wrapped)) == scored(year, year.file(year.rows), year.file(year.answers))


@pytest.mark.parametrize("year", YEARS, ids=lambda year: year.name)
def test_a_file_that_lacks_an_answer_is_told_which(year: Year) -> None:
    recipe = get_recipe(year.recipe)
    references = read_references(year.file(year.rows), recipe)
    place = "annotation" if "annotation" in year.rows[0] else "output"
    first = {key: value for key, value in year.answers[0].items() if key != place}
    with pytest.raises(InvalidFile) as refused:
        read_predictions(year.file([first, *year.answers[1:]]), recipe, references)
    [error] = refused.value.errors
    assert (error.code, error.item_id, error.line) == ("missing_field", year.rows[0]["id"], 1)


def test_check_says_what_it_read(tmp_path) -> None:
    """``python -m scoring check`` of all years, in one process each for a few."""
    for year in (YEARS[3], YEARS[-1]):
        (tmp_path / "R").write_bytes(year.file(year.rows))
        (tmp_path / "P").write_bytes(year.file(year.answers))
        command = [
            "check",
            "--recipe",
            year.recipe,
            "--references",
            str(tmp_path / "R"),
            "--predictions",
            str(tmp_path / "P"),
        ]
        done = subprocess.run([sys.executable, "-m", "scoring", *command], capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stdout
        assert f"{len(year.rows)}" in done.stdout


def test_every_recipe_without_captions_says_how_its_answers_are_written() -> None:
    for recipe in map(get_recipe, RECIPES):
        assert bool(forms_of(recipe)) == (recipe.answer_form != "captions"), recipe.id
    assert {form for recipe in map(get_recipe, RECIPES) for form in forms_of(recipe)} == set(FORMS)
    shown = {task for form in FORMS for task in form.tasks.split(", ")}
    named = {year.task.split(" (")[0] for year in YEARS}
    assert {"감정 분석", "속성 기반 감성 분석", "자연어 추론", "혐오 표현 탐지"} <= shown & named


def test_of_several_references_a_model_reads_the_first_or_the_best_by_the_name_of_the_recipe() -> None:
    """The fakes' value of a pair is the candidate's share of the letters of both texts."""
    year = next(year for year in YEARS if year.name.startswith("그림"))
    values = [
        [len(answer["output"]) / (len(text) + len(answer["output"])) for text in row["output"]]
        for row, answer in zip(year.rows, year.answers, strict=True)
    ]
    for recipe, expected in (
        ("generation-from-data@1", sum(of_item[0] for of_item in values) / len(values)),
        ("generation-from-data-best@1", sum(map(max, values)) / len(values)),
    ):
        found = scored(replace(year, recipe=recipe), year.file(year.rows), year.file(year.answers))
        assert found["bertscore"] == found["bleurt"] == pytest.approx(expected, abs=1e-12)
        assert found["final_score"] == pytest.approx((found["rouge_1"] + found["bleu_1"]) / 2, abs=1e-12)


def test_the_best_of_several_references_is_another_value_than_the_official_one() -> None:
    year = next(year for year in YEARS if year.name.startswith("그림"))
    files = year.file(year.rows), year.file(year.answers)
    best = scored(replace(year, recipe="generation-from-data-best@1"), *files)
    morphs = mecab.MeCab().morphs
    of_items = [
        max(sentence_bleu([morphs(text)], morphs(answer["output"]), weights=(1, 0, 0, 0)) for text in row["output"])
        for row, answer in zip(year.rows, year.answers, strict=True)
    ]
    assert best["bleu_1"] == pytest.approx(sum(of_items) / len(of_items), abs=1e-9)
    assert best["bleu_1"] > scored(year, *files)["bleu_1"]
