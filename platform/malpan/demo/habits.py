"""How a demo team answers: which share of the items is wrong, and the style of its reasons or captions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

RAG_QA = "rag-qa"
CULTURE_QA = "culture-qa"
CAPTIONS = "scene-captions"


class Prose(StrEnum):
    """What a team writes if the task asks for sentences and its answer is correct."""

    PARAPHRASE = "paraphrase"  # as much as the reference says, in other words
    SHORT = "short"  # right but thin
    RAMBLING = "rambling"  # right, followed by empty phrases
    GENERIC = "generic"  # the same sentence under every question


class Packing(StrEnum):
    """How the file is written."""

    JSON = "json"
    JSON_NFD = "json-nfd"  # decomposed Hangul, as some macOS programs write it
    JSONL = "jsonl"
    TSV = "tsv"  # captions: an id, a tab, a caption
    IMAGES = "images"  # captions: an array of image_id and caption, the ids with the ending of a picture file
    BROKEN = "broken"  # one id twice, and one answer missing or one id unknown: to be rejected


@dataclass(frozen=True, slots=True)
class Habit:
    """How a team answers in one file. Shares are 0-1, taken exactly: of 60 items a share of 0.1 is 6 items.

    ``wrong``: items answered with the wrong form (with the flawed reason that goes with it). ``silent``: items answered
    without a reason. ``thin``: items whose reason is ``SHORT`` whatever ``prose`` is. ``guesses`` makes a team that
    reads nothing: always the first form of the question, the first choice, the same phrase. ``quote`` is put around the
    chosen form.
    """

    wrong: float = 0.0
    silent: float = 0.0
    thin: float = 0.0
    prose: Prose = Prose.PARAPHRASE
    guesses: bool = False
    quote: str = '"'


@dataclass(frozen=True, slots=True)
class CaptionHabit:
    """How a team describes scenes in one file. Shares are 0-1, taken exactly of all scenes.

    ``missing``: scenes left out of the file. The shares of ``wrong``, ``plain`` and ``detailed`` captions are taken one
    after another, so they add up to at most 1; the rest is described well. ``constant`` replaces the caption of every
    scene.
    """

    wrong: float = 0.0
    plain: float = 0.0
    detailed: float = 0.0
    missing: float = 0.0
    constant: str = ""


@dataclass(frozen=True, slots=True)
class Upload:
    """One file of a team: its track, how it was answered and packed, and when it was uploaded.

    ``after`` counts from the start of the phase.
    """

    track: str
    habit: Habit | CaptionHabit
    file_name: str
    after: timedelta
    memo: str = ""
    packing: Packing = Packing.JSON


@dataclass(frozen=True, slots=True)
class DemoTeam:
    """A team of the demo. ``key`` is ASCII and never changes: the errors in its answers depend on it."""

    key: str
    name: str
    people: tuple[str, ...]  # the leader first
    uploads: tuple[Upload, ...]
    is_baseline: bool = False
