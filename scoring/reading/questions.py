"""Files of questions: what the items of a task ask, with or without answers, for whoever compares answers to them.

An item is ``{"id", "input"}`` as in the official format, in an array, an object around one, or JSON lines; an
``output`` beside it is not read.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from scoring.errors import ErrorList, FileError
from scoring.reading.decoding import decode
from scoring.reading.item_checks import ItemCheck
from scoring.reading.json_items import scan, type_name
from scoring.reading.texts import forbidden_character
from scoring.records import Item, Items
from scoring.text.inputs import written_out


class QuestionCheck(ItemCheck):
    """Reads what one item asks and notes its defects."""

    def question(self) -> Item | None:
        """The item with what it asks as its text, or ``None`` with the defects noted."""
        value = self._item.value
        if not isinstance(value, dict):
            self._note("item_not_object", (), found=type_name(value))
            return None
        self.id = self._read_id(value)
        self._read_faults()
        if "input" not in value:
            self._note_absent(value, ("input",), ("input",))
            return None
        if self._item.fault is not None:  # what cannot be read cannot be written out
            return None
        asked = value["input"]
        parts = asked if isinstance(asked, Mapping) else {"input": asked}
        text = written_out(parts)
        if asked is None or not text.strip():
            self._note("empty_question", ("input",))
        elif (defect := forbidden_character(text)) is not None:
            self._note(defect[0], ("input",), **defect[1])
        return None if self.id is None or self._errors else Item(self.id, text, self._item.line, input=parts)


def read_questions(data: bytes) -> Items:
    """The questions of a file, each as the ``text`` of its item. Raises ``InvalidFile``."""
    file_format, entries = scan(decode(data))
    found, items, first_lines = ErrorList(), list[Item](), dict[str, int]()
    for entry in entries:
        if isinstance(entry, FileError):
            found.note(entry)
            continue
        check = QuestionCheck(entry, locating=not found.is_full)
        item = check.question()
        check.match_id(first_lines, None, is_reference=False)
        found.note(*check.in_file_order())
        if check.id is not None:
            first_lines.setdefault(check.id, entry.line)
        if item is not None:
            items.append(item)
    found.raise_any(before=[] if items or found.total else [FileError("no_items")])
    return Items(tuple(items), file_format, hashlib.sha256(data).hexdigest())
