"""What is done to sound values and bytes so that they no longer are."""

from __future__ import annotations

import copy
import json
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final, TypeVar

from hypothesis import strategies as st

T = TypeVar("T")
Draw = Callable[[st.SearchStrategy[Any]], Any]

HUGE: Final = 200_000  # characters of the longest strings, far above every limit of a text

TEXTS: Final = (
    *("", " ", "\x00", "\x0b", "\x7f", "\x85", "\ufeff", "\u200b", "\u202e뒤집힘\u202c", "\u2028", "\t", "\n", "\r\n"),
    *("\ud800", "\udfff\ud83d", "\U0010ffff", "\ufffe", "\U000e0001", "e\u0301", "\u0301" * 31, "a" + "\u0323" * 40),
    *(unicodedata.normalize("NFD", "각하"), "ᄀᄀᄀ가각ᆨᆨ", "ｆｕｌｌ", "ﬁ", "İ", "ß", "𝟙", "①", "١", "ㅋ" * 99),
    *("가 옳다.", "이 옳다", "#", "가#", "#가", "''", '"', "\\", "{0}", "{code}", "%s", "%(x)s", "<script>", "&amp;"),
    *("q1", "q1 ", "Q1", "q1.mp4", "17", "017", "1e3", "0x1", "NaN", "null", "true", "-0", "../../etc/passwd", "a/b"),
    *("2026-11-20T10:00", "0001-01-01T00:00", "9999-12-31T23:59", "9999-12-31", "00:00", "1,2,3", "1 1"),
    *("9" * 50, "9" * 5_000, "-1", "1.5", "1e999", "1e-999", "1E+999999", "Infinity", "٣", "a@b.c", "a" * 65 + "@b.c"),
    *("a" * 201, "가" * 2_501, "가 " * 5_001, "x" * HUGE, "가" * HUGE),
)
VALUES: Final = (
    *(None, True, False, 0, 1, -1, 2**31, 2**63, -(2**63) - 1, 10**99, 10**400),
    *(0.5, -0.0, 1e308, 5e-324, float("nan"), float("inf"), float("-inf")),
    *([], {}, [[]], [{}], {"": ""}, [None], ["가", 1], {"id": "q1"}, {"answer": "답"}, {"a": {"b": {"c": []}}}),
)
KEYS: Final = ("id", "ID", " id", "image_id", "output", "input", "answer", "caption", "captions", "results", "", "\x00")
TOKENS: Final = (
    *(b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b"\n", b"\r", b"\t", b"\x00", b"\xff", b"\xc3", b"\xed\xa0\x80"),
    *(b"NaN", b"-Infinity", b"1e999", b"-", b"0", b"007", b"\\ud800", b"\\u0000", b"'", b"None", b"//", b"/*", b"#"),
    *(b"\xef\xbb\xbf", b"\xe2\x80\xa8", b"\xe2\x80\xae", "“".encode(), b"null", b"true", b'"id"', b"PK\x03\x04", b"<"),
)
ENCODINGS: Final = ("utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp949", "utf-8-sig", "utf-7", "johab", "latin-1")


_ANY: Final = st.integers(0, 2**20)


def pick(draw: Draw, options: Sequence[T]) -> T:
    """One of ``options``. Hypothesis takes ten times as long to set up a strategy for them as to draw a number."""
    return options[draw(_ANY) % len(options)]


def number(draw: Draw, least: int, most: int) -> int:
    """A number up to and including ``most``."""
    return least + draw(_ANY) % (most - least + 1)


@cache
def texts() -> st.SearchStrategy[str]:
    return st.one_of(st.sampled_from(TEXTS), st.text(max_size=12))


@cache
def values() -> st.SearchStrategy[Any]:
    """A JSON value of any type; some of them JSON does not have."""
    known = st.sampled_from(VALUES).map(copy.deepcopy)  # it may be changed where it is put
    return st.one_of(known, texts(), st.integers(), st.floats(), st.lists(texts(), max_size=3), deep_lists())


def deep_lists() -> st.SearchStrategy[Any]:
    """Brackets around a bracket, up to a depth where Python's own decoder still follows."""

    def nested(depth: int, *, is_object: bool) -> Any:
        value: Any = 0
        for _ in range(depth):
            value = {"a": value} if is_object else [value]
        return value

    return st.builds(nested, st.sampled_from((5, 19, 20, 21, 22, 60, 400)), is_object=st.booleans())


