"""JSON as this project reads it: a strict decoder, a diagnosis of where it stopped, and the positions inside a value.

The decoding is the standard library's, in C. Nothing here recurses in Python; the recursion of the decoder itself ends
in ``RecursionError``, which becomes a defect of the file.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from scoring.errors import quoted

MAX_DEPTH: Final = 20
MAX_TOKENS_WALKED: Final = 5_000
MAX_NUMBER_CHARS: Final = 100

Path = tuple[str | int, ...]
Fault = tuple[str, dict[str, Any]]  # code and params of an invalid JSON value

_SPACE: Final = re.compile(r"[ \t\n\r]*")
_TOKEN: Final = re.compile(  # a bracket or separator, a string, a number (whatever follows it at once), a word
    r'[\[\]{}:,]|"[^"\\]*(?:\\.[^"\\]*)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|[^\s\[\]{}:,"]+'
)
_PYTHON: Final = ("'", "True", "False", "None", "nan", "inf", "-inf", "(")
_COMMENT: Final = ("//", "/*", "#")
_CURLY_QUOTES: Final = ("“", "”", "‘", "’")
_EXPECTED: Final = (("Expecting ',", "missing_comma"), ("Expecting ':", "missing_colon"))
_NEAR_CHARS: Final = 20
_LOOK_BACK: Final = 1_000  # most white space to skip in search of the previous character


class Malformed(Exception):
    """At ``position`` the text is no JSON, or not JSON that this project reads. Never leaves this package."""

    def __init__(self, position: int, code: str, **params: Any) -> None:
        super().__init__(code)
        self.position = position
        self.code = code
        self.params = params


class Unreadable:
    """Takes the place of NaN, Infinity and too large numbers in a decoded item; ``Item.faults`` names them."""


class Decoder:
    """Python's JSON decoder with stricter rules; ``fault`` is the first value it refused."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self._raw_decode = json.JSONDecoder(
            object_pairs_hook=self._object,
            parse_constant=lambda literal: self._note("not_a_number", literal=literal),
            parse_int=self._integer,
            parse_float=self._decimal,
        ).raw_decode

    def decode(self, text: str, position: int) -> tuple[Any, int]:
        """The value at ``position`` and the offset after it. Raises ``Malformed``."""
        self.fault = None
        try:
            value, end = self._raw_decode(text, position)
        except json.JSONDecodeError as error:
            stop = diagnose(text, error.pos, error.msg)
        except RecursionError:
            stop = Malformed(position, "too_deep", limit=MAX_DEPTH)
        else:
            if end - position > MAX_DEPTH and _has_many_brackets(text, position, end) and _is_too_deep(value):
                self._note("too_deep", limit=MAX_DEPTH)
            return value, end
        raise stop  # outside the handler: a chained JSONDecodeError would carry the whole file into a traceback

    def _note(self, code: str, **params: Any) -> Unreadable:
        self.fault = self.fault or (code, params)
        return Unreadable()

    def _object(self, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) != len(pairs):
            times = Counter(key for key, _ in pairs)
            self._note("duplicate_key", key=quoted(times.most_common(1)[0][0]))
        return value

    def _integer(self, literal: str) -> int | Unreadable:
        return int(literal) if len(literal) <= MAX_NUMBER_CHARS else self._too_large(literal)

    def _decimal(self, literal: str) -> float | Unreadable:
        return self._too_large(literal) if is_too_large(literal) else float(literal)

    def _too_large(self, literal: str) -> Unreadable:
        return self._note("number_too_large", length=len(literal))


def is_too_large(literal: str) -> bool:
    """Whether a number is too long to convert cheaply, or beyond the range of a float."""
    return len(literal) > MAX_NUMBER_CHARS or not math.isfinite(float(literal))


def _has_many_brackets(text: str, start: int, end: int) -> bool:
    return text.count("[", start, end) + text.count("{", start, end) > MAX_DEPTH


