"""How a demo team answers: which share of the items is wrong, and the style of its reasons, captions or rationales."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

RAG_QA = "rag-qa"
CULTURE_QA = "culture-qa"
CAPTIONS = "scene-captions"
ESSAYS = "essay-scoring"


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


class Grain(StrEnum):
    """How finely a team scores essays."""

    INTEGER = "integer"
    HALF = "half"  # 2.5 and 4.5 are rounded differently by Python's ``round``
    HUNDREDTH = "hundredth"


class Rationale(StrEnum):
    """What a team writes beside a score."""

    OBSERVATION = "observation"  # about this very essay, now and then with a sentence of it
    QUOTATION = "quotation"  # an opinion by the level of the score about a sentence of the essay
    REMARK = "remark"  # a few words by the level of the score
    SAME = "same"  # one sentence for every essay and trait
    ENGLISH = "english"


class Frame(StrEnum):
    """Where the three scores are in a row of the file."""

    TOP = "top"
    JUDGE = "judge"
    RAW = "raw"  # a text that the model wrote, under ``output``
    FENCED = "fenced"  # the same after a sentence, between code fences


@dataclass(frozen=True, slots=True)
class EssayHabit:
    """How a team scores essays in one file.

    Every trait of an essay is given the reference's score, ``bias`` and a deviation of standard deviation ``error``,
    both in points, kept between 1 and 5; or always ``constant``; or, where ``counts_letters``, one by the length of the
    essay alone. ``unreadable``: the share (0-1, exact) of raw outputs that are no JSON object with the three traits.
    ``id_name`` is what the row calls the id.
    """

    error: float = 0.0
    bias: float = 0.0
    constant: int = 0
    counts_letters: bool = False
    grain: Grain = Grain.INTEGER
    rationale: Rationale = Rationale.QUOTATION
    frame: Frame = Frame.TOP
    unreadable: float = 0.0
    id_name: str = "id"


@dataclass(frozen=True, slots=True)
class Upload:
    """One file of a team: its track, how it was answered and packed, and when it was uploaded.

    ``after`` counts from the start of the phase.
    """

    track: str
    habit: Habit | CaptionHabit | EssayHabit
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
