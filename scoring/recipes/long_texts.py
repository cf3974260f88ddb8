"""The pairs that metrics score, and what is read of those with very long texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from scoring.errors import quoted
from scoring.records import ScoreWarning
from scoring.text.cutting import READ_CHARS, READ_RUN_CHARS, beginning

NAMED_ITEMS: Final = 10
ID_CHARS: Final = 200

Lengths = tuple[int, int]  # characters read, characters in all


@dataclass(frozen=True, slots=True)
class Pairs:
    """What one metric scores: aligned sequences, one entry for each scored item. An item has one or more references."""

    ids: tuple[str, ...] = ()
    references: tuple[tuple[str, ...], ...] = ()
    candidates: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.ids)


def read_part(pairs: Pairs) -> Pairs:
    """``pairs`` with the beginnings of the texts that are too long; usually the same object."""
    texts = (*pairs.candidates, *(text for accepted in pairs.references for text in accepted))
    if all(len(text) <= READ_RUN_CHARS for text in texts):
        return pairs
    references = tuple(tuple(map(beginning, accepted)) for accepted in pairs.references)
    return replace(pairs, references=references, candidates=tuple(map(beginning, pairs.candidates)))


def cut_warnings(given: Mapping[str, Pairs], read: Mapping[str, Pairs]) -> list[ScoreWarning]:
    """Warnings that name the items of which some metric reads less than was ``given``: the answer, or a reference."""
    answers, references = dict[str, Lengths](), dict[str, Lengths]()
    for metric, part in read.items():
        if part is not given[metric]:
            answers |= _shortened(part.ids, [(text,) for text in given[metric].candidates])
            references |= _shortened(part.ids, given[metric].references)
    found = {"texts_cut": answers, "references_cut": references}
    return [ScoreWarning(code, _params(items)) for code, items in found.items() if items]


def _shortened(ids: Sequence[str], texts: Sequence[Sequence[str]]) -> dict[str, Lengths]:
    """By item, the lengths of the first of its texts of which only a part is read."""
    found: dict[str, Lengths] = {}
    for item, of_item in zip(ids, texts, strict=True):
        for text in of_item:
            part = len(beginning(text))
            if part < len(text):
                found.setdefault(item, (part, len(text)))
    return found


def _params(items: Mapping[str, Lengths]) -> dict[str, Any]:
    named = [f"{quoted(item, ID_CHARS)} ({part:,}/{whole:,})" for item, (part, whole) in items.items()]
    listed = ", ".join(named[:NAMED_ITEMS]) + (" …" if len(named) > NAMED_ITEMS else "")
    return {"count": len(items), "limit": READ_CHARS, "run_limit": READ_RUN_CHARS, "items": listed}
