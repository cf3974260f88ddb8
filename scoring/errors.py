"""Errors of the measuring instrument.

Every error is a named class with a code and data. The texts for people are in ``scoring.messages``, in Korean and
English, with the five official messages of the contest verbatim.

An error of a file must be safe to show, to log and to store: everything it quotes from the file goes through
``quoted``, and no answer of a reference file is ever quoted.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple

from scoring.invisible import is_seen, is_unseen
from scoring.messages import (
    COUNT_DIFFERS,
    DUPLICATE_ID,
    ID_MISMATCH,
    MESSAGES,
    NOT_JSON,
    WRONG_SHAPE,
    Language,
    Message,
    term,
)

__all__ = [
    "COUNT_DIFFERS",
    "DUPLICATE_ID",
    "ID_MISMATCH",
    "MAX_ERRORS_KEPT",
    "MESSAGES",
    "NOT_JSON",
    "WRONG_SHAPE",
    "ErrorList",
    "ErrorRow",
    "FileError",
    "InvalidFile",
    "Language",
    "Message",
    "ModelUnavailable",
    "ScoringError",
    "ScoringFault",
    "WordedError",
    "format_errors",
    "grouped",
    "quoted",
]

QUOTE_CHARS: Final = 40
MAX_ERRORS_KEPT: Final = 100
ROW_PLACES: Final = 20  # lines and ids in one row of ``format_errors``


class ScoringError(Exception):
    """Base of all errors that scoring raises on purpose."""


@dataclass(frozen=True, slots=True)
class FileError:
    """One defect of an uploaded file, located.

    ``line`` is 1-based in the file as uploaded; ``item_id`` and ``field`` are ``None`` where they do not apply.
    ``params`` are JSON values, so that an error can be stored and put into words later, in either language.
    """

    code: str
    params: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None
    item_id: str | None = None
    field: str | None = None

    def message(self, language: Language = "ko") -> str:
        """What is wrong and what to do next, in ``language``."""
        params = {name: term(name, value, language) for name, value in self.params.items()}
        return MESSAGES[self.code].filled(language, **params)

    def official(self) -> str | None:
        """The contest's own message for this kind of defect, verbatim, or ``None``."""
        return MESSAGES[self.code].official

    def reason(self, language: Language = "ko") -> str:
        """The message in one line of a table; in Korean the official message leads and the detail follows."""
        official = self.official()
        message = self.message(language)
        return f"{official}: {message}" if official and language == "ko" else message

    def as_dict(self, language: Language = "ko") -> dict[str, Any]:
        return {
            "code": self.code,
            "line": self.line,
            "id": self.item_id,
            "field": self.field,
            "official": self.official(),
            "message": self.message(language),
        }


class InvalidFile(ScoringError):
    """A predictions or references file breaks the format: 제출 오류, which the uploader must fix.

    ``errors`` are the defects found, in file order (the first ``MAX_ERRORS_KEPT``; ``total`` counts all of them).
    """

    def __init__(self, errors: Sequence[FileError], total: int | None = None) -> None:
        self.errors = tuple(errors)
        self.total = len(self.errors) if total is None else total
        super().__init__("; ".join(f"{e.code}@{e.line}" for e in self.errors[:3]))


@dataclass(slots=True)
class ErrorList:
    """The errors found in one file so far: the first ``MAX_ERRORS_KEPT`` of ``total``."""

    errors: list[FileError] = field(default_factory=list)
    total: int = 0

    @property
    def is_full(self) -> bool:
        """Whether further errors are only counted, so that their location is not needed."""
        return self.total >= MAX_ERRORS_KEPT

    def note(self, *errors: FileError) -> None:
        self.total += len(errors)
        self.errors.extend(errors[: MAX_ERRORS_KEPT - len(self.errors)])

    def raise_any(self, before: Iterable[FileError] = (), after: Iterable[FileError] = ()) -> None:
        """Raise ``InvalidFile`` if there is any error; those of the file as a whole come ``before`` or ``after``."""
        errors = [*before, *self.errors, *after]
        if errors:
            raise InvalidFile(errors[:MAX_ERRORS_KEPT], self.total + len(errors) - len(self.errors))


class ModelUnavailable(ScoringError):
    """A model of the profile is not on this machine; the text says which command fetches it."""


class ScoringFault(ScoringError):
    """시스템 오류: the scoring could not be carried out through no fault of the file."""


class WordedError(Exception):
    """Base of errors with a code, parameters and a text in Korean and English."""

    code: ClassVar[str]
    words: ClassVar[Message]

    def __init__(self, **params: Any) -> None:
        self.params: dict[str, Any] = params
        super().__init__(f"{self.message('ko')} / {self.message('en')}")

    def message(self, language: Language = "ko") -> str:
        """What happened, where, and what to do, in ``language``."""
        return self.words.filled(language, **self.params)


def grouped(errors: Iterable[FileError]) -> list[list[FileError]]:
    """Errors that say the same of the same field together, each list at the place of its first, in file order."""
    groups: dict[tuple[str, str, str | None], list[FileError]] = {}
    for error in errors:
        groups.setdefault((error.code, repr(error.params), error.field), []).append(error)
    return list(groups.values())


class ErrorRow(NamedTuple):
    """One error, or one of several items, as a row of a table; a place that does not apply is an empty string."""

    line: str
    id: str
    field: str
    reason: str


def format_errors(errors: Iterable[FileError], language: Language = "ko") -> list[ErrorRow]:
    """The rows (line, id, field, reason) that ``python -m scoring check`` prints: one for errors that say the same."""
    return [_row(group, language) for group in grouped(errors)]


def _row(group: Sequence[FileError], language: Language) -> ErrorRow:
    first, places = group[0], [(str(error.line or ""), error.item_id or "") for error in group]
    lines, ids = (_listed([cell for cell in column if cell]) for column in zip(*places, strict=True))
    times = "" if len(group) == 1 else f"[×{len(group)}] "
    return ErrorRow(lines, ids, first.field or "", times + first.reason(language))


def _listed(cells: Sequence[str]) -> str:
    return ", ".join(cells[:ROW_PLACES]) + (" …" if len(cells) > ROW_PLACES else "")


def quoted(text: str, limit: int = QUOTE_CHARS) -> str:
    """At most ``limit`` characters of an upload, with everything that cannot be seen written as an escape.

    >>> quoted("a\\u202eb")
    'a\\\\u202eb'
    """
    shown = text[:limit]
    if not (shown.isprintable() and is_seen(shown)):
        shown = "".join(map(_visible, shown))
    return shown + "…" if len(text) > limit else shown


def _visible(character: str) -> str:
    if not is_unseen(character):
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"
