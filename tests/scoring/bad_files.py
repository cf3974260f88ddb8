"""Bad files of every kind, each with the first error that reading it against ``REFERENCES`` must report.

The same list goes through ``read_predictions`` and, in the platform's tests, through HTTP. ``GOOD`` is accepted.
"""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from dataclasses import dataclass

CANARY = "카나리아정답7351"  # stands in every reference answer: no error of a predictions file may hold it
IDS = ("q-1", "q-2", "q-3", "q-4", "q-5")


@dataclass(frozen=True)
class BadFile:
    """A file and the first of its errors: code, 1-based line, item id and field (``None`` where none applies)."""

    name: str
    data: bytes
    code: str
    line: int | None = None
    item_id: str | None = None
    field: str | None = None

    def __str__(self) -> str:
        return self.name


def item(item_id: str, answer: str) -> str:
    """One item of the official format on one line."""
    task = {"question_type": "선택형", "question": "다음 중 옳은 것을 고르고 이유를 쓰시오."}
    return json.dumps({"id": item_id, "input": task, "output": {"answer": answer}}, ensure_ascii=False)


def array(*items: str) -> str:
    """A JSON array with one item a line: the first item stands in line 2."""
    return "[\n" + ",\n".join(items) + "\n]\n"


def lines(*items: str) -> str:
    return "".join(f"{text}\n" for text in items)


def good_items() -> list[str]:
    return [item(item_id, f'"보기 {item_id}"가 옳다. 규정에 맞기 때문이다.') for item_id in IDS]


def replaced(position: int, text: str) -> list[str]:
    """The good items with one of them (0 is q-1) replaced."""
    items = good_items()
    items[position] = text
    return items


def third(text: str) -> bytes:
    """The good array with ``text`` instead of its third item, q-3, in line 4."""
    return array(*replaced(2, text)).encode()


