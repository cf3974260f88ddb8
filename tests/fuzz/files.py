"""Files of predictions and references: every layout that a reader knows, sound and broken, and bytes that are no file.

``read`` reads one as a site would; ``verdicts`` looks at what comes of it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from hypothesis import strategies as st

from scoring.errors import InvalidFile
from scoring.reading import read_predictions, read_references
from scoring.recipes import get_recipe
from scoring.records import Items
from tests.fuzz.mutations import Draw, broken_bytes, broken_value, deep_lists, number, pick, values, written
from tests.fuzz.sound import (
    CAPTIONS,
    ESSAYS,
    OFFICIAL,
    RECIPES,
    RICH,
    demanding_captions,
    items,
    scored_essays,
    sound_file,
    trait_scores,
    unmarked,
)
from tests.scoring.caption_layouts import PREDICTION_LAYOUTS, REFERENCE_LAYOUTS
from tests.scoring.caption_samples import CANDIDATE_FILES, REFERENCE_FILES

CAPTION_SOURCES: Final = (
    *(source[0] for source in (*CANDIDATE_FILES.values(), *REFERENCE_FILES.values())),
    *(layout.text for layout in (*PREDICTION_LAYOUTS.values(), *REFERENCE_LAYOUTS.values())),
)


@dataclass(frozen=True)
class File:
    """A file and how it is read: by which recipe, as predictions or as references."""

    data: bytes
    recipe: str
    is_reference: bool = False

    def __str__(self) -> str:
        return f"{self.recipe}, {'references' if self.is_reference else 'predictions'}"


REFERENCES: Final = {
    recipe: read_references(sound_file(recipe, is_reference=True), get_recipe(recipe)) for recipe in RECIPES
}


@st.composite
def answer_files(draw: Draw) -> File:
    """Of the official format, for every form of an answer."""
    recipe, is_reference = pick(draw, OFFICIAL), draw(st.booleans())
    return File(arranged(draw, items(recipe, is_reference=is_reference)), recipe, is_reference)


@st.composite
def caption_files(draw: Draw) -> File:
    """In every layout of captions; a file of references may be read as predictions, and the other way round."""
    recipe, is_reference = pick(draw, (CAPTIONS, CAPTIONS, RICH)), draw(st.booleans())
    if recipe == RICH and draw(st.booleans()):
        is_reference = number(draw, 0, 7) > 0
        rows = demanding_captions() if is_reference else unmarked(demanding_captions())
        return File(arranged(draw, rows), recipe, is_reference)
    source = pick(draw, CAPTION_SOURCES)
    try:
        value = json.loads(source)
    except ValueError:  # a table, or JSON lines
        return File(broken_bytes(draw, source.encode()), recipe, is_reference)
    return File(_spoilt(draw, value, has_lines=False), recipe, is_reference)


@st.composite
def essay_files(draw: Draw) -> File:
    """Scored essays and what models say of them; one may be read as the other."""
    are_scored, is_other = number(draw, 0, 2) == 0, number(draw, 0, 7) == 0
    rows = scored_essays() if are_scored else _answered_essays(draw)
    return File(arranged(draw, unmarked(rows) if is_other else rows), ESSAYS, are_scored != is_other)


def _answered_essays(draw: Draw) -> list[dict[str, Any]]:
    """What a model says of each essay, in one of the places for it, and under one of the names of an essay."""
    place = pick(draw, ("", "judge", "output", "answer", "raw", "raw"))
    name, called = pick(draw, _NAMES)
    rows = []
    for essay in scored_essays():
        given: Any = trait_scores(*(pick(draw, (1, 2, 3.5, 4.0, 5)) for _ in range(3)))
        if place == "raw":
            given = _as_model_writes(draw, given)
        elif place == "answer":
            given = {"answer": given}
        rows.append({name: essay[called]} | ({"judge" if place == "judge" else "output": given} if place else given))
    return rows


_NAMES: Final = (  # the key that names an essay, and the one of the references that has its value
    ("id", "id"),
    ("document_id", "document_id"),
    ("essay_id", "id"),
    ("essay_id", "document_id"),
)


def _as_model_writes(draw: Draw, traits: dict[str, Any]) -> str:
    """The raw text of a model; half of them hold no traits that can be read, which is no error."""
    given = broken_value(draw, traits) if draw(st.booleans()) else traits
    data = written(given, None, is_ascii=draw(st.booleans()))
    if number(draw, 0, 3) == 0:
        data = broken_bytes(draw, data)
    return pick(draw, _AROUND).replace("…", data.decode("utf-8", "replace"))


_AROUND: Final = ("…", "```json\n…\n```", "글을 읽었다. … 끝.", "```…", "}{ …", '{"a": …}', "{…", "…" + "}" * 99, "……")


@st.composite
def any_bytes(draw: Draw) -> File:
    """What is no file of ours."""
    return File(draw(loose_bytes()), pick(draw, RECIPES), draw(st.booleans()))


@st.composite
def loose_bytes(draw: Draw) -> bytes:
    """Random bytes, words of JSON in any order, any JSON value."""
    how = pick(draw, ("bytes", "bytes", "words", "words", "words", "value", "value", "deep", "large"))
    if how == "bytes":
        return draw(st.binary(max_size=200))
    if how == "words":
        return "".join(draw(st.lists(st.sampled_from(_WORDS), max_size=40))).encode()
    if how == "large":
        return pick(draw, _LARGE) * pick(draw, (500,) * 40 + (30_000,))
    return written(draw(values() if how == "value" else deep_lists()), None, is_ascii=draw(st.booleans()))


_WORDS: Final = (
    *"[]{}:,\n\t -0123456789.eE'\\\r",
    *('"id"', '"q1"', '"output"', '"answer"', '"caption"', '"image_id"', '"가"', '"', "null", "true", "NaN", "\ufeff"),
)
_LARGE: Final = (
    *(b"[", b'{"a":', b"[],", b"{}\n", b'"', b"\\", b"\n", b"a\tb\n", b"1,", b'{"id":"1"\n', b"\x00", b"\xff"),
    *("가".encode(), "\u0301".encode(), b'{"id":1,"id":2}\n', b'{"id":"q1","output":{"answer":""}}\n', b"9", b"\r"),
)


def arranged(draw: Draw, rows: Sequence[Any]) -> bytes:
    """``rows`` as an array, an object around one, JSON lines, or the first alone; one in four as they should be."""
    layout = pick(draw, ("array", "array", "object", "lines", "one"))
    value: Any = {"object": {"version": 1, "data": rows}, "one": rows[0]}.get(layout, rows)
    return _spoilt(draw, value, has_lines=layout == "lines")


def _spoilt(draw: Draw, value: Any, *, has_lines: bool) -> bytes:
    """``value`` as a file, one in four as it should be."""
    way = pick(draw, ("sound", "sound", "value", "value", "value", "bytes", "bytes", "both"))
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
