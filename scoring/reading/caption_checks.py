"""The checks of one row of a caption file: its id, and its caption or reference captions.

A Korean caption comes before one of another language. The sentences of ActivityNet Captions, which have times, are one
text: what that data set is evaluated by where whole films are described.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from scoring.reading.caption_keys import (
    ENGLISH_KEY,
    KOREAN_KEYS,
    LABEL_KEYS,
    LABEL_TEXT,
    NAME_KEYS,
    PATH_KEYS,
    TEXT_KEYS,
    first_key,
    without_folder,
)
from scoring.reading.caption_scan import Row, is_label
from scoring.reading.item_checks import MAX_ID_CHARS, MAX_ITEM_ERRORS, MAX_REFERENCES, ItemCheck, shown_id
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
_PLAIN_WORDS: Final = (*PATH_KEYS, "videoID")  # as likely meant for something else
_NO_ALIASES: Final[Mapping[str, str | None]] = {}

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
    """Reads one row and notes its defects. Only references (``is_reference``) may hold several texts.

    ``known`` are the ids of the references and ``aliases`` their further names: a row that has none of the ids may name
    its item by another.
    """

    def __init__(
        self,
        row: Row,
        *,
        is_reference: bool,
        locating: bool,
        known: Collection[str] = (),
        aliases: Mapping[str, str | None] = _NO_ALIASES,
    ) -> None:
        super().__init__(row.item, locating=locating and not row.is_table)
        self._row = row
        self._is_reference = is_reference
        self._known = known
        self._aliases = aliases
        self.layout = ""  # the data set that has its captions where they were found; a format, or empty

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
        if self.id is not None and self._known:
            self.id = self._known_id(self.id)
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

    def names(self) -> Iterator[str]:
        """What the row calls the file of its picture or film, with its folder and without."""
        value = self._row.item.value
        row = value if isinstance(value, dict) else {}
        for raw in (*self._row.names, *(row[key] for key in NAME_KEYS if key in row)):
            if isinstance(raw, (str, int)):
                name, defect = normalize(str(raw), MAX_ID_CHARS, one_line=True)
                if defect is None:
                    yield from dict.fromkeys((without_ending(name), without_ending(without_folder(name))))

    def _known_id(self, written: str) -> str | None:
        """The id of the item that a row means, which calls it ``written``, or has another name of it."""
        for name in (written,) if written in self._known else (written, *self.names()):
            if name in self._aliases:
                return self._aliased(name)
            if name in self._known:
                return name
        return written

    def _aliased(self, name: str) -> str | None:
        """The id of the item whose file is ``name``; if that is an id as well, the key in the row decides."""
        item_id, key = self._aliases[name], self._id_key()
        if name in self._known and key is not None:
            item_id = item_id if key in NAME_KEYS else name
        elif name in self._known:
            item_id = None
        if item_id is None:
            self._note("ambiguous_name", self._id_path, name=shown_id(name))
        return item_id

    def _id_key(self) -> str | None:
        """The key or column that holds the id, ``None`` if it is a key itself or a column without a name."""
        if self._row.key is None:
            return str(self._id_path[-1])
        return self._row.id_keys[0] if len(self._row.id_keys) == 1 else None

    def note_too_many(self) -> None:
        """Note that with this row its item has more than ``MAX_REFERENCES``."""
        self._note("too_many_references", (), limit=MAX_REFERENCES)

    def match_spelling(self, first: str, first_line: int) -> bool:
        """Whether the id is written as in its ``first`` row, or is another name; if only ending or folder differ, that
        is noted.
        """
        bare = [without_ending(without_folder(name)) for name in (first, self.written_id)]
        if self.written_id == first or bare[0] != bare[1]:
            return True
        names = {"first": shown_id(first), "second": shown_id(self.written_id), "id": shown_id(self.id or "")}
        self._note("same_without_ending", self._id_path, first_line=first_line, **names)
        return False

    def _row_id(self, value: dict[str, Any]) -> str | None:
        """The id under the first of the keys that can hold it; a label may hold it one level deeper."""
        path = self._outer_id(value) or self._deeper_id(value)
        if path is None:
            self._id_path = ("id",) if "id" in self._row.id_keys else self._row.id_keys[:1]
            self._note_absent(value, self._id_path, [key for key in self._row.id_keys if key not in _PLAIN_WORDS])
            return None
        self._id_path = path
        owner: Any = value
        for step in path[:-1]:
            owner = owner[step]
        return self._read_id(owner)

    def _outer_id(self, value: dict[str, Any]) -> Path | None:
        """The first key with an id; an object or list under ``image`` describes the picture instead."""
        described = {key for key in _DESCRIPTIONS if isinstance(value.get(key), (dict, list))}
        return next(((key,) for key in self._row.id_keys if key in value and key not in described), None)

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
        label_key = next((key for key in LABEL_KEYS if is_label(value.get(key))), None)
        if label_key is not None:
            return self._label_texts(label_key, value[label_key])
        key = first_key(value, (*KOREAN_KEYS, "caption"))
        if key is None and "output" in value:
            output = value["output"]
            if not isinstance(output, dict):
                return ("output",), output
            if "answer" not in output:
                self._note("missing_field", ("output", "answer"))
            return [] if "answer" not in output else (("output", "answer"), output["answer"])
        for label_key in LABEL_KEYS:
            if key is None and isinstance(value.get(label_key), dict):
                return self._label_texts(label_key, value[label_key])
        key = key or first_key(value, ("answer", "captions", "sentence", "sentences", ENGLISH_KEY))
        if key is None:
            self._note_absent(value, ("caption",), ("caption",))
            return []
        self.layout = _layout(value, key)
        found = value[key]
        if self.layout == "activitynet" and isinstance(found, list):
            return self._paragraph((key,), found)
        inner = first_key(found, KOREAN_KEYS) if isinstance(found, dict) else None
        return ((key,), found) if inner is None else ((key, inner), found[inner])

    def _paragraph(self, path: Path, sentences: list[Any]) -> list[Place]:
        """Sentences as one text."""
        wrong = [position for position, text in enumerate(sentences) if not isinstance(text, str)]
        for position in wrong[:MAX_ITEM_ERRORS]:
            self._note("wrong_type", (*path, position), expected="string", found=type_name(sentences[position]))
        return [] if wrong else [(path, " ".join(text.strip() for text in sentences))]

    def _label_texts(self, key: str, label: Any) -> list[Place]:
        """The Korean descriptions of a label of AI-Hub, which holds one annotation or a list of them."""
        self.layout = "aihub"
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
            self._note("several_captions", (key,), count=len(places))
            return []
        return places

    def _spread(self, path: Path, value: Any) -> list[Place]:
        """A list of texts, or of objects that each hold one, as its elements; a caption may be a list of one."""
        if not isinstance(value, list):
            return [(path, value)]
        if not value and self._is_reference:
            self._note("empty_reference", path)
        elif not value:
            return [(path, value)]
        elif len(value) > 1 and not self._is_reference:
            self._note("several_captions", path, count=len(value))
            return []
        elements = enumerate(value[: MAX_REFERENCES + 1])
        return [place for position, element in elements for place in self._element((*path, position), element)]

    def _element(self, path: Path, value: Any) -> list[Place]:
        """One of several captions: a text, or the text of an object."""
        if not isinstance(value, dict):
            return [(path, value)]
        key = first_key(value, TEXT_KEYS)
        if key is None:
            self._note("missing_field", (*path, "caption"))
            return []
        if key == "raw":
            self.layout = "karpathy"
        return [((*path, key), value[key])]

    def _text(self, raw: Any, path: Path) -> str | None:
        if isinstance(raw, Unreadable):  # already noted as a fault
            return None
        if not isinstance(raw, str):
            self._note("wrong_type", path, expected="string", found=type_name(raw))
            return None
        return self._read_string(raw, path, is_reference=self._is_reference)

    def _meant_id(self, text: str) -> str:
        return without_ending(without_folder(text) if self._id_key() in PATH_KEYS else text)

    def _line(self, path: Path) -> int:
        if self._row.key is not None and path == self._id_path:
            return self._row.key_line
        return super()._line(path)

    def _shown_path(self, path: Path) -> Path:
        """``path`` as an error names it; a caption in ``{id: caption}`` or a table is called ``caption``."""
        is_unnamed = self._row.key is not None and path != self._id_path and not (path and isinstance(path[0], str))
        return ("caption", *path) if is_unnamed else path


def _layout(value: dict[str, Any], key: str) -> str:
    """The data set whose rows have their captions under ``key``, or an empty text."""
    if key == LABEL_TEXT:
        return "aihub"
    if key == "caption_ko" and "captions" in value:
        return "aihub-mscoco"
    if key in (ENGLISH_KEY, "koCap"):
        return "vatex"
    return "activitynet" if key.startswith("sentences") and "timestamps" in value else ""
