"""Reading predictions and references, with every defect located: the official AI 말평 format, and captions.

Captions have many formats, which ``caption_files`` reads. In the official format a file is a JSON array of ``{"id",
"input", "output"}``, a JSON object with such a list as its only array, or JSON lines; which of them is detected. What
``output`` may hold differs by year and task and is the recipe's to say (``answer_forms``). The work is split by what
is read: bytes (``decoding``), JSON (``json_items``), one item (``item_checks``, ``answer_checks``), one text
(``texts``), and here the items together and how they match the references.

Errors of a predictions file quote ids, which are public, and nothing else from the references.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from scoring.errors import MAX_ERRORS_KEPT, ErrorList, FileError, InvalidFile
from scoring.matching.synonyms import InvalidSynonyms, parse_synonyms
from scoring.reading.answer_checks import AnswerCheck
from scoring.reading.answer_forms import AnswerText, text_of
from scoring.reading.caption_files import read_captions
from scoring.reading.decoding import MAX_BYTES, decode
from scoring.reading.essay_checks import EssayCheck, aliases_of
from scoring.reading.item_checks import MAX_ID_CHARS, MAX_REFERENCES, shown_id
from scoring.reading.json_items import MAX_ITEMS, MAX_VALUES, JsonItem, scan
from scoring.reading.json_syntax import MAX_DEPTH
from scoring.reading.other_tasks import MIN_ITEMS, FileKind, kind_of, refuse_other_kind
from scoring.reading.texts import MAX_TEXT_CHARS
from scoring.records import Item, Items

if TYPE_CHECKING:
    from scoring.recipes import Recipe

__all__ = [
    "MAX_BYTES",
    "MAX_DEPTH",
    "MAX_ERRORS_KEPT",
    "MAX_ID_CHARS",
    "MAX_ITEMS",
    "MAX_REFERENCES",
    "MAX_TEXT_CHARS",
    "MAX_VALUES",
    "InvalidSynonyms",
    "parse_synonyms",
    "read_offered",
    "read_predictions",
    "read_references",
]

_MISSING: Final[Mapping[AnswerText, str]] = {  # where an empty text is no answer
    "number": "missing_number",
    "targets": "missing_labels",
    "opinions": "missing_opinions",
    "essay": "missing_essay",
}
_NO_ANSWERS: Final[Mapping[AnswerText, tuple[str, str]]] = {  # of predictions, of references
    "text": ("no_answers", "no_reference_answers"),
    "essay": ("no_trait_scores_at_all", "no_reference_scores"),
}


def read_predictions(
    data: bytes, recipe: Recipe, references: Items | None = None, *, keeps_input: bool = False
) -> Items:
    """The answers of a participant. With ``references`` every item must be answered exactly once; only a caption may be
    missing, which scores 0.

    An empty answer is allowed; a missing one is an error. ``input`` may be left out; the question type is that of the
    references, and is compared with the recipe only without them. ``keeps_input``: the items have what they ask, for
    people to read (not of captions and essays). Raises ``InvalidFile``.
    """
    if recipe.answer_form == "captions":
        return read_captions(data, references)
    known_ids = None if references is None else tuple(answer.id for answer in references.items)
    question_types = recipe.question_types if references is None else ()
    targets = references if recipe.answer_form == "targets" else None
    aliases = {} if references is None else references.aliases
    rules = _Rules(
        question_types,
        known_ids=known_ids,
        form=text_of(recipe),
        targets=targets,
        aliases=aliases,
        keeps_input=keeps_input,
    )
    return _read(data, rules)


def read_offered(data: bytes, recipe: Recipe, references: Items | None, *, keeps_input: bool = False) -> Items:
    """The answers of a file that need not fit ``references``; if it does, its items have the ids of theirs.

    Scored essays, whose references have another form than answers, are taken as they are. Raises ``InvalidFile``.
    """
    try:
        return read_predictions(data, recipe, references, keeps_input=keeps_input)
    except InvalidFile:
        try:
            return read_predictions(data, recipe, keeps_input=keeps_input)
        except InvalidFile:
            if recipe.answer_form != "essays":
                raise
            return read_references(data, recipe)


def read_references(data: bytes, recipe: Recipe, *, is_published: bool = False) -> Items:
    """The reference answers of a phase: none may be empty, and each has a question type if the recipe names some.

    ``is_published``: the file was accepted before, and submissions are scored with it. Defects that only later versions
    refuse are then accepted: an empty alternative (exact match does not count it, and a warning says so), ids that
    differ only in their ending (one item), and items that all name no label. Raises ``InvalidFile``, whose errors quote
    nothing of the text.
    """
    if recipe.answer_form == "captions":
        return read_captions(data, is_reference=True, joins_endings=is_published)
    rules = _Rules(
        recipe.question_types,
        is_reference=True,
        form=text_of(recipe, is_reference=True),
        has_empty_alternative=None if is_published else recipe.has_empty_alternative,
        may_name_nothing=is_published,
    )
    return _read(data, rules)


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules for a file. Empty ``question_types``: any. ``known_ids`` ``None``: no references are given. ``targets``
    are references whose targets the answers must label. ``may_name_nothing``: references that all name no label stay.
    ``aliases`` are further names of the known ids. ``keeps_input``: answers keep what they were asked.
    """

    question_types: tuple[str, ...] = ()
    is_reference: bool = False
    known_ids: tuple[str, ...] | None = None
    form: AnswerText = "text"
    has_empty_alternative: Callable[[Item], bool] | None = None
    targets: Items | None = None
    may_name_nothing: bool = False
    aliases: Mapping[str, str | None] = field(default_factory=dict)
    keeps_input: bool = False

    @property
    def file_kind(self) -> FileKind:
        """The kind of file that these rules read."""
        if self.form != "essay":
            return "answers_file"
        return "essay_references_file" if self.is_reference else "essays_file"

    def check_of(self, item: JsonItem, known_ids: Collection[str] | None, *, locating: bool) -> AnswerCheck:
        """The check of one item in the form of these rules."""
        if self.form != "essay":
            return AnswerCheck(
                item,
                form=self.form,
                locating=locating,
                is_reference=self.is_reference,
                keeps_input=self.keeps_input,
            )
        return EssayCheck(
            item, locating=locating, is_reference=self.is_reference, known=known_ids, aliases=self.aliases
        )