class Members(dict[str, Any]):
    """An object that is written with its members as they are listed, some of them twice."""

    def __init__(self, members: list[tuple[str, Any]]) -> None:
        super().__init__(members)
        self.listed = members

    def items(self) -> Any:
        return self.listed


def written(value: Any, indent: int | None, *, is_ascii: bool) -> bytes:
    """``value`` as JSON; half surrogates, where they are not escaped, as the three bytes that UTF-8 forbids."""
    return json.dumps(value, ensure_ascii=is_ascii, indent=indent).encode("utf-8", "surrogatepass")


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every (container, key or index) inside a value."""
    for step in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, step
        if isinstance(value[step], dict | list):
            yield from places(value[step])


def broken_value(draw: Draw, value: Any) -> Any:
    """``value`` with a few of its places changed; what was given stays as it is."""
    value = json.loads(json.dumps(value))
    for _ in range(number(draw, 1, 3)):
        there = list(places(value)) if isinstance(value, dict | list) else []
        if not there:
            return draw(values())
        owner, step = there[number(draw, 0, len(there) - 1)]
        how = pick(draw, ("value", "value", "text", "drop", "rename", "double", "extra", "list", "many"))
        if how == "drop":
            del owner[step]
        elif how in ("value", "text"):
            owner[step] = draw(values() if how == "value" else texts())
        elif how == "list":
            owner[step] = [owner[step]]
        elif how == "many":
            owner[step] = [owner[step]] * pick(draw, (2, 51, 300))
        elif isinstance(owner, list):
            owner.insert(step, json.loads(json.dumps(owner[step])))
        elif how == "rename":
            owner[pick(draw, KEYS)] = owner.pop(step)
        elif how == "extra":
            owner[draw(st.one_of(st.sampled_from(KEYS), texts()))] = draw(values())
        else:
            _double(value, owner, step, draw(values()))
    return value


def _double(root: Any, owner: dict[str, Any], step: str, again: Any) -> None:
    """Write the member ``step`` of ``owner`` a second time."""
    doubled = Members([*dict.items(owner), (step, again)])
    for above, key in places(root):
        if above[key] is owner:
            above[key] = doubled
            return


def broken_bytes(draw: Draw, data: bytes, most: int = 3) -> bytes:
    """``data`` after a few changes."""
    for _ in range(number(draw, 1, most)):
        data = pick(draw, _CHANGES)(draw, data)
    return data


def _span(draw: Draw, data: bytes) -> tuple[int, int]:
    start = number(draw, 0, len(data))
    return start, min(len(data), start + pick(draw, (0, 1, 1, 2, 8, 64)))


def _flipped(draw: Draw, data: bytes) -> bytes:
    if not data:
        return data
    at = number(draw, 0, len(data) - 1)
    return data[:at] + bytes([data[at] ^ number(draw, 1, 255)]) + data[at + 1 :]


def _cut(draw: Draw, data: bytes) -> bytes:
    return data[: number(draw, 0, len(data))]


def _without(draw: Draw, data: bytes) -> bytes:
    start, end = _span(draw, data)
    return data[:start] + data[end:]


def _with(draw: Draw, data: bytes) -> bytes:
    start, end = _span(draw, data)
    return data[:start] + draw(st.one_of(st.sampled_from(TOKENS), st.binary(max_size=6))) + data[end:]


def _repeated(draw: Draw, data: bytes) -> bytes:
    start, end = _span(draw, data)
    times = pick(draw, (2, 3, 40, 2_000))
    return data[:end] + data[start:end] * times + data[end:]


def _encoded(draw: Draw, data: bytes) -> bytes:
    return data.decode("utf-8", "replace").encode(pick(draw, ENCODINGS), "replace")


def _decomposed(_draw: Draw, data: bytes) -> bytes:
    return unicodedata.normalize("NFD", data.decode("utf-8", "replace")).encode("utf-8", "replace")


def _nested(draw: Draw, data: bytes) -> bytes:
    depth = pick(draw, (1, 25, 900, 5_000))
    before, after = pick(draw, ((b"[", b"]"), (b'{"a":', b"}"), (b'{"captions":', b"}")))
    return before * depth + data + after * depth


_CHANGES: Final = (_flipped, _cut, _without, _with, _with, _repeated, _encoded, _decomposed, _nested)