def _is_too_deep(value: Any) -> bool:
    """Whether brackets are nested more than ``MAX_DEPTH`` deep: level by level, without recursion."""
    level = [value]
    for _ in range(MAX_DEPTH + 1):
        level = [bracket for bracket in level if isinstance(bracket, dict | list)]
        if not level:
            return False
        level = [member for bracket in level for member in (bracket.values() if type(bracket) is dict else bracket)]
    return True


class Spot(NamedTuple):
    """A value inside a JSON text: its path, offset and first token, and whether its key occurred before."""

    path: Path
    offset: int
    token: str
    repeated: bool


@dataclass(slots=True)
class _Open:
    """An open bracket: the current key or index, and the keys so far (``None`` for an array)."""

    step: str | int = 0
    keys: set[str] | None = None
    repeated: bool = False


def skip_space(text: str, position: int) -> int:
    """The offset of the next character that is not JSON white space."""
    if text[position : position + 1] > " ":  # as nearly always
        return position
    match = _SPACE.match(text, position)
    return match.end() if match else position


def spots(text: str, start: int) -> Iterator[Spot]:
    """Every value inside the sound JSON value at ``start``, in the order of the text.

    Iterative, at most ``MAX_TOKENS_WALKED`` tokens far and ``MAX_DEPTH`` deep: it locates errors, and a hostile file
    must not make that expensive.
    """
    brackets: list[_Open] = []
    key_next = False
    for count, match in enumerate(_TOKEN.finditer(text, start)):
        mark, top = match[0], brackets[-1] if brackets else _Open()
        if mark in ("]", "}"):
            brackets.pop()
        elif mark == ",":
            key_next = top.keys is not None
            top.step = top.step + 1 if isinstance(top.step, int) else top.step
        elif key_next and top.keys is not None:
            key = json.loads(mark)
            top.repeated = key in top.keys
            top.keys.add(key)
            top.step = key
            key_next = False
        elif mark != ":":
            if len(brackets) <= MAX_DEPTH:
                yield Spot(tuple(bracket.step for bracket in brackets), match.start(), mark, top.repeated)
            if mark in ("[", "{"):
                key_next = mark == "{"
                brackets.append(_Open(keys=set() if key_next else None))
        if not brackets or count == MAX_TOKENS_WALKED:
            return


def diagnose(text: str, position: int, reason: str) -> Malformed:
    """What is wrong at ``position``, where Python's decoder stopped for ``reason`` (its English message).

    The text itself is checked first: the decoder's messages and positions differ between versions of Python.
    """
    here = skip_space(text, position)
    following = text[here : here + 5]
    before = text[max(0, position - _LOOK_BACK) : position].rstrip()[-1:]
    if reason.startswith("Invalid control character"):
        return Malformed(position, "raw_control")
    if reason.startswith("Invalid \\"):
        return Malformed(position, "bad_escape")
    if reason.startswith("Unterminated string"):
        return Malformed(position, "truncated_json")
    if not following:
        return Malformed(len(text.rstrip()), "truncated_json")
    if before == "," and following[0] in "]}":
        return Malformed(here, "trailing_comma")
    if following[0] == "," and text.startswith(("]", "}"), skip_space(text, here + 1)):
        return Malformed(here, "trailing_comma")
    for code, starts in (("python_notation", _PYTHON), ("comment", _COMMENT), ("curly_quotes", _CURLY_QUOTES)):
        if following.startswith(starts):
            return Malformed(here, code)
    code = next((code for start, code in _EXPECTED if reason.startswith(start)), "json_syntax")
    return Malformed(here, code)


def line_start(text: str, position: int, floor: int = 0) -> int:
    """The offset at which the line of ``position`` begins, not before ``floor``."""
    return max(text.rfind("\n", floor, position), text.rfind("\r", floor, position), floor - 1) + 1


def near(text: str, position: int, start: int) -> str:
    """The text around ``position`` in its line, which begins at ``start``: `` «before▸after»``, safe to show."""
    before = text[max(start, position - _NEAR_CHARS) : position]
    after = re.split(r"[\n\r]", text[position : position + _NEAR_CHARS])[0]
    return f" «{quoted(before)}▸{quoted(after)}»"
