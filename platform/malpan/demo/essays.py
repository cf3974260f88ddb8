"""The essays of the essay scoring demo, read from ``essays/prompt-*.json``, and the files that the organiser publishes.

All were written for Malpan: 42 essays to score, whose reference scores stay hidden, and six with their scores for
participants to look at. Content is scored in steps of 0.1, organization and expression of 0.25, each from 1 to 5; the
average is the mean of the three cut off after two decimals, so that it may be up to 0.0067 below that mean.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

FOLDER: Final = Path(__file__).parent / "essays"
TRAITS: Final = ("content", "organization", "expression")
SAMPLE_SCORE: Final = 3
SAMPLE_RATIONALE: Final = "여기에 그렇게 채점한 까닭을 쓰세요."
_SENTENCE_END: Final = re.compile(r"(?<=[.?!]) ")


@dataclass(frozen=True, slots=True)
class Essay:
    """One essay with its reference scores: the three traits and ``average``, as a file of the contest has them.

    ``notes`` is what a careful reader says of each trait, ``gist_en`` a few English words on the whole; both are empty
    for the published essays, which no team scores.
    """

    id: str
    document_id: str
    prompt_num: str
    prompt: str
    text: str
    score: Mapping[str, float]
    notes: Mapping[str, str]
    gist_en: str

    @property
    def sentences(self) -> tuple[str, ...]:
        """The sentences of the essay, each with its full stop."""
        return tuple(_SENTENCE_END.split(self.text))

    @property
    def row(self) -> dict[str, Any]:
        """The essay as participants get it: without a score."""
        return {
            "id": self.id,
            "document_id": self.document_id,
            "prompt_num": self.prompt_num,
            "prompt": self.prompt,
            "essay": self.text,
        }


@cache
def essays() -> tuple[Essay, ...]:
    """The essays to score, by id."""
    return _read("test")


@cache
def published_essays() -> tuple[Essay, ...]:
    """The essays that are published with their scores, by id."""
    return _read("train")


def scored_file(items: Sequence[Essay]) -> bytes:
    """Essays with their scores as JSON lines: of ``essays()`` only for ``publish_reference_version``."""
    return _lines({**essay.row, "score": dict(essay.score)} for essay in items)


def essays_file(items: Sequence[Essay]) -> bytes:
    """The essays alone as JSON lines, without any score."""
    return _lines(essay.row for essay in items)


def sample_file(items: Sequence[Essay]) -> bytes:
    """A valid submission as JSON lines, with the same score and rationale for every trait of every essay."""
    trait = {"score": SAMPLE_SCORE, "rationale": SAMPLE_RATIONALE}
    return _lines({"id": essay.id, **dict.fromkeys(TRAITS, trait)} for essay in items)


def _read(kind: str) -> tuple[Essay, ...]:
    parts = [json.loads(path.read_text("utf-8")) for path in sorted(FOLDER.glob("prompt-*.json"))]
    found = [_essay(part, row) for part in parts for row in part[kind]]
    return tuple(sorted(found, key=lambda essay: essay.id))


def _essay(part: Mapping[str, Any], row: Mapping[str, Any]) -> Essay:
    return Essay(
        id=row["id"],
        document_id=row["document_id"],
        prompt_num=part["prompt_num"],
        prompt=part["prompt"],
        text=row["essay"],
        score=row["score"],
        notes=row.get("notes", {}),
        gist_en=row.get("gist_en", ""),
    )


def _lines(rows: Iterable[Mapping[str, Any]]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()