def _zip(member: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(member, GOOD_TEXT)
    return buffer.getvalue()


def _q3(output: str) -> bytes:
    return third('{"id": "q-3", "output": ' + output + "}")


def _q3_id(literal: str) -> bytes:
    return third('{"id": ' + literal + ', "output": {"answer": "답"}}')


GOOD_TEXT = array(*good_items())
GOOD = GOOD_TEXT.encode()
REFERENCES = array(*(item(item_id, f'"{CANARY}"가 옳다. {CANARY}이기 때문이다.') for item_id in IDS)).encode()

_ANSWER = "output.answer"

BAD_FILES: tuple[BadFile, ...] = (
    # bytes
    BadFile("empty", b"", "empty_file"),
    BadFile("white space only", b" \r\n\t\n", "blank_file"),
    BadFile("only a byte order mark", b"\xef\xbb\xbf", "blank_file"),
    BadFile("over the size limit", b" " * (20 * 1024 * 1024) + GOOD, "too_many_bytes"),
    BadFile("cp949", GOOD_TEXT.encode("cp949"), "cp949"),
    BadFile("utf-16 with mark", GOOD_TEXT.encode("utf-16"), "utf16"),
    BadFile("utf-16-le", GOOD_TEXT.encode("utf-16-le"), "utf16"),
    BadFile("utf-16-be", GOOD_TEXT.encode("utf-16-be"), "utf16"),
    BadFile("utf-32", GOOD_TEXT.encode("utf-32"), "utf16"),
    BadFile("one byte not utf-8", GOOD.replace(b"q-4", b"q-\xff", 1), "invalid_utf8", line=5),
    BadFile("cut inside a character", GOOD[: GOOD.rindex("이다".encode()) + 1], "cut_off", line=6),
    BadFile("zip", _zip("submission.json"), "not_a_text_file"),
    BadFile("xlsx", _zip("[Content_Types].xml"), "not_a_text_file"),
    BadFile("gzip", gzip.compress(GOOD, mtime=0), "not_a_text_file"),
    BadFile("pdf", b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n", "not_a_text_file"),
    BadFile("html", b"\n<!DOCTYPE html><html><body>404</body></html>", "not_a_text_file"),
    BadFile("pickle", b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00]\x94.", "not_a_text_file"),
    # JSON
    BadFile("csv", "id,answer\nq-1,답\n".encode(), "not_json", line=1),
    BadFile("plain text", "안녕하세요".encode(), "not_json", line=1),
    BadFile("zero bytes", b"\x00" * 64, "not_json", line=1),
    BadFile("a form feed", b"\x0c", "not_json", line=1),
    BadFile("vertical tabs", b"\x0b\n\x0b", "not_json", line=1),
    BadFile("truncated", GOOD[: GOOD.index(b'"output"', GOOD.index(b"q-4"))], "truncated_json", line=5, item_id="q-4"),
    BadFile("truncated in a string", GOOD[: GOOD.index(b"q-5") + 2], "truncated_json", line=6),
    BadFile("closing bracket missing", GOOD.rstrip()[:-1], "truncated_json", line=6, item_id="q-5"),
    BadFile("comma after the last item", GOOD.replace(b"\n]", b",\n]"), "trailing_comma", line=7),
    BadFile("comma after the last member", _q3('{"answer": "답",}'), "trailing_comma", line=4, item_id="q-3"),
    BadFile("text after the array", GOOD + "끝\n".encode(), "trailing_text", line=8, item_id="q-5"),
    BadFile("two arrays", GOOD + GOOD, "trailing_text", line=8, item_id="q-5"),
    BadFile("single quotes", third("{'id': 'q-3', 'output': {'answer': '답'}}"), "python_notation", line=4),
    BadFile("python None", _q3('{"answer": None}'), "python_notation", line=4, item_id="q-3"),
    BadFile("curly quotes", third("{“id”: “q-3”}"), "curly_quotes", line=4),
    BadFile("comment", third('{"id": "q-3", // 셋째\n"output": {"answer": "답"}}'), "comment", line=4, item_id="q-3"),
    BadFile(
        "comma missing between items",
        array(good_items()[0] + "\n" + good_items()[1], *good_items()[2:]).encode(),
        "missing_comma",
        line=3,
        item_id="q-1",
    ),
    BadFile("quote not escaped", _q3('{"answer": "그는 "예"라고 했다"}'), "missing_comma", line=4, item_id="q-3"),
    BadFile("colon missing", _q3('{"answer" "답"}'), "missing_colon", line=4, item_id="q-3"),
    BadFile("raw line break in a string", _q3('{"answer": "첫 줄\n둘째 줄"}'), "raw_control", line=4, item_id="q-3"),
    BadFile("wrong escape", _q3('{"answer": "C:\\폴더"}'), "bad_escape", line=4, item_id="q-3"),
    BadFile("leading zero", _q3_id("007"), "missing_comma", line=4),
    BadFile("undefined", _q3('{"answer": undefined}'), "json_syntax", line=4, item_id="q-3"),
    BadFile("NaN", _q3('{"answer":\nNaN}'), "not_a_number", line=5, item_id="q-3", field=_ANSWER),
    BadFile("infinite number", _q3('{"answer": "답", "p": 1e999}'), "number_too_large", 4, "q-3", "output.p"),
    BadFile("integer of 100,000 digits", _q3_id("9" * 100_000), "number_too_large", line=4, field="id"),
    BadFile("key twice", _q3('{"answer": "하나",\n"answer": "둘"}'), "duplicate_key", 5, "q-3", _ANSWER),
    BadFile("id twice in an item", third('{"id": "q-9", "id": "q-3"}'), "duplicate_key", 4, "q-3", "id"),
    BadFile("thirty arrays deep", _q3('{"answer": "답", "x": ' + "[" * 30 + "]" * 30 + "}"), "too_deep", 4, "q-3"),
    BadFile("100,000 arrays deep", b"[" * 100_000, "too_deep", line=1),
    BadFile("JSON bomb", b"[" + b"[]," * 1_100_000 + b"[]]", "too_many_values"),
    BadFile("too many items", b"[\n" + b"1,\n" * 110_000 + b"1]", "item_not_object", line=2),
    BadFile("a string", '"답"'.encode(), "top_level_type", line=1),
    BadFile("a number", b"\n42", "top_level_type", line=2),
    BadFile("answers by id", '{"q-1": "답", "q-2": "답"}'.encode(), "no_item_list", line=1),
    BadFile("two lists", b'{"data": [],\n"more": []}', "several_lists", line=2),
    BadFile("empty array", b"[]", "count_differs"),
    # JSON lines
    BadFile("one broken line", lines(*replaced(2, '{"id": "q-3", "output":')).encode(), "truncated_json", 3, "q-3"),
    BadFile("commas between lines", ",\n".join(good_items()).encode(), "line_comma", line=1, item_id="q-1"),
    BadFile(
        "two items on a line", lines("".join(good_items()[:2]), *good_items()[2:]).encode(), "trailing_text", 1, "q-1"
    ),
    BadFile("CR LF lines", lines(*replaced(3, "{]")).replace("\n", "\r\n\r\n").encode(), "json_syntax", line=7),
    BadFile("CR lines", lines(*replaced(3, "{]")).replace("\n", "\r").encode(), "json_syntax", line=4),
    # items
    BadFile("item is a list", third('["q-3", "답"]'), "item_not_object", line=4),
    BadFile("item is null", third("null"), "item_not_object", line=4),
    BadFile("id missing", third('{"output": {"answer": "답"}}'), "missing_field", line=4, field="id"),
    BadFile("output missing", third('{"id": "q-3"}'), "missing_field", line=4, item_id="q-3", field="output"),
    BadFile("answer missing", _q3("\n{}"), "missing_field", line=5, item_id="q-3", field=_ANSWER),
    BadFile("Answer", _q3('{"Answer": "답"}'), "misspelled_field", line=4, item_id="q-3", field=_ANSWER),
    BadFile(
        "answer outside output", third('{"id": "q-3", "answer": "답"}'), "answer_outside_output", 4, "q-3", _ANSWER
    ),
    BadFile("output is a list", _q3('["답"]'), "wrong_type", line=4, item_id="q-3", field="output"),
    BadFile("output is a number", _q3("3"), "wrong_type", line=4, item_id="q-3", field="output"),
    BadFile("output is null", _q3("null"), "wrong_type", line=4, item_id="q-3", field="output"),
    BadFile("answer is a number", _q3("{\n\n" + '"answer": 3}'), "wrong_type", line=6, item_id="q-3", field=_ANSWER),
    BadFile("answer is a list", _q3('{"answer": ["답"]}'), "wrong_type", line=4, item_id="q-3", field=_ANSWER),
    BadFile("answer is null", _q3('{"answer": null}'), "wrong_type", line=4, item_id="q-3", field=_ANSWER),
    BadFile("answer is true", _q3('{"answer": true}'), "wrong_type", line=4, item_id="q-3", field=_ANSWER),
    BadFile("id is 1.0", _q3_id("1.0"), "wrong_type", line=4, field="id"),
    BadFile("id is true", _q3_id("true"), "wrong_type", line=4, field="id"),
    BadFile("id is null", _q3_id("null"), "wrong_type", line=4, field="id"),
    BadFile("id is empty", _q3_id('" "'), "empty_id", line=4, item_id=" ", field="id"),
    BadFile("id of 201 characters", _q3_id(f'"{"q" * 201}"'), "id_too_long", 4, "q" * 200 + "…", "id"),
    BadFile("id with a line break", _q3_id('"q-3\\n"'), "control_character", 4, "q-3\\u000a", "id"),
    BadFile(
        "answer of 200,001 characters", _q3(f'{{"answer": "{"가 " * 100_000}나"}}'), "text_too_long", 4, "q-3", _ANSWER
    ),
    BadFile("stacked marks", _q3(f'{{"answer": "a{chr(0x301) * 31}"}}'), "too_many_marks", 4, "q-3", _ANSWER),
    BadFile("lone surrogate", _q3('{"answer": "\\ud83d"}'), "lone_surrogate", 4, "q-3", _ANSWER),
    BadFile("NUL", _q3('{"answer": "답\\u0000"}'), "control_character", 4, "q-3", _ANSWER),
    BadFile("delete character", _q3('{"answer": "답\x7f"}'), "control_character", 4, "q-3", _ANSWER),
    # items against the references
    BadFile("one item too few", array(*good_items()[:4]).encode(), "count_differs"),
    BadFile("one item too many", array(*good_items(), item("q-6", "답")).encode(), "count_differs"),
    BadFile("unknown id", third(item("q-33", "답")), "unknown_id", line=4, item_id="q-33", field="id"),
    BadFile("prototype id", third(item("__proto__", "답")), "unknown_id", 4, "__proto__", "id"),
    BadFile("id turned around", third(item("q-\u202e3", "답")), "unknown_id", 4, "q-\\u202e3", "id"),
    BadFile("id with a space", third(item("q-3 ", "답")), "padded_id", line=4, item_id="q-3 ", field="id"),
    BadFile("same id twice", third(item("q-2", "답")), "duplicate_id", line=4, item_id="q-2", field="id"),
    BadFile(
        "same id as a number and a string",
        b'[{"id": 1, "output": {"answer": ""}},\n{"id": "1", "output": {"answer": ""}}]',
        "count_differs",
    ),
)
