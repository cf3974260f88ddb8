"""What an item, its reference and an answer to it say, as texts for people to read beside each other."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from scoring.records import Item
from scoring.text.answers import SHORT, alternatives_of
from scoring.text.essays import TRAITS, answer_of

TYPE: Final = "question_type"  # of the input: shown to nobody, as it is the stratum
TRAIT_NAMES: Final = {"content": "내용", "organization": "조직", "expression": "표현"}
AVERAGE: Final = "평균"
INPUT_NAMES: Final = {  # keys of an input in the files of the contests, as people call what is there
    name: said
    for names, said in {
        "conversation dialogue utterances": "대화",
        "context passage paragraph document text": "글",
        "subject_keyword topic_keyword keyword keywords": "주제어",
        "options choices": "보기",
        "question query": "질문",
        "category": "분류",
        "domain": "영역",
        "topic": "주제",
        "title": "제목",
        "sentence": "문장",
        "table": "표",
    }.items()
    for name in names.split()
}
SPEAKERS: Final = ("speaker", "speaker_id")
UTTERANCES: Final = ("utterance", "form", "text")
SHORT_VALUE: Final = 40  # characters that stand on the line of their name


def question_text(reference: Item, answer_form: str) -> str:
    """What the item asks; empty where that is no text, as of captions."""
    if answer_form == "captions":
        return ""
    asked = reference.input
    if answer_form == "essays":
        return "\n\n".join(str(asked[name]) for name in ("prompt", "essay") if name in asked)
    return _input_text({name: value for name, value in asked.items() if name != TYPE})


def _input_text(asked: Mapping[str, Any]) -> str:
    """Each part under its name; a part alone without one.

    >>> _input_text({"question": "어느 쪽이 옳은가?", "options": ["가", "나"]})
    '질문: 어느 쪽이 옳은가?\\n보기: 가, 나'
    """
    parts = {name: _part_text(value) for name, value in asked.items()}
    if len(parts) == 1:
        return next(iter(parts.values()))
    shown = [_under_its_name(INPUT_NAMES.get(name, name), text) for name, text in parts.items() if text]
    return "\n".join(shown).rstrip()


def _under_its_name(name: str, text: str) -> str:
    is_short = len(text) <= SHORT_VALUE and "\n" not in text
    return f"{name}: {text}" if is_short else f"{name}:\n{text}\n"


def _part_text(value: Any) -> str:
    """A text as it is, words with commas, what is said in a conversation on a line each; all else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value:
        said = [_said(each) for each in value]
        if all(said):
            return "\n".join(filter(None, said))
        if all(isinstance(each, str | int | float) for each in value):
            return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False)


def _said(value: Any) -> str | None:
    """``speaker: what was said``; ``None`` if that is none."""
    if not isinstance(value, dict):
        return None
    text = next((value[key] for key in UTTERANCES if isinstance(value.get(key), str)), None)
    who = next((value[key] for key in SPEAKERS if value.get(key)), None)
    return None if text is None or who is None else f"{who}: {text}"


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
