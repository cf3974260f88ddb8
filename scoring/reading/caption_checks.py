"""The checks of one row of a caption file: its id, and its caption or reference captions."""

from __future__ import annotations

import re
from typing import Any, Final

from scoring.reading.caption_scan import LABEL_KEYS, LABEL_TEXT, Row, is_label
from scoring.reading.item_checks import MAX_REFERENCES, ItemCheck, shown_id
from scoring.reading.json_items import type_name
from scoring.reading.json_syntax import Path, Unreadable
from scoring.reading.texts import normalize
from scoring.text.answers import alternatives_of

_ENDINGS: Final = re.compile(r"(?:\.(?:mp4|json|jpe?g|png|webp|webm|avi))+$", re.IGNORECASE)
# Members in which a label of AI-Hub may name its picture or film, if not at the top level.
_DESCRIPTIONS: Final = ("info", "meta", "metadata", "video", "videos", "image", "images", "data")

REQUIRED: Final = "required"
MAX_REQUIRED: Final = 50  # words of one item
MAX_REQUIRED_CHARS: Final = 200

Place = tuple[Path, Any]  # a value and its path in the row


def _required_word(word: Any) -> str | None:
    """``word`` in NFC, if it is a line of text none of whose alternatives is empty."""
    if not isinstance(word, str) or not all(alternatives_of(word)):
        return None
    text, defect = normalize(word, MAX_REQUIRED_CHARS, one_line=True)
    return text if defect is None else None


def without_ending(item_id: str) -> str:
    """An id without the endings of picture, film and label files.

    >>> without_ending("v_01.MP4.json")
    'v_01'
    """
    return _ENDINGS.sub("", item_id)


