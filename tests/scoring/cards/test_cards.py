"""Every metric has a card in two languages, with the same sections, and what is said of recipes follows the recipes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from scoring import cards
from scoring.cards import GROUPS, HEADINGS, UnknownCard, card_for, card_names, load_card, recipes_with
from scoring.metrics import METRICS
from scoring.recipes import RECIPES

HANGUL = re.compile(r"[가-힣ㄱ-ㅎㅏ-ㅣ]")
MADE_OF_SEVERAL = {"final_score", "descriptive_avg"}
both_languages = pytest.mark.parametrize("language", ["ko", "en"])
every_card = pytest.mark.parametrize("name", card_names())


@both_languages
@every_card
def test_a_card_has_its_sections_in_order_and_none_is_empty(name: str, language: str) -> None:
    card = load_card(name, language)
    assert tuple(re.findall(r"^## (.+)$", card.markdown, re.M)) == HEADINGS[language]
    assert all(len(part.strip()) > 15 for part in re.split(r"^## .+$", card.markdown, flags=re.M)[1:])
    assert "```" in card.markdown.split("## ")[2]  # the formula


@both_languages
@every_card
def test_a_card_is_summed_up_in_a_sentence(name: str, language: str) -> None:
    card = load_card(name, language)
    assert card.summary.endswith(".")
    assert len(card.summary) < 140
    assert "`" not in card.title + card.summary


@every_card
def test_an_english_card_holds_no_hangul(name: str) -> None:
    card = load_card(name, "en")
    assert not HANGUL.search(card.title + card.summary + card.markdown)


@every_card
def test_korean_cards_are_polite_and_lines_short(name: str) -> None:
    lines = (Path(cards.__file__).parent / f"{name}.ko.md").read_text(encoding="utf-8").splitlines()
    assert not [line for line in lines if len(line) > 120]
    assert not [line for line in lines if re.search(r"(?<![니습])다\.$", line)]


@both_languages
@every_card
def test_a_card_is_plain_markdown(name: str, language: str) -> None:
    text = re.sub(r"```.*?```|`[^`]*`", "", load_card(name, language).markdown, flags=re.S)
    assert not re.search(r"<\w|\$|!\[", text)


def test_the_folder_holds_the_cards_of_the_index_and_no_others() -> None:
    files = {path.name for path in Path(cards.__file__).parent.glob("*.md")}
    assert files == {f"{name}.{language}.md" for name in card_names() for language in HEADINGS}
    assert len(card_names()) == len(set(card_names()))
    assert set(GROUPS) == {"exact", "overlap", "meaning", "picture", "file"}


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_a_card(name: str) -> None:
    assert card_for(name) in card_names()


def test_every_score_of_every_recipe_has_a_card() -> None:
    keys = {column.key for recipe in RECIPES.values() for column in recipe.columns}
    assert {key for key in keys if card_for(key) is None} <= MADE_OF_SEVERAL


@pytest.mark.parametrize(
    ("score", "card"),
    [
        ("bleu_4", "bleu"),
        ("rouge_l", "rouge"),
        ("refclipscore", "clipscore"),
        ("unique_captions", "diversity"),
        ("f1_macro", "classification"),
        ("squared_error", "mse"),
        ("meteor", "meteor"),
        ("final_score", None),
        ("nothing", None),
    ],
)
def test_a_score_leads_to_its_card(score: str, card: str | None) -> None:
    assert card_for(score) == card


def test_recipes_of_a_metric_come_from_the_recipes() -> None:
    assert [recipe.id for recipe in recipes_with("exact_match")] == [
        recipe.id for recipe in RECIPES.values() if "exact_match" in recipe.metrics
    ]
    assert recipes_with("significance") == []
    for recipe in RECIPES.values():
        assert any(recipe in recipes_with(name) for name in card_names()), recipe.id


@pytest.mark.parametrize("name", ["", "final_score", "../errors", "meteor.ko", "bleu_4"])
def test_an_unknown_card_is_refused(name: str) -> None:
    with pytest.raises(UnknownCard):
        load_card(name)


def test_the_experimental_metric_is_never_called_spice() -> None:
    assert "SPICE가 아닙니다" in load_card("spice_ko", "ko").summary
    assert "not SPICE" in load_card("spice_ko", "en").summary
    assert all(load_card("spice_ko", language).title.startswith("spice_ko") for language in HEADINGS)


def test_cards_load_no_model_library_and_no_analyser() -> None:
    program = (
        "import sys, scoring.cards as c; [c.load_card(n, l) for n in c.card_names() for l in c.HEADINGS]; "
        "print({'torch', 'transformers', 'konlpy', 'mecab', 'numpy'} & set(sys.modules))"
    )
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == "set()"
