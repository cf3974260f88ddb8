"""The demo's items: enough of them, sound, split as intended, and never given away by what is published."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

import pytest

from malpan.demo import documents
from malpan.demo.answers import first_form
from malpan.demo.content import (
    CHOICE,
    DESCRIPTIVE,
    SHORT_ANSWER,
    Item,
    contest_items,
    culture_items,
    first_culture_items,
    verdict,
)
from malpan.demo.habits import CULTURE_QA, RAG_QA
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.recipes.rag_qa import answer_part, split_answer

SETS = [(RAG_QA, "rag-qa@1", contest_items()), (CULTURE_QA, "culture-qa@1", culture_items())]
both_sets = pytest.mark.parametrize(("slug", "recipe", "items"), SETS, ids=[RAG_QA, CULTURE_QA])


def test_demo_has_enough_items_of_every_type() -> None:
    contest = Counter(item.question_type for item in contest_items())
    assert contest.total() >= 60
    assert sum(not item.is_bare for item in contest_items()) >= 60
    assert min(contest["선택형"], contest["교정형"]) >= 20
    culture = Counter(item.question_type for item in culture_items())
    assert culture == {CHOICE: 11, SHORT_ANSWER: 11, DESCRIPTIVE: 11}


@both_sets
def test_ids_and_questions_are_unique(slug: str, recipe: str, items: Sequence[Item]) -> None:
    assert len({item.id for item in items}) == len({item.question for item in items}) == len(items)


@both_sets
def test_references_and_sample_are_sound_by_the_recipe(slug: str, recipe: str, items: Sequence[Item]) -> None:
    rule = get_recipe(recipe)
    references = read_references(documents.references_file(items), rule)
    assert [answer.text for answer in references.items] == [item.reference for item in items]
    sample = read_predictions(documents.sample_file(items), rule, references)
    assert not sample.normalized_ids


def test_verdict_takes_the_particle_of_the_last_syllable() -> None:
    assert verdict("한글 맞춤법 제1항을 읽음.") == '"한글 맞춤법 제1항을 읽음."이 옳다.'
    assert verdict("그는 밤새 책을 읽었대.", "'") == "'그는 밤새 책을 읽었대.'가 옳다."
    with pytest.raises(ValueError, match="5 GHz"):
        verdict("5 GHz.")


@pytest.mark.parametrize("item", contest_items(), ids=lambda item: item.id)
def test_every_reference_splits_into_the_right_form_and_its_reason(item) -> None:
    _, reason = split_answer(item.reference)
    assert reason == item.reason
    if item.is_bare:
        assert answer_part(item.reference).split("#") == [item.right, *item.alternatives]
    else:
        assert answer_part(item.reference) in {f"{item.right}가 옳다", f"{item.right}이 옳다"}
        assert not item.alternatives, "the official rule has no place for alternatives before a reason"


@pytest.mark.parametrize("item", contest_items(), ids=lambda item: item.id)
def test_every_question_leads_to_its_right_form_and_can_be_got_wrong(item) -> None:
    assert item.wrong not in {item.right, *item.alternatives}
    options = re.search(r"\{([^{}/]+)/([^{}/]+)\}", item.question)
    if item.question_type == "선택형":
        assert options, "a choice shows its two forms"
        filled = {item.question.replace(options[0], option) for option in options.groups()}
        assert any(item.right in text for text in filled)
        assert any(item.wrong in text for text in filled)
    else:
        assert options is None
        assert item.wrong in item.question
        assert item.right not in item.question
    assert ("이유를 설명" in item.question) is not item.is_bare, "only who must give a reason is asked for one"


def test_the_first_form_is_no_hint() -> None:
    choices = [item for item in contest_items() if item.question_type == "선택형"]
    share = sum(first_form(item) == item.right for item in choices) / len(choices)
    assert 0.35 <= share <= 0.65


@pytest.mark.parametrize("item", culture_items(), ids=lambda item: item.id)
def test_every_culture_item_fits_its_type(item) -> None:
    assert item.wrong
    assert item.wrong not in item.answer.split("#")
    if item.question_type == CHOICE:
        numbers = re.findall(r"^(\d)\t\S", item.question, flags=re.MULTILINE)
        assert numbers == list("12345")
        assert {item.answer, item.wrong} <= set(numbers)
    elif item.question_type == SHORT_ANSWER:
        assert all(0 < len(answer) <= 16 and answer == answer.strip() for answer in item.answer.split("#"))
    else:
        assert "#" not in item.answer
        assert len(item.partial) < len(item.paraphrase)
        assert len({item.answer, item.paraphrase, item.partial, item.wrong}) == 4


def test_no_single_choice_wins_the_choices() -> None:
    answers = Counter(item.answer for item in culture_items() if item.question_type == CHOICE)
    assert set(answers) == set("12345")
    assert max(answers.values()) <= 3


def test_first_culture_items_take_the_same_number_of_each_type() -> None:
    assert Counter(item.question_type for item in first_culture_items(5)) == {
        CHOICE: 5,
        SHORT_ANSWER: 5,
        DESCRIPTIVE: 5,
    }


@both_sets
def test_published_files_hold_no_reference_answer(slug: str, recipe: str, items: Sequence[Item]) -> None:
    questions = json.loads(documents.questions_file(items))
    assert all(set(row) == {"id", "input"} for row in questions)
    published = [documents.questions_file(items), documents.sample_file(items), documents.readme_file(slug)]
    texts = "\n".join(data.decode() for data in published)
    for item in items:
        if item.question_type == CHOICE:
            continue  # a digit stands in every question
        for secret in _secrets(item):
            assert secret not in texts, item.id
    sample = {row["output"]["answer"] for row in json.loads(documents.sample_file(items))}
    assert len(sample) <= 3, "the sample answers alike whatever is asked"


def _secrets(item: Item) -> list[str]:
    """What only the reference may say: its text, its reason, each accepted answer."""
    parts = [item.reference, *item.reference.split("#"), getattr(item, "reason", "")]
    return [part for part in parts if part]
