"""Nearly equal answers across the teams of a phase: reads the stored files and compares them, as a worker does it.

The cache has hashes of the answers, by file. Texts of answers are never put into the cache.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from django.core.cache import cache

from malpan.competitions.models import Phase
from malpan.competitions.references import load_references, recipe_of
from malpan.core.errors import SystemFault
from malpan.core.storage import read_private
from malpan.submissions.integrity.answers import PRINT_CHARS, Answers, answers_of, print_of
from malpan.submissions.integrity.similarity import Pair, similar_pairs
from malpan.submissions.models import Submission
from scoring import checking
from scoring.errors import InvalidFile
from scoring.recipes import Recipe
from scoring.records import Items

logger = logging.getLogger(__name__)

LEAST: Final = 0.6
FEWEST_ITEMS: Final = 5
_KEPT_SECONDS: Final = 30 * 24 * 3600
_FILES_AT_ONCE: Final = 100  # whose hashes are in memory
_VERSION: Final = 2  # of the cached values and stored pairs; increase it when the rule changes


@dataclass(frozen=True, slots=True)
class Compared:
    """The nearly equal pairs of files, the most alike first; ``unread`` could not be read and are not compared."""

    pairs: Sequence[Pair]
    unread: int


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers of two files to one item; ``None`` if a file does not have it. ``question``: what either file says
    that it asks.
    """

    id: str
    question: str
    one: str | None
    other: str | None
    is_same: bool


def basis_of(phase: Phase, best: Sequence[tuple[int, str]]) -> str:
    """A hash of all that ``compare_files`` compares."""
    references = phase.reference_versions.filter(is_current=True).values_list("file_sha256", flat=True).first()
    parts = (f"{_VERSION} {phase.track.recipe} {references}", *(f"{key} {sha256}" for key, sha256 in best))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def compare_files(phase: Phase, best: Sequence[tuple[int, str]]) -> Compared:
    """Compare the files of ``best`` submissions of ``phase``, given by key and hash."""
    recipe, references = recipe_of(phase.track), _references_of(phase)
    unread = set[int]()

    def readable() -> Iterator[tuple[str, Mapping[str, str]]]:
        for start in range(0, len(best), _FILES_AT_ONCE):
            part = best[start : start + _FILES_AT_ONCE]
            prints = _prints_of([sha256 for _key, sha256 in part], recipe, references)
            unread.update(key for key, sha256 in part if sha256 not in prints)
            yield from ((str(key), prints[sha256]) for key, sha256 in part if sha256 in prints)

    pairs = similar_pairs(readable(), least=LEAST, fewest=FEWEST_ITEMS)
    return Compared(pairs, len(unread))


def answers_side_by_side(one: Submission, other: Submission) -> list[AnswerPair]:
    """The answers of two submissions of one track, item by item, in the order of the first file.

    Raises as ``answers_of``.
    """
    first, second = answers_of(one), answers_of(other)
    return [_side_by_side(item, first, second) for item in dict.fromkeys([*first, *second])]


def _side_by_side(item: str, one: Answers, other: Answers) -> AnswerPair:
    mark = one.print_of(item)
    question = one.question_of(item) or other.question_of(item)
    is_same = bool(mark) and mark == other.print_of(item)
    return AnswerPair(item, question, one.get(item), other.get(item), is_same)


def readable_answers(one: Submission, other: Submission) -> list[AnswerPair]:
    """``answers_side_by_side``; none where a file cannot be read."""
    try:
        return answers_side_by_side(one, other)
    except InvalidFile:
        return []


def _references_of(phase: Phase) -> Items | None:
    """The current references of ``phase``: two files may name one item by its id and by its file."""
    version = phase.reference_versions.filter(is_current=True).first()
    return load_references(version, phase.track.recipe) if version else None


def _prints_of(hashes: Sequence[str], recipe: Recipe, references: Items | None) -> dict[str, dict[str, str]]:
    """For each file the hash of each answer, by item. Files that cannot be read are skipped and logged."""
    rules = f"prints:{_VERSION}:{recipe.answer_form}:{references.sha256[:PRINT_CHARS] if references else ''}"
    names = {sha256: f"{rules}:{sha256}" for sha256 in hashes}
    kept = cache.get_many(names.values())
    prints, fresh = {}, {}
    for sha256, name in names.items():
        if name in kept:
            prints[sha256] = kept[name]
            continue
        try:
            texts = checking.answers(read_private(sha256), recipe, references)
        except (SystemFault, InvalidFile) as error:
            logger.warning("file %s is left out of the comparison: %s", sha256, type(error).__name__)
            continue
        prints[sha256] = fresh[name] = {item: print_of(text) for item, text, _question in texts}
    if fresh:
        cache.set_many(fresh, _KEPT_SECONDS)
    return prints
