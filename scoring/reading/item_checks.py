"""What the checks of items of every format share: the id, the JSON values, and where a defect is."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from difflib import get_close_matches
from itertools import islice
from typing import Any, Final

from scoring.errors import FileError, quoted
from scoring.reading.json_items import JsonItem, type_name
from scoring.reading.json_syntax import Path, Unreadable
from scoring.reading.texts import Defect, normalize

MAX_ID_CHARS: Final = 200
MAX_REFERENCES: Final = 50  # reference texts of one item
MAX_KEYS_COMPARED: Final = 50
MAX_KEY_COMPARED: Final = 40  # characters of a key that may be a misspelled one
MAX_ITEM_ERRORS: Final = 20  # of the parts of one answer; then the rest is not read
SIMILAR: Final = 0.8  # of difflib's ratio: outptu and output are alike, video and video_id are not

# Expected types that are more than one JSON type, as keys of ``scoring.messages.TERMS``.
_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string_or_integer": (str, int),
    "string_or_list": (str, list),
    "labels": (str, int, list, dict),
    "number": (int, float),
    "number_or_string": (str, int, float),
    "string_or_object": (str, dict),
    "trait": (dict,),
    "reference_score": (dict,),
}
_ITEM_KEYS: Final = frozenset({"id", "input", "output"})  # each of them means itself


def shown_id(text: str) -> str:
    """An id as shown in errors: complete, so that it can be searched for, unless it is longer than an id may be."""
    return quoted(text, limit=MAX_ID_CHARS)


class ItemCheck:
    """Reads one item and notes its defects.

    Finding the line of a field needs a walk through the item: without ``locating`` a defect has the item's line.
    """

    def __init__(self, item: JsonItem, *, locating: bool) -> None:
        self.id: str | None = None  # NFC; None where it could not be read
        self.written_id = ""  # the id as written, with its ending
        self.has_normalized = False  # NFC changed the answer
        self._written: list[str] = []  # its texts before that
        self._item = item
        self._locating = locating
        self._id_path: Path = ("id",)
        self._shown_id: str | None = None
        self._errors: list[FileError] = []

    def written_texts(self) -> tuple[str, ...]:
        """The texts of a sound item as they are in the file, if NFC changed one."""
        return tuple(self._written) if self.has_normalized else ()

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
        raw = self._member(value, self._id_path, "string_or_integer")
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

    def _read_string(self, raw: str, path: Path, *, is_reference: bool) -> str | None:
        """The text at ``path`` in NFC, if it may be there."""
        text, defect = normalize(raw)
        if defect is None and is_reference and not text.strip():
            defect = "empty_reference", {}
        self.has_normalized = self.has_normalized or text != raw
        self._written.append(raw)
        return text if self._accept(defect, path) else None

    def _member(self, owner: Mapping[Any, Any], path: Path, expected: str) -> Any:
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
        found = similar_key(owner, keys) if self._locating else None
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


def similar_key(owner: Mapping[str, Any], keys: Collection[str]) -> tuple[str, str] | None:
    """A key of ``owner`` that is probably meant for one of ``keys``, and that one; few and short keys are compared."""
    first = islice((key for key in owner if key not in _ITEM_KEYS), MAX_KEYS_COMPARED)
    others = [key for key in first if len(key) <= MAX_KEY_COMPARED]
    for likeness in (1.0, SIMILAR):
        for other in others:
            meant = get_close_matches(other.strip().lower(), keys, n=1, cutoff=likeness)
            if meant:
                return other, meant[0]
    return None
