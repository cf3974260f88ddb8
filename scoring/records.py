"""The values that modules of the instrument exchange: plain, immutable, without any framework."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a predictions or references file. ``text`` is NFC; ``line`` is 1-based in the file.

    ``others`` are further reference texts of the item, if a recipe allows several; ``required`` are words that a
    reference of captions demands. ``raw`` are all its texts as they are in the file, kept only if NFC changed one.
    """

    id: str
    text: str
    line: int
    question_type: str | None = None
    input: Mapping[str, Any] = field(default_factory=dict)
    others: tuple[str, ...] = ()
    required: tuple[str, ...] = ()
    raw: tuple[str, ...] = ()

    @property
    def texts(self) -> tuple[str, ...]:
        """Every text of the item, at least one."""
        return (self.text, *self.others)

    def as_written(self) -> Item:
        """The item with its texts as they are in the file."""
        return replace(self, text=self.raw[0], others=self.raw[1:], raw=()) if self.raw else self


@dataclass(frozen=True, slots=True)
class Items:
    """A file that passed validation.

    ``format`` is a key of ``scoring.reading.file_formats``; ``sha256`` is of the bytes as uploaded; ``aliases`` are
    further names of the items of a references file (the file of a picture), with ``None`` for a name that several items
    share.
    """

    items: tuple[Item, ...]
    format: str
    sha256: str
    aliases: Mapping[str, str | None] = field(default_factory=dict)

    @property
    def normalized_ids(self) -> tuple[str, ...]:
        """The items with a text that NFC changed."""
        return tuple(item.id for item in self.items if item.raw)

    def by_id(self) -> dict[str, Item]:
        return {answer.id: answer for answer in self.items}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a scoring has come: ``done`` of ``total`` units of ``stage`` (a metric name)."""

    stage: str
    done: int
    total: int


ProgressCallback = Callable[[Progress], None]


@dataclass(frozen=True, slots=True)
class ScoreWarning:
    """Something the reader of a score should know. ``code`` is the key of the text; ``params`` fill it."""

    code: str
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ItemScores:
    """What one item scored: a value by metric.

    ``statistics`` holds, by metric, the row of numbers of a corpus metric without item values (BLEU): enough to
    aggregate or resample without scoring again.
    """

    id: str
    scores: Mapping[str, float]
    statistics: Mapping[str, tuple[float, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """The result of scoring one predictions file: the content of ``OUT.json``.

    All scores are 0-1. ``metric_signatures`` maps a metric name to the hash of what can change its numbers.
    """

    recipe: str
    final_score: float
    scores: Mapping[str, float]
    coverage: Mapping[str, float | int]
    warnings: tuple[ScoreWarning, ...]
    items: tuple[ItemScores, ...]
    signature: Mapping[str, Any]
    signature_hash: str
    metric_signatures: Mapping[str, str]
