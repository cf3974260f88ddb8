"""The items of the demo, read from the JSON files beside this module.

``contest/items-*.json`` hold questions on the norms of Korean spelling, ``culture/items-*.json`` questions on Korean
culture. All were written for Malpan. Each has the reference answer and answers as plausible teams would give them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
CHOICE: Final = "선다형"
SHORT_ANSWER: Final = "단답형"
DESCRIPTIVE: Final = "서술형"

_FIRST_SYLLABLE: Final = "가"
_LAST_SYLLABLE: Final = "힣"
_FINALS: Final = 28  # a Hangul syllable's code, counted from 가, is a multiple of 28 where it has no final consonant


@dataclass(frozen=True, slots=True)
class ContestItem:
    """One question on spelling. ``right`` and ``wrong`` are forms without quotation marks.

    An item with an empty ``reason`` is bare: its answer is the form alone, and ``alternatives`` are as correct as
    ``right``. ``paraphrase`` and ``short`` are right reasons by other writers; ``flawed`` defends the wrong form.
    """

    id: str
    question_type: str
    question: str
    right: str
    wrong: str
    alternatives: tuple[str, ...]
    reason: str
    paraphrase: str
    short: str
    flawed: str

    @property
    def is_bare(self) -> bool:
        return not self.reason

    @property
    def input(self) -> dict[str, str]:
        """The question as in the official file."""
        return {"question_type": self.question_type, "question": self.question}

    @property
    def reference(self) -> str:
        """The reference answer as in the official file."""
        if self.is_bare:
            return "#".join((self.right, *self.alternatives))
        return f"{verdict(self.right)} {self.reason}"


@dataclass(frozen=True, slots=True)
class CultureItem:
    """One question on culture. ``answer`` is the reference: a digit, a term with ``#`` alternatives, or sentences.

    Descriptive items alone have a ``paraphrase`` by another writer and a ``partial`` answer, right but thin.
    """

    id: str
    category: str
    domain: str
    question_type: str
    topic_keyword: str
    question: str
    answer: str
    wrong: str
    paraphrase: str = ""
    partial: str = ""

    @property
    def input(self) -> dict[str, str]:
        """The question as in the official file."""
        names = ("category", "domain", "question_type", "topic_keyword", "question")
        return {name: getattr(self, name) for name in names}

    @property
    def reference(self) -> str:
        """The reference answer as in the official file."""
        return self.answer


Item = ContestItem | CultureItem


@cache
def contest_items() -> tuple[ContestItem, ...]:
    """All contest items, by id."""
    return tuple(ContestItem(**{**row, "alternatives": tuple(row["alternatives"])}) for row in _rows("contest"))


@cache
def culture_items() -> tuple[CultureItem, ...]:
    """All culture items, by id."""
    return tuple(CultureItem(**row) for row in _rows("culture"))


def first_culture_items(of_each_type: int) -> tuple[CultureItem, ...]:
    """The first ``of_each_type`` culture items of every question type."""
    chosen: list[CultureItem] = []
    for kind in (CHOICE, SHORT_ANSWER, DESCRIPTIVE):
        chosen += [item for item in culture_items() if item.question_type == kind][:of_each_type]
    return tuple(chosen)


def verdict(form: str, quote: str = '"') -> str:
    """``form`` in quotation marks, with particle and verdict: ``"…읽음."이 옳다.``"""
    return f"{quote}{form}{quote}{_subject_particle(form)} 옳다."


def _subject_particle(form: str) -> str:
    """이 after a final consonant, else 가, by the last Hangul syllable of ``form``.

    Raises ``ValueError`` if there is none: how to read it would be a guess.
    """
    for character in reversed(form):
        if _FIRST_SYLLABLE <= character <= _LAST_SYLLABLE:
            return "이" if (ord(character) - ord(_FIRST_SYLLABLE)) % _FINALS else "가"
    raise ValueError(form)


def _rows(folder: str) -> Sequence[Mapping[str, Any]]:
    rows = [row for path in sorted((HERE / folder).glob("items-*.json")) for row in _load(path)]
    return sorted(rows, key=lambda row: row["id"])


def _load(path: Path) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return rows
