"""Nearly equal answers across the teams of a phase: reads the stored files, compares them, caches the result.

The cache has hashes of the answers, by file, and the pairs, by the set of all compared files: the weight of an answer
depends on all the others. Texts of answers are never put into the cache. How the files are read: ``answers``.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from django.core.cache import cache

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.references import recipe_of
from malpan.core.errors import SystemFault
from malpan.submissions.integrity.answers import PRINT_CHARS, Answers, answers_of, read_answers, reference_of
from malpan.submissions.integrity.similarity import Pair, similar_pairs
from malpan.submissions.manage_selectors import best_submissions
from malpan.submissions.models import Submission
from scoring.errors import InvalidFile
from scoring.recipes import Recipe

logger = logging.getLogger(__name__)

LEAST: Final = 0.6
FEWEST_ITEMS: Final = 5
_KEPT_SECONDS: Final = 30 * 24 * 3600
_VERSION: Final = 2  # of the cached values; increase it when the rule changes


@dataclass(frozen=True, slots=True)
class AlikePair:
    """Two best submissions of different teams, the earlier first, and how alike they are."""

    one: Submission
    other: Submission
    pair: Pair


@dataclass(frozen=True, slots=True)
class Alike:
    """``unread`` of the ``teams`` files could not be read and are not compared."""

    pairs: Sequence[AlikePair]
    teams: int
    unread: int


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """The answers of two files to one item; ``None`` if a file does not have it. They are the same where they differ in
    white space alone, and neither is empty.
    """

    id: str
    one: str | None
    other: str | None
    is_same: bool


def alike_in(phase: Phase) -> Alike:
    """The pairs of best submissions of ``phase`` that are nearly equal, the most alike first."""
    recipe = recipe_of(phase.track)
    best = best_submissions(phase.pk)
    prints = _prints_of(best, recipe, reference_of(phase))
    by_key = {str(row.pk): row for row in best if row.file_sha256 in prints}
    found = _pairs({key: prints[row.file_sha256] for key, row in by_key.items()}, by_key)
    pairs = [_in_order(by_key[pair.one], by_key[pair.other], pair) for pair in found]
    return Alike(pairs, teams=len(best), unread=len(best) - len(by_key))


def answers_side_by_side(one: Submission, other: Submission) -> list[AnswerPair]:
    """The answers of two submissions of one track, item by item, in the order of the first file.

    Raises as ``answers_of``.
    """
    first, second = answers_of(one), answers_of(other)
    return [_side_by_side(item, first, second) for item in dict.fromkeys([*first, *second])]


def _side_by_side(item: str, one: Answers, other: Answers) -> AnswerPair:
    mark = one.print_of(item)
    return AnswerPair(item, one.get(item), other.get(item), is_same=bool(mark) and mark == other.print_of(item))


def readable_answers(one: Submission, other: Submission) -> list[AnswerPair]:
    """``answers_side_by_side``; none where a file cannot be read."""
    try:
        return answers_side_by_side(one, other)
    except InvalidFile:
        return []


def _in_order(one: Submission, other: Submission, pair: Pair) -> AlikePair:
    first, second = sorted((one, other), key=lambda row: (row.created_at, row.pk))
    return AlikePair(first, second, pair)


def _pairs(files: Mapping[str, Mapping[str, str]], rows: Mapping[str, Submission]) -> list[Pair]:
    """``similar_pairs`` of the files, cached under their names and hashes."""
    contents = "\n".join(f"{key} {rows[key].file_sha256}" for key in sorted(files))
    name = f"alike:{_VERSION}:{hashlib.sha256(contents.encode()).hexdigest()}"
    kept = cache.get(name)
    if kept is None:
        kept = [asdict(pair) for pair in similar_pairs(files, least=LEAST, fewest=FEWEST_ITEMS)]
        cache.set(name, kept, _KEPT_SECONDS)
    return [Pair(**pair) for pair in kept]


def _prints_of(
    rows: Sequence[Submission], recipe: Recipe, reference: ReferenceVersion | None
) -> dict[str, dict[str, str]]:
    """For each file the hash of each answer, by item. Files that cannot be read are skipped and logged. Raises
    ``ReadsBusy``: what was read by then is kept.
    """
    rules = f"prints:{_VERSION}:{recipe.answer_form}:{reference.file_sha256[:PRINT_CHARS] if reference else ''}"
    names = {row.file_sha256: f"{rules}:{row.file_sha256}" for row in rows}
    kept = cache.get_many(names.values())
    prints = {}
    for row in rows:
        sha256 = row.file_sha256
        if names[sha256] in kept:
            prints[sha256] = kept[names[sha256]]
            continue
        try:
            answers = read_answers(row, recipe, reference)
        except (SystemFault, InvalidFile) as error:
            logger.warning("file %s is left out of the comparison: %s", sha256, type(error).__name__)
            continue
        prints[sha256] = kept[names[sha256]] = {item: answers.print_of(item) for item in answers}
        cache.set(names[sha256], prints[sha256], _KEPT_SECONDS)
    return prints