@dataclass(slots=True)
class _Collected:
    """What one pass over a file collects."""

    answers: list[Item] = field(default_factory=list)
    first_lines: dict[str, int] = field(default_factory=dict)  # id -> line of its first item
    items: int = 0
    unanswered: int = 0  # items without any answer, as in a question file
    found: ErrorList = field(default_factory=ErrorList)
    kinds: set[FileKind | None] = field(default_factory=set)  # of file that the items look like
    is_whole: bool = True  # every item could be read
    has_all_ids: bool = True  # and every id


def _read(data: bytes, rules: _Rules) -> Items:
    file_format, entries = scan(decode(data), quoting=not rules.is_reference)
    known_ids = None if rules.known_ids is None else frozenset(rules.known_ids)
    targets = {} if rules.targets is None else rules.targets.by_id()
    collected = _Collected()
    for entry in entries:
        if isinstance(entry, FileError):
            collected.found.note(entry)
            collected.is_whole = collected.has_all_ids = False
        else:
            _take(entry, rules, known_ids, targets, collected)
    if collected.is_whole:
        refuse_other_kind(collected.kinds, rules.file_kind, collected.items, collected.found)
        _refuse_questions(rules, collected)
        _refuse_strange_ids(rules, collected)
    collected.found.raise_any(before=_count_errors(rules, collected), after=_missing_ids(rules, collected))
    aliases = aliases_of(collected.answers) if rules.is_reference and rules.form == "essay" else {}
    return Items(tuple(collected.answers), file_format, hashlib.sha256(data).hexdigest(), aliases)


def _take(
    item: JsonItem,
    rules: _Rules,
    known_ids: Collection[str] | None,
    targets: Mapping[str, Item],
    collected: _Collected,
) -> None:
    """Check one item, alone and against the others, and record its answer and defects."""
    collected.items += 1
    collected.kinds.add(kind_of(item.value))
    check = rules.check_of(item, known_ids, locating=not collected.found.is_full)
    collected.unanswered += check.is_unanswered()
    answer = check.answer(rules.question_types)
    if check.id is None:
        collected.has_all_ids = False
    else:
        check.match_id(collected.first_lines, known_ids, is_reference=rules.is_reference)
        collected.first_lines.setdefault(check.id, item.line)
    if answer is not None and rules.has_empty_alternative and rules.has_empty_alternative(answer):
        check.note_empty_alternative()
    if answer is not None and answer.id in targets:
        check.match_targets(answer, targets[answer.id])
    collected.found.note(*check.in_file_order())
    if answer is not None:
        collected.answers.append(answer)


def _refuse_questions(rules: _Rules, collected: _Collected) -> None:
    """One sentence instead of an error for every item of a question file, unless its answers are misnamed.

    References that all name no label are none, too; as predictions they are answers.
    """
    errors = collected.found.errors
    if any(error.code == "misspelled_field" for error in errors) or not (
        errors or (rules.is_reference and not rules.may_name_nothing)
    ):
        return
    if 1 < collected.items == collected.unanswered:
        codes = _NO_ANSWERS["essay" if rules.form == "essay" else "text"]
        raise InvalidFile([FileError(codes[rules.is_reference])])


def _refuse_strange_ids(rules: _Rules, collected: _Collected) -> None:
    """One sentence instead of two errors for every item of a file that has none of the ids of the references."""
    known, given = rules.known_ids, collected.first_lines
    if known and MIN_ITEMS <= len(given) == collected.items and given.keys().isdisjoint(known):
        raise InvalidFile([FileError("no_known_id", {"example": shown_id(known[0])})])


def _count_errors(rules: _Rules, collected: _Collected) -> Iterator[FileError]:
    if not collected.is_whole:
        return  # how many items there are is not known
    if rules.known_ids is not None and collected.items != len(rules.known_ids):
        yield FileError("count_differs", {"found": collected.items, "expected": len(rules.known_ids)})
    if not collected.items:
        yield FileError("no_items")


def _missing_ids(rules: _Rules, collected: _Collected) -> Iterator[FileError]:
    if not collected.is_whole or not collected.first_lines:
        return  # which ids the rest of the file, or items all without one, would have is not known
    # An answer whose id could not be read may be the one for an id that no item has.
    code = _MISSING.get(rules.form, "missing_id") if collected.has_all_ids else "unmatched_id"
    for known_id in rules.known_ids or ():
        if known_id not in collected.first_lines:
            yield FileError(code, item_id=shown_id(known_id))
