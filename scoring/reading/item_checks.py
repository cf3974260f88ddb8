"""The checks of one item of a file: its id, its answer, its question type, and its JSON values."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final, Literal

from scoring.errors import FileError, quoted
from scoring.reading.json_items import JsonItem, type_name
from scoring.reading.json_syntax import Path, Unreadable
from scoring.reading.texts import Defect, forbidden_character, normalize
from scoring.records import Item
from scoring.text.answers import UnreadableAnswer, labels_of, number_of

MAX_ID_CHARS: Final = 200
MAX_REFERENCES: Final = 50  # reference texts of one item
MAX_KEYS_COMPARED: Final = 50
MAX_KEY_COMPARED: Final = 40  # characters of a key that may be a misspelled one
SIMILAR: Final = 0.8  # of difflib's ratio: outptu and output are alike, video and video_id are not
MAX_ITEM_ERRORS: Final = 20  # of the labels of one item; then the rest is not read

# What ``output.answer`` holds: a text; a text or a list of them; one label; a label or a list; a number or its text.
TextForm = Literal["text", "texts", "label", "labels", "number"]

# An expected type that is more than one JSON type, as a key of ``scoring.messages.TERMS``.
_STRING_OR_INTEGER: Final = "string_or_integer"
_STRING_OR_LIST: Final = "string_or_list"
_NUMBER_OR_STRING: Final = "number_or_string"
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    _STRING_OR_INTEGER: (str, int),
    _STRING_OR_LIST: (str, list),
    _NUMBER_OR_STRING: (str, int, float),
}
_ITEM_KEYS: Final = frozenset({"id", "input", "output"})  # each of them means itself
_ANSWER: Final = ("output", "answer")
_EXPECTED: Final[dict[TextForm, str]] = {
    "text": "string",
    "texts": _STRING_OR_LIST,
    "label": "string",
    "labels": _STRING_OR_LIST,
    "number": _NUMBER_OR_STRING,
}


def shown_id(text: str) -> str:
    """An id as shown in errors: complete, so that it can be searched for, unless it is longer than an id may be."""
    return quoted(text, limit=MAX_ID_CHARS)


def is_question(value: Any, *, is_reference: bool) -> bool:
    """Whether an item has no answer, as in the files of questions that are handed out.

    An empty text is an answer of a participant, but none of an organiser.
    """
    if not isinstance(value, dict) or "answer" in value:
        return False
    output = value.get("output")
    nothing: tuple[Any, ...] = (None, "", [], {}) if is_reference else (None, [], {})
    return output in nothing or (is_reference and isinstance(output, dict) and output.get("answer") in nothing)


class ItemCheck:
    """Reads one item and notes its defects.

    Finding the line of a field needs a walk through the item: without ``locating`` a defect has the item's line.
    """

    def __init__(self, item: JsonItem, *, locating: bool, form: TextForm = "text") -> None:
        self.id: str | None = None  # NFC; None where it could not be read
        self.written_id = ""  # the id as written, with its ending
        self.has_normalized = False  # NFC changed the answer
        self._written: list[str] = []  # its texts before that
        self._item = item
        self._locating = locating
        self._form = form
        self._id_path: Path = ("id",)
        self._shown_id: str | None = None
        self._errors: list[FileError] = []

    def answer(self, question_types: Collection[str], *, is_reference: bool) -> Item | None:
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
        texts = self._read_texts(value, is_reference=is_reference)
        if is_reference:
            self._check_strings(task)
        if self.id is None or not texts:
            return None
        shown = task if task and is_reference else {}
        return Item(
            self.id, texts[0], self._item.line, question_type, input=shown, others=texts[1:], raw=self.written_texts()
        )

    def written_texts(self) -> tuple[str, ...]:
        """The texts of a sound item as they stand in the file, if NFC changed one."""
        return tuple(self._written) if self.has_normalized else ()

    def note_empty_alternative(self) -> None:
        """Note that a blank answer would match this reference."""
        self._note("empty_alternative", _ANSWER)

    def match_id(
        self, first_lines: Mapping[str, int], known_ids: Collection[str] | None, *, is_reference: bool
    ) -> None:
        """Check that an id occurs once, and that the references (if given) have it.

        An id padded with white space is an error, but counts as the id without it, so that this one is not also
        missing.
        """
        if self.id is None:
            return
        if self.id in first_lines:
            code = "duplicate_reference_id" if is_reference else "duplicate_id"
            self._note(code, self._id_path, first_line=first_lines[self.id])
        elif known_ids is None or self.id in known_ids:
            return
        elif self._meant_id(self.id.strip()) in known_ids:
            self.id = self._meant_id(self.id.strip())
            self._note("padded_id", self._id_path, known=shown_id(self.id))
        else:
            self._note("unknown_id", self._id_path)

    def in_file_order(self) -> list[FileError]:
        return sorted(self._errors, key=lambda error: error.line or 0)

    def _read_id(self, value: dict[str, Any]) -> str | None:
        """The id in NFC; an integer becomes its digits."""
        raw = self._member(value, self._id_path, _STRING_OR_INTEGER)
        return None if raw is None else self._take_id(str(raw))

    def _take_id(self, text: str) -> str | None:
        """``text`` as an id in NFC, if it is a valid one."""
        self._shown_id = shown_id(text)
        normal, defect = normalize(text, MAX_ID_CHARS, one_line=True)
        if defect is not None and defect[0] == "text_too_long":
            defect = "id_too_long", defect[1]
        self.written_id = normal.strip()
        meant = self._meant_id(normal) if defect is None else normal
        if not meant.strip():
            defect = "empty_id", {}
        return meant if self._accept(defect, self._id_path) else None

    def _meant_id(self, text: str) -> str:
        """The id to compare for an id in the file."""
        return text

    def _read_faults(self) -> None:
        """Note repeated keys, NaN, too large numbers and too deep brackets, anywhere in the item."""
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

    def _read_texts(self, value: dict[str, Any], *, is_reference: bool) -> tuple[str, ...]:
        """The answer, or all texts of a reference that may have several; empty if a defect was noted."""
        if "output" not in value and "answer" in value:
            self._note("answer_outside_output", _ANSWER)
            return ()
        output = self._output(value)
        raw = None if output is None else self._member(output, _ANSWER, _EXPECTED[self._form])
        if raw is None:
            return ()
        if isinstance(raw, list) and self._form == "texts":
            return self._read_references(raw)
        text = self._read_text(raw, is_reference=is_reference)
        return () if text is None else (text,)

    def _output(self, value: dict[str, Any]) -> dict[str, Any] | None:
        """The object at ``output``. Without it, the answer itself is often there: then the error shows the form."""
        output = value.get("output", {})
        if isinstance(output, (dict, Unreadable)):
            found: dict[str, Any] | None = self._member(value, ("output",), "object")
            return found
        self._note("output_not_object", ("output",), found=type_name(output))
        return None

    def _read_references(self, raw: list[Any]) -> tuple[str, ...]:
        """The references of an item in their order, none empty, at most ``MAX_REFERENCES``."""
        if not raw:
            self._note("empty_reference", _ANSWER)
        if len(raw) > MAX_REFERENCES:
            self._note("too_many_references", _ANSWER, limit=MAX_REFERENCES)
        texts = self._read_strings(raw[:MAX_REFERENCES])
        return () if self._errors else tuple(texts)

    def _read_text(self, raw: Any, *, is_reference: bool) -> str | None:
        if isinstance(raw, list):
            return self._read_labels(raw)
        if not isinstance(raw, str):
            return self._accepted(repr(raw), _ANSWER)
        text = self._read_string(raw, _ANSWER, is_reference=is_reference)
        return None if text is None else self._accepted(text, _ANSWER)

    def _read_string(self, raw: str, path: Path, *, is_reference: bool) -> str | None:
        """The text at ``path`` in NFC, if it may be there."""
        text, defect = normalize(raw)
        if defect is None and is_reference and not text.strip():
            defect = "empty_reference", {}
        self.has_normalized = self.has_normalized or text != raw
        self._written.append(raw)
        return text if self._accept(defect, path) else None

    def _read_labels(self, raw: list[Any]) -> str | None:
        """A list of labels as compact JSON, sorted, each once."""
        labels = self._read_strings(raw)  # a label must not be empty, in references or answers
        if self._errors:
            return None
        text, written = (_label_list(texts) for texts in (labels, self._written))
        self._written = [written]
        return self._accepted(text, _ANSWER)

    def _read_strings(self, raw: list[Any]) -> list[str]:
        """The valid texts of a list, none of which may be empty; reading stops after ``MAX_ITEM_ERRORS`` defects."""
        texts = []
        for position, element in enumerate(raw):
            path = (*_ANSWER, position)
            if isinstance(element, str):
                text = self._read_string(element, path, is_reference=True)
                texts += [] if text is None else [text]
            elif not isinstance(element, Unreadable):
                self._note("wrong_type", path, expected="string", found=type_name(element))
            if len(self._errors) > MAX_ITEM_ERRORS:
                break
        return texts

    def _accepted(self, text: str, path: Path) -> str | None:
        """``text`` if it fits the form of the answers."""
        try:
            if self._form == "number":
                number_of(text)
                return text.strip()
            if self._form == "labels" and text.strip():
                labels_of(text)
        except UnreadableAnswer as unreadable:
            self._note(unreadable.code, path, **unreadable.params)
            return None
        return text

    def _check_strings(self, task: dict[str, Any] | None) -> None:
        """Note strings of ``input``, which is kept with a reference, that cannot be stored or shown."""
        for path, text in _strings(task):
            self._accept(forbidden_character(text), ("input", *path))

    def _member(self, owner: dict[str, Any], path: Path, expected: str) -> Any:
        """The value at ``path``, whose last step is a key of ``owner``; ``None`` if it is not as expected."""
        key = path[-1]
        if key not in owner:
            self._note_absent(owner, path, (str(key),))
            return None
        value = owner[key]
        if isinstance(value, Unreadable):  # noted among the faults
            return None
        found = type_name(value)
        if found == expected or type(value) in _TYPES.get(expected, ()):
            return value
        self._note("wrong_type", path, expected=expected, found=found)
        return None

    def _note_absent(self, owner: Mapping[str, Any], path: Path, keys: Collection[str]) -> None:
        """Note that ``owner`` has none of ``keys``, or that it has one differently spelled."""
        # Beyond the errors that are shown a search would cost time for each item of a large file.
        found = _similar_key(owner, keys) if self._locating else None
        if found is None:
            self._note("missing_field", path)
        else:
            self._note("misspelled_field", path, key=quoted(found[0]), needed=found[1])

    def _accept(self, defect: Defect | None, path: Path) -> bool:
        """Whether there is no defect; if there is, it is noted."""
        if defect is not None:
            self._note(defect[0], path, **defect[1])
        return defect is None

    def _note(self, code: str, path: Path, **params: Any) -> None:
        self._errors.append(self._error(code, params, path, self._line(path)))

    def _line(self, path: Path) -> int:
        return self._item.line_of(path) if self._locating and path else self._item.line

    def _error(self, code: str, params: Mapping[str, Any], path: Path, line: int) -> FileError:
        shown_path = ".".join(quoted(str(step)) for step in self._shown_path(path))
        return FileError(code, params, line=line, item_id=self._shown_id, field=shown_path or None)

    def _shown_path(self, path: Path) -> Path:
        """``path`` as an error names it."""
        return path


def _similar_key(owner: Mapping[str, Any], keys: Collection[str]) -> tuple[str, str] | None:
    """A key of ``owner`` that is probably meant for one of ``keys``, and that one; few and short keys are compared."""
    first = islice((key for key in owner if key not in _ITEM_KEYS), MAX_KEYS_COMPARED)
    others = [key for key in first if len(key) <= MAX_KEY_COMPARED]
    for likeness in (1.0, SIMILAR):
        for other in others:
            meant = get_close_matches(other.strip().lower(), keys, n=1, cutoff=likeness)
            if meant:
                return other, meant[0]
    return None


def _label_list(labels: Collection[str]) -> str:
    return json.dumps(sorted(set(labels)), ensure_ascii=False, separators=(",", ":"))


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
