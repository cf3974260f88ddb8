"""Files of the command line: every error names the path, and a file is written completely or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, TextIO

from scoring.cli.words import WORDS, say
from scoring.errors import InvalidFile, Language, ScoringError, format_errors
from scoring.metrics import MetricOptions
from scoring.reading import read_predictions, read_references
from scoring.recipes import RECIPES, Recipe, get_recipe
from scoring.records import Items, ScoreReport
from scoring.report import InvalidReport, report_from_json

STDIN: Final = "-"
_OF_ANOTHER_TASK: Final = {"missing_field", "wrong_type", "several_lists", "no_item_list", "bad_opinion"}


class CannotUse(ScoringError):
    """A path given on the command line cannot be used.

    ``code`` is a key of ``WORDS``, and so may ``why`` be; an error is shown as its message, anything else unchanged.
    """

    def __init__(self, code: str, path: str | Path, why: str | InvalidReport) -> None:
        self.code, self.path, self.why = code, str(path), why
        super().__init__(f"{code}: {self.path} ({self.why})")

    def message(self, language: Language = "ko") -> str:
        if isinstance(self.why, InvalidReport):
            detail = self.why.message(language)
        else:
            detail = say(self.why, language) if self.why in WORDS else self.why
        return say(self.code, language, path=self.path, detail=detail)


class InvalidInput(ScoringError):
    """``InvalidFile`` with the path of its file. ``kind`` is ``references`` or ``predictions``; ``read_by`` are other
    recipes that read the file.
    """

    def __init__(self, kind: str, path: str, cause: InvalidFile, read_by: Sequence[str] = ()) -> None:
        self.kind, self.path, self.cause, self.read_by = kind, path, cause, read_by
        super().__init__(f"{path}: {cause}")


def load_references(path: str, recipe: Recipe) -> Items:
    """The references at ``path``. Raises ``CannotUse`` and ``InvalidInput``."""
    data = read_bytes(path)
    try:
        return read_references(data, recipe)
    except InvalidFile as error:
        raise InvalidInput("references", path, error, read_by=_readers(data, recipe, error)) from error


def _readers(data: bytes, recipe: Recipe, refused: InvalidFile) -> list[str]:
    """Other recipes that read a file of references which ``recipe`` refuses, if it may be one of another task."""
    if any(error.code not in _OF_ANOTHER_TASK for error in refused.errors):
        return []
    found = []
    for other in map(get_recipe, RECIPES):
        with suppress(InvalidFile):
            if other.file_shape != recipe.file_shape and read_references(data, other):
                found.append(other.id)
    return found


def load_predictions(path: str, recipe: Recipe, references: Items | None) -> Items:
    """The predictions at ``path``. Raises ``CannotUse`` and ``InvalidInput``."""
    data = read_bytes(path)
    try:
        return read_predictions(data, recipe, references)
    except InvalidFile as error:
        raise InvalidInput("predictions", path, error) from error


def load_report(path: str) -> ScoreReport:
    """The ``OUT.json`` at ``path``. Raises ``CannotUse``."""
    try:
        return report_from_json(read_bytes(path).decode("utf-8-sig"))
    except InvalidReport as error:
        raise CannotUse("invalid_result", path, error) from error
    except UnicodeDecodeError as error:
        raise CannotUse("invalid_result", path, "no_utf8") from error


def load_options(synonyms: str | None, media: str | None) -> MetricOptions:
    """What the metrics need besides their models. Raises ``CannotUse`` for a path that is not there.

    A synonyms file is opened here, so that an unreadable path is reported before the scoring starts.
    """
    if synonyms == STDIN:
        raise CannotUse("cannot_read", STDIN, "no_such_file")
    if synonyms is not None:
        read_bytes(synonyms)
    if media is not None and not Path(media).exists():
        raise CannotUse("cannot_read", media, "no_such_path")
    return MetricOptions(
        synonyms=None if synonyms is None else Path(synonyms), media=None if media is None else Path(media)
    )


def read_bytes(path: str) -> bytes:
    """The bytes of the file at ``path``, of standard input for ``-``. Raises ``CannotUse``."""
    try:
        if path == STDIN:
            return sys.stdin.buffer.read()
        return Path(path).read_bytes()
    except OSError as error:
        raise CannotUse("cannot_read", path, _why(error)) from error


def require_folder_of(path: str) -> None:
    """Raise ``CannotUse`` if ``path`` cannot be written, before an hour of scoring is spent."""
    folder = Path(path).absolute().parent
    if Path(path).is_dir():
        raise CannotUse("cannot_write", path, "is_folder")
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise CannotUse("cannot_write", path, "no_folder")


def write_whole(path: str, text: str) -> None:
    """Write ``text`` to ``path`` so that a reader sees the old file or the new one, never half of it.

    What is not a regular file (a pipe, ``/dev/null``) is written to in place. Raises ``CannotUse``.
    """
    target = Path(path)
    partial = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        if target.exists() and not target.is_file():
            target.write_text(text, encoding="utf-8")
            return
        with partial.open("w", encoding="utf-8") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        partial.replace(target)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise CannotUse("cannot_write", path, _why(error)) from error


def _why(error: OSError) -> str:
    """The key in ``WORDS`` for ``error``, or the system's own message."""
    kinds = {FileNotFoundError: "no_such_file", IsADirectoryError: "is_folder", PermissionError: "no_permission"}
    return kinds.get(type(error), error.strerror or str(error))


def print_file_errors(error: InvalidInput, language: Language, stream: TextIO) -> None:
    """Write every error as line, id, field, reason to ``stream``, below a line with their number."""
    cause = error.cause
    name, path = say(error.kind, language), say("standard_input", language) if error.path == STDIN else error.path
    lines = [say("not_sound", language, name=name, path=path, total=cause.total), say("columns", language)]
    lines += ["\t".join(cell or "-" for cell in row) for row in format_errors(cause.errors, language)]
    if cause.total > len(cause.errors):
        lines.append(say("more", language, count=cause.total - len(cause.errors)))
    if error.read_by:
        lines.append(say("reads_as", language, recipes=", ".join(error.read_by)))
    stream.write("\n".join(lines) + "\n")
