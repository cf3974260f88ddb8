"""Nearly equal answers across the teams of a phase: reads the stored files, compares them, caches the result.

The cache has hashes of the answers, by file, and the pairs, by the set of all compared files: the weight of an answer
depends on all the others. Texts of answers are never put into the cache.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Final

from django.core.cache import cache

from malpan.competitions.models import Phase
from malpan.competitions.references import load_references, recipe_of
from malpan.core.errors import SystemFault
from malpan.core.storage import read_private
from malpan.submissions.integrity.similarity import Pair, normalised, similar_pairs
from malpan.submissions.manage_selectors import best_submissions
from malpan.submissions.models import Submission
from scoring.errors import InvalidFile
from scoring.reading import read_offered
from scoring.recipes import Recipe
from scoring.records import Items

logger = logging.getLogger(__name__)

LEAST: Final = 0.6
FEWEST_ITEMS: Final = 5
_KEPT_SECONDS: Final = 30 * 24 * 3600
_PRINT_CHARS: Final = 16
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
    """The answers of two files to one item; ``None`` if a file does not have it."""

    id: str
    one: str | None
    other: str | None

    @property
    def is_same(self) -> bool:
        return bool(self.one and self.other) and normalised(self.one or "") == normalised(self.other or "")


def alike_in(phase: Phase) -> Alike:
    """The pairs of best submissions of ``phase`` that are nearly equal, the most alike first."""
    recipe = recipe_of(phase.track)
    best = best_submissions(phase.pk)
    prints = _prints_of([row.file_sha256 for row in best], recipe, _references_of(phase))
    by_key = {str(row.pk): row for row in best if row.file_sha256 in prints}
    found = _pairs({key: prints[row.file_sha256] for key, row in by_key.items()}, by_key)
    pairs = [_in_order(by_key[pair.one], by_key[pair.other], pair) for pair in found]
    return Alike(pairs, teams=len(best), unread=len(best) - len(by_key))


def answers_side_by_side(one: Submission, other: Submission) -> list[AnswerPair]:
    """The answers of two submissions of one track, item by item, in the order of the first file.

    Raises the faults of ``core.storage.open_private`` and ``InvalidFile``.
    """
    texts = [answers_of(row) for row in (one, other)]
    return [AnswerPair(item, texts[0].get(item), texts[1].get(item)) for item in dict.fromkeys([*texts[0], *texts[1]])]


def answers_of(submission: Submission) -> dict[str, str]:
    """The answers of a submission by item, in the order of its file. Raises as ``answers_side_by_side``."""
    phase = submission.phase
    return _texts(submission.file_sha256, recipe_of(phase.track), _references_of(phase))


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


def _references_of(phase: Phase) -> Items | None:
    """The current references of ``phase``: two files may name one item by its id and by its file."""
    version = phase.reference_versions.filter(is_current=True).first()
    return load_references(version, phase.track.recipe) if version else None


def _prints_of(hashes: Sequence[str], recipe: Recipe, references: Items | None) -> dict[str, dict[str, str]]:
    """For each file the hash of each answer, by item. Files that cannot be read are skipped and logged."""
    rules = f"prints:{_VERSION}:{recipe.answer_form}:{references.sha256[:_PRINT_CHARS] if references else ''}"
    names = {sha256: f"{rules}:{sha256}" for sha256 in hashes}
    kept = cache.get_many(names.values())
    prints, fresh = {}, {}
    for sha256, name in names.items():
        if name in kept:
            prints[sha256] = kept[name]
            continue
        try:
            texts = _texts(sha256, recipe, references)
        except (SystemFault, InvalidFile) as error:
            logger.warning("file %s is left out of the comparison: %s", sha256, type(error).__name__)
            continue
        prints[sha256] = fresh[name] = {item: _print(text) for item, text in texts.items()}
    if fresh:
        cache.set_many(fresh, _KEPT_SECONDS)
    return prints


def _print(text: str) -> str:
    """The hash of an answer; empty for an empty answer."""
    shown = normalised(text)
    return hashlib.sha256(shown.encode()).hexdigest()[:_PRINT_CHARS] if shown else ""


def _texts(sha256: str, recipe: Recipe, references: Items | None) -> dict[str, str]:
    """The answers of a stored file by item."""
    return {answer.id: answer.text for answer in read_offered(read_private(sha256), recipe, references).items}
