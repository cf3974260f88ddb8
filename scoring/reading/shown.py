"""What an item, its reference and an answer to it say, as texts for people to read beside each other."""

from __future__ import annotations

import json
from typing import Final

from scoring.records import Item
from scoring.text.answers import SHORT, alternatives_of
from scoring.text.essays import TRAITS, answer_of
from scoring.text.inputs import written_out

TYPE: Final = "question_type"  # of the input: shown to nobody, as it is the stratum
TRAIT_NAMES: Final = {"content": "내용", "organization": "조직", "expression": "표현"}
AVERAGE: Final = "평균"


def question_text(reference: Item, answer_form: str) -> str:
    """What the item asks; empty where that is no text, as of captions."""
    if answer_form == "captions":
        return ""
    asked = reference.input
    if answer_form == "essays":
        return "\n\n".join(str(asked[name]) for name in ("prompt", "essay") if name in asked)
    return written_out({name: value for name, value in asked.items() if name != TYPE})


def reference_text(reference: Item, answer_form: str) -> str:
    """The reference answers, each on lines of its own, what a short one accepts as well; of an essay the experts'
    scores.
    """
    if answer_form != "essays":
        is_short = reference.question_type == SHORT
        texts = [each for text in reference.texts for each in (alternatives_of(text) if is_short else [text])]
        return "\n".join(dict.fromkeys(texts))
    known = json.loads(reference.text)
    names = {**TRAIT_NAMES, "average": AVERAGE}
    return "\n".join(f"{names[name]}: {known[name]}" for name in (*TRAITS, "average"))


def answer_text(answer: Item | None, answer_form: str) -> str:
    """What was answered; empty without an answer. Of an essay the scores with their reasons; as it was written where
    they cannot be read.
    """
    if answer is None:
        return ""
    if answer_form != "essays":
        return answer.text
    traits = answer_of(answer.text)
    if traits is None:
        written = json.loads(answer.text or '""')
        return written if isinstance(written, str) else answer.text
    lines = (f"{TRAIT_NAMES[name]}: {traits[name].score:g}\n{traits[name].rationale}".rstrip() for name in TRAITS)
    return "\n\n".join(lines)


def type_of(reference: Item) -> str:
    """The type by which items are told apart: the question type or, of an essay, its task; empty without any."""
    return reference.question_type or str(reference.input.get(TYPE) or reference.input.get("prompt_num") or "")
