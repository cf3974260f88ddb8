"""The answers of stored files, for pages: an accepted file may be padded with what takes seconds to read, so a page
that is loaded again, turned or compared does not read it again.

* A large file is read as it is checked (``checking``): in a process of its own, one of a team at a time.
* Answers of the last hour are kept in the memory of this process, within ``KEPT_BYTES``, and so is that a file cannot
  be read. No answer is written anywhere: neither to the shared cache nor to a disk.
* A file is found by its sha256 alone: who may read it is asked by the callers, before, at every request.
"""

from __future__ import annotations

import hashlib
import logging
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from django.conf import settings

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.competitions.references import load_references, recipe_of
from malpan.core.storage import read_private
from malpan.submissions.checking import INLINE_BYTES, apart, is_small
from malpan.submissions.errors import CheckCrashed, ChecksBusy, ReadsBusy, TeamCheckRunning
from malpan.submissions.integrity.similarity import normalised
from malpan.submissions.models import Submission
from scoring import checking
from scoring.errors import InvalidFile
from scoring.lru import LruCache
from scoring.recipes import Recipe

logger = logging.getLogger(__name__)

KEPT_BYTES: Final = 64 * 1024**2  # a file of 20 MB and 100,000 items takes 50 MB
KEPT_SECONDS: Final = 3600
PRINT_CHARS: Final = 16
_SLOT: Final = 100  # bytes of an entry of a mapping


class Answers(Mapping[str, str]):
    """The answers of a file by item, in its order, with what the file says that it asks. In UTF-8 they take no more
    room than the file did.
    """

    def __init__(self, answers: Iterable[tuple[str, str, str]]) -> None:
        self._kept = {
            item: (text.encode(errors="surrogatepass"), print_of(text), asked.encode(errors="replace"))
            for item, text, asked in answers
        }
        self.size = sum(_SLOT + sum(map(sys.getsizeof, (item, kept, *kept))) for item, kept in self._kept.items())

    def __getitem__(self, item: str) -> str:
        return self._kept[item][0].decode(errors="surrogatepass")

    def __iter__(self) -> Iterator[str]:
        return iter(self._kept)

    def __len__(self) -> int:
        return len(self._kept)

    def __contains__(self, item: object) -> bool:
        return item in self._kept

    def print_of(self, item: str) -> str:
        """The hash of an answer without its white space; empty for an empty answer or none."""
        return self._kept[item][1] if item in self._kept else ""

    def question_of(self, item: str) -> str:
        """What the file says that the item asks; empty where it does not."""
        return self._kept[item][2].decode() if item in self._kept else ""


_UNREADABLE: Final = Answers(())
_kept: LruCache[tuple[str, ...], Answers] = LruCache(KEPT_BYTES, lambda answers: answers.size)
_kept_since = 0.0


def answers_of(submission: Submission) -> Answers:
    """The answers of ``submission``. Raises the faults of ``core.storage.open_private``, ``InvalidFile``, ``ReadsBusy``
    and ``CheckCrashed``.
    """
    phase = submission.phase
    recipe, reference = recipe_of(phase.track), reference_of(phase)
    key = (submission.file_sha256, recipe.id, reference.file_sha256 if reference else "")
    _forget_the_old()
    found = _kept.get(key)
    if found is None:
        try:
            found = _read_now(submission, recipe, reference)
        except InvalidFile:
            _kept.put(key, _UNREADABLE)
            raise
        _kept.put(key, found)
    if found is _UNREADABLE:
        raise InvalidFile([])
    return found


def _read_now(submission: Submission, recipe: Recipe, reference: ReferenceVersion | None) -> Answers:
    """Of a team one large file is in hand at a time. Raises as ``answers_of``."""
    sha256 = submission.file_sha256
    if submission.file_size <= INLINE_BYTES:
        data = read_private(sha256)
        if is_small(data, reference.item_count if reference else 0):
            references = load_references(reference, recipe.id) if reference else None
            return Answers(checking.answers(data, recipe, references))
    try:
        with apart(submission.team):
            gold = read_private(reference.file_sha256) if reference else None
            answers = checking.answers_apart(read_private(sha256), recipe.id, gold, seconds=settings.CHECK_SECONDS)
    except (ChecksBusy, TeamCheckRunning) as error:
        raise ReadsBusy from error
    except checking.CheckFailed as error:
        logger.exception("reading the answers of file %s failed", sha256)
        raise CheckCrashed from error
    return Answers(answers)


def reference_of(phase: Phase) -> ReferenceVersion | None:
    """The current references of ``phase``: two files may name one item by its id and by its file."""
    return phase.reference_versions.filter(is_current=True).first()


def forget() -> None:
    """Drop all that is kept."""
    global _kept_since
    _kept.clear()
    _kept_since = time.monotonic()


def _forget_the_old() -> None:
    if time.monotonic() - _kept_since > KEPT_SECONDS:
        forget()


def print_of(text: str) -> str:
    """The hash of an answer without its white space; empty for an empty answer."""
    shown = normalised(text)
    return hashlib.sha256(shown.encode(errors="surrogatepass")).hexdigest()[:PRINT_CHARS] if shown else ""