class RowCheck(ItemCheck):
    """Reads one row and notes its defects. Only references (``is_reference``) may hold several texts."""

    def __init__(self, row: Row, *, is_reference: bool, locating: bool) -> None:
        super().__init__(row.item, locating=locating and not row.is_table)
        self._row = row
        self._is_reference = is_reference
        self.is_label = False  # the texts were found in a label of AI-Hub

    def texts(self) -> tuple[str, ...] | None:
        """The texts of the row in NFC; ``None`` with the defects noted. Sets ``id``."""
        value = self._row.item.value
        if self._row.key is not None:
            self.id = self._take_id(self._row.key)
        elif isinstance(value, dict):
            self.id = self._row_id(value)
        else:
            self._note("row_not_object", (), found=type_name(value))
            return None
        if not self._row.is_table:
            self._read_faults()
        places = self._places(value)
        texts = [self._text(raw, path) for path, raw in places[: MAX_REFERENCES + 1]]
        sound = tuple(text for text in texts if text is not None)
        return sound if sound and not self._errors and self.id is not None else None

    def required(self) -> tuple[str, ...]:
        """The words that a reference demands, in NFC; empty if there are none, or with the defect noted."""
        value = self._row.item.value
        if not self._is_reference or not isinstance(value, dict) or REQUIRED not in value:
            return ()
        words = value[REQUIRED] if isinstance(value[REQUIRED], list) else [value[REQUIRED]]
        if any(isinstance(word, Unreadable) for word in words):  # already noted as a fault
            return ()
        read = [_required_word(word) for word in words[: MAX_REQUIRED + 1]]
        sound = tuple(dict.fromkeys(word for word in read if word is not None))
        if len(read) > MAX_REQUIRED or None in read or words is not value[REQUIRED]:
            self._note("bad_required", (REQUIRED,), limit=MAX_REQUIRED)
        return sound

    def note_too_many(self) -> None:
        """Note that with this row its item has more than ``MAX_REFERENCES``."""
        self._note("too_many_references", (), limit=MAX_REFERENCES)

    def match_spelling(self, first: str, first_line: int) -> bool:
        """Whether the id is written as in its ``first`` row; if only its ending differs, that is noted."""
        if self.written_id == first:
            return True
        names = {"first": shown_id(first), "second": shown_id(self.written_id), "id": shown_id(self.id or "")}
        self._note("same_without_ending", self._id_path, first_line=first_line, **names)
        return False

    def _row_id(self, value: dict[str, Any]) -> str | None:
        """The id under the first of the keys that can hold it; a label may hold it one level deeper."""
        path = next(((key,) for key in self._row.id_keys if key in value), None) or self._deeper_id(value)
        if path is None:
            self._id_path = ("id",) if "id" in self._row.id_keys else self._row.id_keys[:1]
            self._note_absent(value, self._id_path, self._row.id_keys)
            return None
        self._id_path = path
        owner: Any = value
        for step in path[:-1]:
            owner = owner[step]
        return self._read_id(owner)

    def _deeper_id(self, value: dict[str, Any]) -> Path | None:
        if not any(key in value for key in LABEL_KEYS):
            return None
        for outer in _DESCRIPTIONS:
            inner = value.get(outer)
            base: Path = (outer,)
            if isinstance(inner, list) and len(inner) == 1:
                inner, base = inner[0], (outer, 0)
            if isinstance(inner, dict):
                for key in self._row.id_keys:
                    if key in inner:
                        return (*base, key)
        return None

    def _places(self, value: Any) -> list[Place]:
        """Every text of the row with its path, whatever its type; nothing where a defect was noted."""
        path: Path = ()
        if isinstance(value, dict):
            found = self._caption_of(value)
            if isinstance(found, list):
                return found
            path, value = found
        return self._spread(path, value)

    def _caption_of(self, value: dict[str, Any]) -> Place | list[Place]:
        """The member with the caption; a list for the texts of a label, empty if there is no caption."""
        if "caption" in value:
            return ("caption",), value["caption"]
        if "output" in value:
            output = value["output"]
            if not isinstance(output, dict):
                return ("output",), output
            if "answer" not in output:
                self._note("missing_field", ("output", "answer"))
            return [] if "answer" not in output else (("output", "answer"), output["answer"])
        for key in LABEL_KEYS:
            if isinstance(value.get(key), dict) or is_label(value.get(key)):
                return self._label_texts(key, value[key])
        self.is_label = LABEL_TEXT in value
        for key in ("answer", LABEL_TEXT, "captions"):
            if key in value:
                return (key,), value[key]
        self._note_absent(value, ("caption",), ("caption",))
        return []

    def _label_texts(self, key: str, label: Any) -> list[Place]:
        """The Korean descriptions of a label of AI-Hub, which holds one annotation or a list of them."""
        self.is_label = True
        annotations: list[Place] = [((key,), label)]
        if isinstance(label, list):
            annotations = [((key, position), part) for position, part in enumerate(label)]
        places: list[Place] = []
        for path, annotation in annotations[: MAX_REFERENCES + 1]:
            if not isinstance(annotation, dict):
                self._note("wrong_type", path, expected="object", found=type_name(annotation))
            elif LABEL_TEXT not in annotation:
                self._note("missing_field", (*path, LABEL_TEXT))
            else:
                places += self._spread((*path, LABEL_TEXT), annotation[LABEL_TEXT])
        if len(places) > 1 and not self._is_reference:
            self._note("wrong_type", (key,), expected="string", found="list")
            return []
        return places

    def _spread(self, path: Path, value: Any) -> list[Place]:
        """A list of reference texts as its elements."""
        if not (self._is_reference and isinstance(value, list)):
            return [(path, value)]
        if not value:
            self._note("empty_reference", path)
        return [((*path, position), text) for position, text in enumerate(value[: MAX_REFERENCES + 1])]

    def _text(self, raw: Any, path: Path) -> str | None:
        if isinstance(raw, Unreadable):  # already noted as a fault
            return None
        if not isinstance(raw, str):
            self._note("wrong_type", path, expected="string", found=type_name(raw))
            return None
        return self._read_string(raw, path, is_reference=self._is_reference)

    def _meant_id(self, text: str) -> str:
        return without_ending(text)

    def _line(self, path: Path) -> int:
        if self._row.key is not None and path == self._id_path:
            return self._row.key_line
        return super()._line(path)

    def _shown_path(self, path: Path) -> Path:
        """``path`` as an error names it; a caption in ``{id: caption}`` or a table is called ``caption``."""
        is_unnamed = self._row.key is not None and path != self._id_path and not (path and isinstance(path[0], str))
        return ("caption", *path) if is_unnamed else path
