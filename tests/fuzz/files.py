"""Files of predictions and references: every layout that a reader knows, sound and broken, and bytes that are no file.

``read`` reads one as a site would, and looks at what comes of it.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from typing import Any, Final

from hypothesis import strategies as st

from scoring import engine
from scoring.errors import MAX_ERRORS_KEPT, FileError, InvalidFile
from scoring.metrics.exact import exact_match
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.recipes.rag_qa import answer_part
from scoring.records import Items
from scoring.running.needs import needs_models
from tests.fuzz.mutations import Draw, broken_bytes, broken_value, deep_lists, pick, values, written
from tests.scoring.caption_layouts import PREDICTION_LAYOUTS, REFERENCE_LAYOUTS
from tests.scoring.caption_samples import CANDIDATE_FILES, KNOWN, REFERENCE_FILES, dumped

CANARY: Final = "비밀카나리아정답"  # of every reference answer: no error of a predictions file may hold it
IDS: Final = ("q1", "q2", "q3")
ANSWERS: Final = {  # for each recipe of the official format: the answers of a reference file and of a sound one
    "rag-qa@1": (f"{CANARY}가 옳다. 까닭이 있다.", "‘맞히다’가 옳다. 뜻이 다르다."),
    "dialogue-summary@1": ([f"{CANARY} 요약", "다른 요약"], "두 사람이 만나기로 했다."),
    "classification@1": (CANARY, "긍정"),
    "multi-label@1": ([CANARY, "기쁨"], ["기쁨", "슬픔"]),
    "regression@1": (3.5, "-2.25"),
}
CAPTIONS: Final = "captioning-lexical@1"
RECIPES: Final = (*ANSWERS, CAPTIONS)
CAPTION_SOURCES: Final = (
    *(source[0] for source in (*CANDIDATE_FILES.values(), *REFERENCE_FILES.values())),
    *(layout.text for layout in (*PREDICTION_LAYOUTS.values(), *REFERENCE_LAYOUTS.values())),
)
OF_THE_WHOLE: Final = frozenset(  # defects of a file that lie in no line
    {"empty_file", "blank_file", "too_many_bytes", "not_a_text_file", "utf16", "cp949", "count_differs", "no_items"}
    | {"no_answers", "no_reference_answers"}
    | {"no_known_id", "too_many_values", "other_task_file"}
)


@dataclass(frozen=True)
class File:
    """A file and how it is read: by which recipe, as predictions or as references."""

    data: bytes
    recipe: str
    is_reference: bool = False

    def __str__(self) -> str:
        return f"{self.recipe}, {'references' if self.is_reference else 'predictions'}"


def items(recipe: str, *, is_reference: bool) -> list[dict[str, Any]]:
    """Sound items of the official format."""
    answer = ANSWERS[recipe][0 if is_reference else 1]
    task = {"question_type": "선택형", "question": "알맞은 것을 고르시오."}
    return [{"id": item_id, "input": task, "output": {"answer": answer}} for item_id in IDS]


def sound_file(recipe: str, *, is_reference: bool) -> bytes:
    """A file that is accepted."""
    if recipe == CAPTIONS:
        return dumped(KNOWN if is_reference else dict.fromkeys(KNOWN, "한 줄 설명")).encode()
    return dumped(items(recipe, is_reference=is_reference)).encode()


REFERENCES: Final = {
    recipe: read_references(sound_file(recipe, is_reference=True), get_recipe(recipe)) for recipe in RECIPES
}


@st.composite
def answer_files(draw: Draw) -> File:
    """Of the official format, for every form of an answer."""
    recipe, is_reference = pick(draw, tuple(ANSWERS)), draw(st.booleans())
    rows = items(recipe, is_reference=is_reference)
    layout = pick(draw, ("array", "array", "object", "lines", "one"))
    value: Any = {"object": {"version": 1, "data": rows}, "one": rows[0]}.get(layout, rows)
    return File(_spoilt(draw, value, has_lines=layout == "lines"), recipe, is_reference)


@st.composite
def caption_files(draw: Draw) -> File:
    """In every layout of captions; a file of references may be read as predictions, and the other way round."""
    source, is_reference = pick(draw, CAPTION_SOURCES), draw(st.booleans())
    try:
        value = json.loads(source)
    except ValueError:  # a table, or JSON lines
        return File(broken_bytes(draw, source.encode()), CAPTIONS, is_reference)
    return File(_spoilt(draw, value, has_lines=False), CAPTIONS, is_reference)


@st.composite
def any_bytes(draw: Draw) -> File:
    """What is no file of ours: random bytes, words of JSON in any order, any JSON value."""
    how = pick(draw, ("bytes", "bytes", "words", "words", "words", "value", "value", "deep", "large"))
    if how == "bytes":
        data = draw(st.binary(max_size=200))
    elif how == "words":
        data = "".join(draw(st.lists(st.sampled_from(_WORDS), max_size=40))).encode()
    elif how == "large":
        data = pick(draw, _LARGE) * pick(draw, (500,) * 40 + (30_000,))
    else:
        data = written(draw(values() if how == "value" else deep_lists()), None, is_ascii=draw(st.booleans()))
    return File(data, pick(draw, RECIPES), draw(st.booleans()))


_WORDS: Final = (
    *"[]{}:,\n\t -0123456789.eE'\\\r",
    *('"id"', '"q1"', '"output"', '"answer"', '"caption"', '"image_id"', '"가"', '"', "null", "true", "NaN", "\ufeff"),
)
_LARGE: Final = (
    *(b"[", b'{"a":', b"[],", b"{}\n", b'"', b"\\", b"\n", b"a\tb\n", b"1,", b'{"id":"1"\n', b"\x00", b"\xff"),
    *("가".encode(), "\u0301".encode(), b'{"id":1,"id":2}\n', b'{"id":"q1","output":{"answer":""}}\n', b"9", b"\r"),
)


def _spoilt(draw: Draw, value: Any, *, has_lines: bool) -> bytes:
    """``value`` as a file, one in eight as it should be."""
    way = pick(draw, ("sound", "value", "value", "value", "bytes", "bytes", "bytes", "both"))
    if way in ("value", "both"):
        value = broken_value(draw, value)
    indent, is_ascii = pick(draw, (None, 0, 2)), draw(st.booleans())
    if has_lines and isinstance(value, list):
        data = b"".join(written(row, None, is_ascii=is_ascii) + b"\n" for row in value)
    else:
        data = written(value, indent, is_ascii=is_ascii)
    return broken_bytes(draw, data) if way in ("bytes", "both") else data


def read(file: File) -> Items | InvalidFile:
    """What the reader of ``file`` makes of it."""
    recipe = get_recipe(file.recipe)
    try:
        if file.is_reference:
            return read_references(file.data, recipe)
        return read_predictions(file.data, recipe, REFERENCES[file.recipe])
    except InvalidFile as invalid:
        return invalid


def outcome_of(file: File, found: Items | InvalidFile, *, has_okt: bool) -> str:
    """A word for what was ``found``. Raises ``AssertionError`` for what must not be. Captions are scored by their
    recipe only with ``has_okt``: the Java analyser takes seconds to start, and longer than reading for each text.
    """
    again = read(file)
    if isinstance(found, InvalidFile):
        assert isinstance(again, InvalidFile)
        assert (found.errors, found.total) == (again.errors, again.total), "another list of errors the second time"
        check_errors(file, found)
        return "rejected"
    assert found == again, "read differently the second time"
    check_score(file, found, has_okt=has_okt)
    return "accepted and scored"


def check_errors(file: File, invalid: InvalidFile) -> None:
    """Every error has a place, a text in both languages that can be shown, and nothing of a reference answer."""
    assert 0 < len(invalid.errors) <= min(invalid.total, MAX_ERRORS_KEPT)
    lines = 1 + file.data.count(b"\n") + file.data.count(b"\r")
    for error in invalid.errors:
        assert error.line is not None or error.item_id is not None or error.code in OF_THE_WHOLE, error
        assert error.line is None or 1 <= error.line <= lines, error
        check_words(error, file.is_reference)


def check_words(error: FileError, is_reference: bool) -> None:
    shown = [json.dumps(error.as_dict(language), ensure_ascii=False) for language in ("ko", "en")]
    for text, message in zip(shown, (error.message("ko"), error.message("en")), strict=True):
        assert message.strip()
        text.encode()  # no half surrogate is left in it
        assert len(text) < 4_000, error
        assert is_reference or CANARY not in text, error


def check_score(file: File, found: Items, *, has_okt: bool) -> None:
    """What was accepted has a finite score by a rule that needs no model."""
    references = found if file.is_reference else REFERENCES[file.recipe]
    answers = tuple(replace(answer, others=()) for answer in found.items)
    predictions = replace(found, items=answers)
    if needs_models(get_recipe(file.recipe)) or (file.recipe == CAPTIONS and not has_okt):
        texts_of = {answer.id: answer.text for answer in references.items}
        scores = [exact_match(answer_part(texts_of[each.id]), answer_part(each.text)) for each in answers]
    else:
        report = engine.score(file.recipe, references, predictions)
        scores = [report.final_score, *report.scores.values()]
    assert all(map(math.isfinite, scores)), scores
