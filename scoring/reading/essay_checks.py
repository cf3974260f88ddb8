"""The checks of one item of essay scoring (글쓰기 채점 능력 평가 2026): a scored essay, or a prediction of its scores.

A reference is ``{id, document_id, prompt_num, prompt, essay, score: {content, organization, expression, average}}``.
Its text is the JSON of all that scoring reads: the four scores, ``prompt_num`` and ``essay``; ``input`` has what was
asked. A prediction has the traits, each ``{score, rationale}``, at the top, under ``judge`` or under ``output``, and
its text is their JSON; or ``output`` is the raw text of a model, and its text is the JSON of that string.

A prediction names its essay as ``id``, ``document_id`` or ``essay_id``, the first of them that it has. With references
each may be their ``id`` or their ``document_id``; where one name is both, of two essays, ``id`` and ``document_id``
mean what they say and ``essay_id`` is refused.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from scoring.reading.answer_checks import AnswerCheck
from scoring.reading.item_checks import shown_id, similar_key
from scoring.reading.json_items import JsonItem, type_name
from scoring.reading.json_syntax import Path, Unreadable
from scoring.records import Item
from scoring.text.essays import HIGHEST, LOWEST, TRAITS, compact

ID_NAMES: Final = ("id", "document_id", "essay_id")
SCORES: Final = (*TRAITS, "average")

_PLACES: Final = ("judge", "output")
_NO_ALIASES: Final[Mapping[str, str | None]] = {}


def aliases_of(references: Iterable[Item]) -> dict[str, str | None]:
    """The ids of the references by their ``document_id``; ``None`` for one that several have."""
    found: dict[str, str | None] = {}
    for item in references:
        name = item.input.get("document_id")
        if name is not None:
            found[name] = item.id if found.get(name, item.id) == item.id else None
    return found


class EssayCheck(AnswerCheck):
    """Reads one item and notes its defects. ``known`` are the ids of the references, ``aliases`` their document ids."""

    def __init__(
        self,
        item: JsonItem,
        *,
        locating: bool,
        is_reference: bool,
        known: Collection[str] | None = None,
        aliases: Mapping[str, str | None] = _NO_ALIASES,
    ) -> None:
        super().__init__(item, locating=locating, form="essay", is_reference=is_reference)
        self._known = known
        self._aliases = aliases
        self._is_ambiguous = False
        self._task: dict[str, str] = {}  # what a reference was asked

    def is_unanswered(self) -> bool:
        value = self._item.value
        if not isinstance(value, dict):
            return False
        return value.get("score") is None if self._is_reference else not _places_in(value)

    def _not_object(self) -> str:
        return "reference_essay_not_object" if self._is_reference else "essay_not_object"

    # --- which essay --------------------------------------------------------------------------------------------------
    def _read_id(self, value: dict[str, Any]) -> str | None:
        names = [name for name in ID_NAMES if name in value]
        self._id_path = (*names[:1],) or ("id",)
        found = super()._read_id(value)
        others = {self._meant(name, str(value[name])) for name in names[1:] if type(value[name]) in (str, int)}
        if self._known is not None and found in self._known and (others - {found}) & {*self._known}:
            self._note("ids_disagree", self._id_path, names=", ".join(names))
        return found

    def _take_id(self, text: str) -> str | None:
        taken = super()._take_id(text)
        if taken is not None and self._is_ambiguous:
            self._note("ambiguous_id", self._id_path, name=shown_id(text))
            return None
        return taken

    def _meant_id(self, text: str) -> str:
        name = str(self._id_path[0])
        self._is_ambiguous = self._means_several(name, text)
        return self._meant(name, text)

    def _meant(self, name: str, text: str) -> str:
        """The id of the references that ``text`` under ``name`` means; itself if it means none, or several."""
        if self._known is None or (text in self._known and name != "document_id"):
            return text
        return self._aliases.get(text) or text

    def _means_several(self, name: str, text: str) -> bool:
        if self._known is None or text not in self._aliases or (name == "id" and text in self._known):
            return False
        essay = self._aliases[text]
        return essay is None or (name == "essay_id" and text in self._known and essay != text)

    # --- a reference --------------------------------------------------------------------------------------------------
    def _asked(self, value: Mapping[str, Any]) -> Mapping[str, Any]:
        """What a reference was asked: those of its texts that are there, the essay at least."""
        if not self._is_reference:
            return {}
        kinds = {"document_id": "string_or_integer", "prompt_num": "string_or_integer", "prompt": "string"}
        given = {name: self._member(value, (name,), kind) for name, kind in kinds.items() if name in value}
        given["essay"] = self._member(value, ("essay",), "string")
        texts = {
            name: self._read_string(str(raw), (name,), is_reference=name == "essay")
            for name, raw in given.items()
            if raw is not None
        }
        self._task = {name: text for name, text in texts.items() if text is not None}
        return self._task

    def _check_strings(self, task: Mapping[str, Any] | None) -> None:
        """Does nothing: ``_asked`` has checked them."""

    def _read_texts(self, value: dict[str, Any]) -> tuple[str, ...]:
        if not self._is_reference:
            return self._read_prediction(value)
        owner = self._member(value, ("score",), "reference_score")
        if owner is None:
            return ()
        scores = {name: self._read_score(owner, ("score", name)) for name in SCORES}
        if self._errors:
            return ()
        written = {name: str(value[name]) for name in ("prompt_num", "essay") if name in value}
        self._written = [compact(scores | written)]
        return (compact(scores | {name: self._task[name] for name in written}),)

    def _read_score(self, owner: Mapping[str, Any], path: Path) -> float | None:
        raw = self._member(owner, path, "number")
        if raw is None:
            return None
        if not LOWEST <= raw <= HIGHEST:
            self._note("score_out_of_range", path, low=LOWEST, high=HIGHEST)
            return None
        return float(raw)

    # --- a prediction -------------------------------------------------------------------------------------------------
    def _read_prediction(self, value: dict[str, Any]) -> tuple[str, ...]:
        places = _places_in(value)
        if not places:
            self._note_nothing(value)
            return ()
        if len(places) > 1:
            self._note("several_answers", places[0], places=", ".join(map(_shown, places)))
            return ()
        self._place = places[0]
        if not self._place:
            return self._read_traits(value)
        return self._read_at(value[str(self._place[0])])

    def _read_at(self, given: Any) -> tuple[str, ...]:
        """The answer ``given`` at ``self._place``: traits, or the raw text of a model."""
        if isinstance(given, Unreadable):  # noted among the faults
            return ()
        if self._place == ("output",) and isinstance(given, dict) and "answer" in given:
            self._place, given = ("output", "answer"), given["answer"]
        if isinstance(given, dict):
            return self._read_traits(given)
        if isinstance(given, str) and self._place[0] == "output":
            text = self._read_string(given, self._place, is_reference=False)
            self._written = [compact(given)]
            return () if text is None else (compact(text),)
        expected = "string_or_object" if self._place[0] == "output" else "object"
        self._note("wrong_type", self._place, expected=expected, found=type_name(given))
        return ()

    def _read_traits(self, owner: Mapping[str, Any]) -> tuple[str, ...]:
        texts: dict[str, dict[str, Any]] = {}
        written: dict[str, dict[str, Any]] = {}
        for trait in TRAITS:
            path = (*self._place, trait)
            part = self._member(owner, path, "trait")
            if part is None:
                continue
            score = self._read_score(part, (*path, "score"))
            raw = self._member(part, (*path, "rationale"), "string") if "rationale" in part else ""
            text = None if raw is None else self._read_string(raw, (*path, "rationale"), is_reference=False)
            texts[trait] = {"score": score, "rationale": text}
            written[trait] = {"score": score, "rationale": raw}
        self._written = [compact(written)]
        return () if self._errors else (compact(texts),)

    def _note_nothing(self, value: dict[str, Any]) -> None:
        """Note that there is no answer, or one under a key that is spelt differently."""
        found = similar_key(value, (*TRAITS, *_PLACES)) if self._locating else None
        if found is None:
            self._note("no_trait_scores", ())
        else:
            self._note("misspelled_field", (found[0],), key=shown_id(found[0]), needed=found[1])


def _places_in(value: Mapping[str, Any]) -> list[Path]:
    """Where an item has an answer; ``()`` is the item itself."""
    top: list[Path] = [()] if any(trait in value for trait in TRAITS) else []
    return [*top, *((name,) for name in _PLACES if name in value)]


def _shown(place: Path) -> str:
    return str(place[0]) if place else "/".join(TRAITS)
