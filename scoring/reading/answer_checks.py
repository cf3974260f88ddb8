"""The checks of one item in the official format: its answer in the forms of every year, its question type, its input.

An answer is at ``output.answer`` (어문 규범, 한국 문화 2025), is ``output`` itself (most tasks of 2022-2025), or is at
``annotation`` (속성 기반 감성 분석 2022). What it holds is its *form*, which the recipe decides; every form becomes one
text (``Item.text``):

==========  ==========================================================================  ===========================
form        in the file                                                                 text
==========  ==========================================================================  ===========================
text        a string                                                                    the string
texts       a string or, of a reference, several                                        the first; ``Item.others``
choice      a string or an integer                                                      the string, or the digits
label       a string or an integer                                                      the same
labels      a list of them, one alone, or ``{"joy": "True", "anger": "False"}``         a JSON list, sorted
number      a number, or a string that is one                                           the decimal number
targets     ``[{"id": "…", "label": "…"}, …]``                                          a JSON object {id: label}
opinions    ``[["본품#품질", "negative"], …]``; of a reference with the words between     a JSON list of pairs
essay       scores of an essay (``essay_checks``)                                       their JSON
==========  ==========================================================================  ===========================
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final

from scoring.errors import quoted
from scoring.reading.answer_forms import AnswerText
from scoring.reading.item_checks import MAX_ITEM_ERRORS, MAX_REFERENCES, ItemCheck, shown_id
from scoring.reading.json_items import JsonItem, type_name
from scoring.reading.json_syntax import Path, Unreadable
from scoring.reading.texts import forbidden_character, normalize
from scoring.records import Item
from scoring.text.answers import UnreadableAnswer, is_true, is_truth_value, labels_of, number_of

MAX_PARTS: Final = 500  # targets or opinions of one item

_ANSWER: Final = ("output", "answer")
_TYPES: Final[dict[AnswerText, str]] = {
    "text": "string",
    "texts": "string_or_list",
    "choice": "string_or_integer",
    "label": "string_or_integer",
    "labels": "labels",
    "number": "number_or_string",
    "targets": "list",
    "opinions": "list",
    "essay": "string_or_object",
}


def is_question(value: Any, *, is_reference: bool) -> bool:
    """Whether an item has no answer, as in the files of questions that are handed out.

    An empty text is an answer of a participant, but none of an organiser.
    """
    if not isinstance(value, dict) or "answer" in value:
        return False
    output = value.get("annotation", value.get("output"))
    nothing: tuple[Any, ...] = (None, "", [], {}) if is_reference else (None, [], {})
    if is_reference and isinstance(output, dict) and "answer" in output:
        return output["answer"] in nothing
    return output in nothing


class AnswerCheck(ItemCheck):
    """Reads one item and notes its defects. A reference keeps its ``input``; an answer where it is asked to."""

    def __init__(
        self, item: JsonItem, *, locating: bool, form: AnswerText, is_reference: bool, keeps_input: bool = False
    ) -> None:
        super().__init__(item, locating=locating)
        self._form = form
        self._is_reference = is_reference
        self._keeps_input = keeps_input or is_reference
        self._place: Path = _ANSWER

    def is_unanswered(self) -> bool:
        """Whether the item has no answer, as in a question file."""
        return is_question(self._item.value, is_reference=self._is_reference)

    def answer(self, question_types: Collection[str]) -> Item | None:
        """The answer of the item, or ``None`` with the defects noted."""
        value = self._item.value
        if not isinstance(value, dict):
            self._note(self._not_object(), (), found=type_name(value))
            return None
        self.id = self._read_id(value)
        self._read_faults()
        is_typed = self._is_reference and bool(question_types)
        task = self._member(value, ("input",), "object") if is_typed else self._asked(value)
        question_type = self._read_question_type(task or {}, question_types, is_required=is_typed and task is not None)
        texts = self._read_texts(value)
        if self._is_reference:
            self._check_strings(task)
        if self.id is None or not texts:
            return None
        shown = task if task and self._keeps_input else {}
        return Item(
            self.id, texts[0], self._item.line, question_type, input=shown, others=texts[1:], raw=self.written_texts()
        )

    def _not_object(self) -> str:
        """The code of the error of an item that is no object."""
        return "item_not_object"

    def _asked(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """What the item asks."""
        return _task(value)

    def note_empty_alternative(self) -> None:
        """Note that a blank answer would match this reference."""
        self._note("empty_alternative", self._place)

    def match_targets(self, answer: Item, reference: Item) -> None:
        """Check that ``answer`` labels the targets of its ``reference``, and no others."""
        given, needed = (json.loads(item.text) for item in (answer, reference))
        for code, ids in (("missing_target", needed.keys() - given.keys()), ("unknown_target", given.keys() - needed)):
            if ids:
                names = ", ".join(map(shown_id, sorted(ids)[:3]))
                self._note(code, self._place, targets=names, count=len(ids))

    def _read_question_type(
        self, task: Mapping[str, Any], question_types: Collection[str], *, is_required: bool
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

    def _read_texts(self, value: dict[str, Any]) -> tuple[str, ...]:
        """The answer, or all texts of a reference that may have several; empty if a defect was noted."""
        if "answer" in value and not {"output", "annotation"} & value.keys():
            self._note("answer_outside_output", _ANSWER)
            return ()
        owner, self._place = self._place_in(value)
        raw = self._member(owner, self._place, _TYPES[self._form])
        if raw is None:
            return ()
        if isinstance(raw, list) and self._form == "texts":
            return self._read_references(raw)
        text = self._read_text(raw)
        return () if text is None else (text,)

    def _place_in(self, value: dict[str, Any]) -> tuple[dict[str, Any], Path]:
        """The object that holds the answer, and the answer's path in the item."""
        if self._form == "opinions" and "annotation" in value:
            return value, ("annotation",)
        output = value.get("output")
        if not isinstance(output, dict):
            return value, ("output",)
        is_label_object = (
            self._form == "labels" and "answer" not in output and any(map(is_truth_value, output.values()))
        )
        return (value, ("output",)) if is_label_object else (output, _ANSWER)

    def _read_references(self, raw: list[Any]) -> tuple[str, ...]:
        """The references of an item in their order, none empty, at most ``MAX_REFERENCES``."""
        if not raw:
            self._note("empty_reference", self._place)
        if len(raw) > MAX_REFERENCES:
            self._note("too_many_references", self._place, limit=MAX_REFERENCES)
        texts = self._read_strings(raw[:MAX_REFERENCES])
        return () if self._errors else tuple(texts)

    def _read_text(self, raw: Any) -> str | None:
        if self._form == "targets":
            return self._read_targets(raw)
        if self._form == "opinions":
            return self._read_opinions(raw)
        if isinstance(raw, dict):
            return self._read_label_object(raw)
        if isinstance(raw, list):
            self._read_strings(raw, takes_integers=True)
            return self._label_list(raw)
        if not isinstance(raw, str):
            return self._accepted(repr(raw))
        text = self._read_string(raw, self._place, is_reference=self._is_reference)
        return None if text is None else self._accepted(text)

    def _label_list(self, written: Collection[str | int]) -> str | None:
        """Labels as compact JSON, sorted, each once; ``None`` if one of them was refused."""
        if self._errors:
            return None
        labels = [str(label) for label in written]
        self._written = [_compact(sorted(set(labels)))]
        return self._accepted(_compact(sorted({unicodedata.normalize("NFC", label) for label in labels})))

    def _read_label_object(self, raw: dict[str, Any]) -> str | None:
        """The labels that are true in an object of truth values."""
        labels = []
        for label, truth in raw.items():
            path = (*self._place, label)
            if not is_truth_value(truth):
                self._note("bad_truth_value", path)
            elif is_true(truth):
                self._read_string(label, path, is_reference=True)
                labels.append(label)
            if len(self._errors) > MAX_ITEM_ERRORS:
                break
        return self._label_list(labels)

    def _read_strings(self, raw: list[Any], *, takes_integers: bool = False) -> list[str]:
        """The valid texts of a list, none of which may be empty; reading stops after ``MAX_ITEM_ERRORS`` defects."""
        texts = []
        for position, element in enumerate(raw):
            path = (*self._place, position)
            if takes_integers and type(element) is int:
                texts.append(str(element))
            elif isinstance(element, str):
                text = self._read_string(element, path, is_reference=True)
                texts += [] if text is None else [text]
            elif not isinstance(element, Unreadable):
                self._note("wrong_type", path, expected="string", found=type_name(element))
            if len(self._errors) > MAX_ITEM_ERRORS:
                break
        return texts

    def _read_targets(self, raw: list[Any]) -> str | None:
        """The labels of the targets, by the id of the target."""
        found: dict[str, str] = {}
        for path, target in self._parts(raw):
            if not isinstance(target, dict):
                self._note("wrong_type", path, expected="object", found=type_name(target))
                continue
            name, label = self._part(target, (*path, "id")), self._part(target, (*path, "label"), may_be_empty=True)
            if name in found:
                self._note("duplicate_target", (*path, "id"), target=shown_id(name))
            elif name is not None and label is not None:
                found[name] = label
        if self._errors:
            return None
        self._written = [_compact({str(target["id"]).strip(): str(target["label"]).strip() for target in raw})]
        return _compact(dict(sorted(found.items())))

    def _read_opinions(self, raw: list[Any]) -> str | None:
        """(category, polarity) of each opinion in the order of the file, which the rule depends on."""
        found: list[tuple[str | None, str | None]] = []
        for path, opinion in self._parts(raw):
            if not isinstance(opinion, list) or len(opinion) not in (2, 3):
                self._note("bad_opinion", path)
                continue
            ends = dict(enumerate(opinion))
            category, polarity = (self._part(ends, (*path, place)) for place in (0, len(opinion) - 1))
            found.append((category, polarity))
        if self._errors:
            return None
        self._written = [_compact([(str(opinion[0]).strip(), str(opinion[-1]).strip()) for opinion in raw])]
        return _compact(found)

    def _parts(self, raw: list[Any]) -> Iterator[tuple[Path, Any]]:
        """The parts of an answer that is a list, with their paths, until there are too many defects."""
        if self._is_reference and not raw and self._form == "targets":
            self._note("empty_reference", self._place)
        if len(raw) > MAX_PARTS:
            self._note("too_many_parts", self._place, limit=MAX_PARTS)
        for position, part in enumerate(raw[:MAX_PARTS]):
            if len(self._errors) > MAX_ITEM_ERRORS:
                return
            yield (*self._place, position), part

    def _part(self, owner: Mapping[Any, Any], path: Path, *, may_be_empty: bool = False) -> str | None:
        """A string or integer inside a part, as a text in NFC without surrounding white space."""
        raw = self._member(owner, path, "string_or_integer")
        if raw is None:
            return None
        text = self._read_string(str(raw), path, is_reference=self._is_reference or not may_be_empty)
        return None if text is None else text.strip()

    def _accepted(self, text: str) -> str | None:
        """``text`` if it fits the form of the answers."""
        try:
            if self._form == "number":
                number_of(text)
                return text.strip()
            if self._form == "labels" and text.strip():
                labels_of(text)
        except UnreadableAnswer as unreadable:
            self._note(unreadable.code, self._place, **unreadable.params)
            return None
        return text

    def _check_strings(self, task: Mapping[str, Any] | None) -> None:
        """Note strings of ``input``, which is kept with a reference, that cannot be stored or shown."""
        for path, text in _strings(task):
            self._accept(forbidden_character(text), ("input", *path))


def _task(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """What an item asks: ``input``, or the sentence of 속성 기반 감성 분석; a text or list under its own key."""
    key = "input" if "input" in value else "sentence_form"
    task = value.get(key)
    if isinstance(task, dict):
        return task
    return {} if task is None or isinstance(task, Unreadable) else {key: task}


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
