"""Answers are read strictly."""

from __future__ import annotations

import json
from typing import Any

import pytest

from scoring.judging.judge import value_of
from scoring.judging.parsing import Judgement, Unparsable, parse, schema

jsonschema = pytest.importorskip("jsonschema")

GOOD: list[tuple[Any, Any]] = [
    ('{"reason": "왜", "score": 1}', 1),
    ('  {"score": 5, "reason": ""}\n', 5),
    ('{"reason": "중괄호 } 와 \\"따옴표\\"", "score": 3}', 3),
]
BAD: list[Any] = [
    None,
    5,
    "",
    "5",
    "[]",
    "null",
    '{"score": 5}',
    '{"reason": "x"}',
    '{"reason": "x", "score": 0}',
    '{"reason": "x", "score": 6}',
    '{"reason": "x", "score": 4.0}',
    '{"reason": "x", "score": "4"}',
    '{"reason": "x", "score": true}',
    '{"reason": "x", "score": null}',
    '{"reason": "x", "score": [4]}',
    '{"reason": "x", "score": {"a": 4}}',
    '{"reason": "x", "score": NaN}',
    '{"reason": NaN, "score": 4}',
    '{"reason": 1, "score": 4}',
    '{"reason": "x", "score": 4, "more": 1}',
    '{"reason": "x", "score": 4, "score": 4}',
    '```json\n{"reason": "x", "score": 4}\n```',
    '<think></think>{"reason": "x", "score": 4}',
    '{"reason": "x", "score": 4} {"reason": "x", "score": 4}',
    '{"reason": "x", "score": 4',
    "[" * 100_000,
]


@pytest.mark.parametrize(("text", "score"), GOOD)
def test_what_the_schema_allows_is_read(text: str, score: int) -> None:
    assert parse(text, "score") == Judgement(score, json.loads(text)["reason"])
    jsonschema.validate(json.loads(text), schema("score"))


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_nothing_else_is(text: Any) -> None:
    with pytest.raises(Unparsable):
        parse(text, "score")


@pytest.mark.parametrize("choice", ["first", "second", "tie"])
def test_choices(choice: str) -> None:
    assert parse(json.dumps({"reason": "", "choice": choice}), "choice").decision == choice
    for other in ("First", "left", 1, None):
        with pytest.raises(Unparsable):
            parse(json.dumps({"reason": "", "choice": other}), "choice")
    with pytest.raises(Unparsable):
        parse('{"reason": "", "score": 3}', "choice")


def test_the_parser_agrees_with_the_schema_on_whatever_is_json() -> None:
    for text in (text for text in BAD if isinstance(text, str) and text[:1] == "{"):
        try:
            found = json.loads(text)
        except ValueError:
            continue
        if text.count('"score": 4') == 2 or "4.0" in text:  # JSON Schema sees no key twice, and takes 4.0 as 4
            continue
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate(found, schema("score"))


def test_values_are_fifths_and_0_is_no_judgement() -> None:
    assert [value_of(Judgement(score, "")) for score in range(1, 6)] == [0.2, 0.4, 0.6, 0.8, 1.0]
    assert value_of(None) == 0.0
