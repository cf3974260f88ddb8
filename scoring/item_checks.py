"""The checks of one item of a file: its id, its answer, its question type, and that its JSON is sound throughout."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import Any, Final

from scoring.errors import FileError, quoted
from scoring.json_items import Item, type_name
from scoring.json_syntax import Path, Unreadable
from scoring.records import Answer
from scoring.texts import Defect, forbidden_character, normalize

MAX_ID_CHARS: Final = 200
MAX_KEYS_COMPARED: Final = 50

_STRING_OR_INTEGER: Final = "string_or_integer"


def shown_id(text: str) -> str:
    """An id as an error names it: whole, so that it can be searched for, unless it is longer than an id may be."""
    return quoted(text, limit=MAX_ID_CHARS)


class ItemCheck:
    """Reads one item and notes its defects.

    Finding the line of a field costs a walk through the item: without ``locating`` a defect stands at the item's line.
    """

    def __init__(self, item: Item, *, locating: bool) -> None:
        self.id: str | None = None  # NFC; None where it could not be read
        self.has_normalized = False  # NFC changed the answer
        self._item = item
        self._locating = locating
        self._shown_id: str | None = None
        self._errors: list[FileError] = []

    def answer(self, question_types: Collection[str], *, is_reference: bool) -> Answer | None:
        """The answer of the item, or ``None`` with the defects noted. A reference keeps its ``input``."""
        value = self._item.value
        if not isinstance(value, dict):
            self._note("item_not_object", (), found=type_name(value))
            return None
        self.id = self._read_id(value)
        self._read_faults()
        has_types = is_reference and bool(question_types)
        task = self._member(value, ("input",), "object") if has_types or "input" in value else {}
        question_type = self._read_question_type(task or {}, question_types, is_required=has_types and task is not None)
        text = self._read_text(value, is_reference=is_reference)
        if is_reference:
            self._check_strings(task)
        if self.id is None or text is None:
            return None
        return Answer(self.id, text, self._item.line, question_type, input=task if task and is_reference else {})

    def match_id(self, first_lines: Mapping[str, int], known_ids: Collection[str] | None) -> None:
        """An id may stand once in the file, and only if the references (where given) have it.

        An id padded with white space is an error, and from then on the id it is meant to be: that is not missing too.
        """
        if self.id is None:
            return
        if self.id in first_lines:
            self._note("duplicate_id", ("id",), first_line=first_lines[self.id])
        elif known_ids is None or self.id in known_ids:
            return
        elif self.id.strip() in known_ids:
            self.id = self.id.strip()
            self._note("padded_id", ("id",), known=shown_id(self.id))
        else:
            self._note("unknown_id", ("id",))

    def in_file_order(self) -> list[FileError]:
        return sorted(self._errors, key=lambda error: error.line or 0)

    def _read_id(self, value: dict[str, Any]) -> str | None:
        """The id in NFC; an integer becomes its digits."""
        raw = self._member(value, ("id",), _STRING_OR_INTEGER)
        if raw is None:
            return None
        text = str(raw)
        self._shown_id = shown_id(text)
        normal, defect = normalize(text, MAX_ID_CHARS, one_line=True)
        if not normal.strip():
            defect = "empty_id", {}
        elif defect is not None and defect[0] == "text_too_long":
            defect = "id_too_long", defect[1]
        return normal if self._accept(defect, ("id",)) else None

    def _read_faults(self) -> None:
        """Repeated keys, NaN, numbers without measure and too deep brackets, wherever in the item they stand."""
        if self._item.fault is None:
            return
        if not self._locating:
            self._note(self._item.fault[0], (), **self._item.fault[1])
            return
        for (code, params), path, line in self._item.faults():
            self._errors.append(self._error(code, params, path, line))

    def _read_question_type(
        self, task: dict[str, Any], question_types: Collection[str], *, is_required: bool
    ) -> str | None:
        path = ("input", "question_type")
        if "question_type" not in task and not is_required:
            return None
        raw = self._member(task, path, "string")
        if raw is None:
            return None
        question_type, defect = normalize(raw)
        if defect is None and question_types and question_type not in question_types:
            defect = "unknown_question_type", {"value": quoted(raw), "allowed": ", ".join(question_types)}
        return question_type if self._accept(defect, path) else None

    def _read_text(self, value: dict[str, Any], *, is_reference: bool) -> str | None:
        if "output" not in value and "answer" in value:
            self._note("answer_outside_output", ("output", "answer"))
            return None
        output = self._member(value, ("output",), "object")
        raw = None if output is None else self._member(output, ("output", "answer"), "string")
        if raw is None:
            return None
        text, defect = normalize(raw)
        if defect is None and is_reference and not text.strip():
            defect = "empty_reference", {}
        self.has_normalized = text != raw
        return text if self._accept(defect, ("output", "answer")) else None

    def _check_strings(self, task: dict[str, Any] | None) -> None:
        """The strings of ``input``, which is kept with a reference, hold nothing that cannot be stored or shown."""
        for path, text in _strings(task):
            self._accept(forbidden_character(text), ("input", *path))

    def _member(self, owner: dict[str, Any], path: Path, expected: str) -> Any:
        """The value at ``path``, the last step of which is a key of ``owner``; ``None`` if it is not as expected."""
        key = path[-1]
        if key not in owner:
            similar = next((other for other in islice(owner, MAX_KEYS_COMPARED) if other.strip().lower() == key), None)
            if similar is None:
                self._note("missing_field", path)
            else:
                self._note("misspelled_field", path, key=quoted(similar))
            return None
        value = owner[key]
        if isinstance(value, Unreadable):  # noted among the faults
            return None
        found = type_name(value)
        if found == expected or (expected == _STRING_OR_INTEGER and type(value) in (str, int)):
            return value
        self._note("wrong_type", path, expected=expected, found=found)
        return None

    def _accept(self, defect: Defect | None, path: Path) -> bool:
        """Whether there is no defect; if there is, it is noted."""
        if defect is not None:
            self._note(defect[0], path, **defect[1])
        return defect is None

    def _note(self, code: str, path: Path, **params: Any) -> None:
        line = self._item.line_of(path) if self._locating and path else self._item.line
        self._errors.append(self._error(code, params, path, line))

    def _error(self, code: str, params: Mapping[str, Any], path: Path, line: int) -> FileError:
        shown_path = ".".join(quoted(str(step)) for step in path)
        return FileError(code, params, line=line, item_id=self._shown_id, field=shown_path or None)


def _strings(value: Any) -> Iterator[tuple[Path, str]]:
    """Every string inside a decoded value, with its path; iterative, whatever the depth."""
    waiting: list[tuple[Path, Any]] = [((), value)]
    while waiting:
        path, here = waiting.pop()
        if isinstance(here, str):
            yield path, here
        elif isinstance(here, dict):
            waiting.extend(((*path, key), member) for key, member in here.items())
        elif isinstance(here, list):
            waiting.extend(((*path, index), member) for index, member in enumerate(here))
