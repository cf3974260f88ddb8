"""How similar the answers of different files are. Pure: files are mappings from an item's id to a text.

Two answers are the same if they are equal except for white space. An answer that most files give is no evidence, so a
common answer counts by its rarity: with ``k`` of ``n`` files giving it, ``-log(k / n)``, which is 0 for an answer that
everybody gives. The score of a pair is the weight they share over the mean weight of the two (Dice): 1 for equal files,
about 0 for independent ones. With fewer than ``SMALL_FIELD`` files shares mean nothing, and every item counts the same.

Only agreements cost time, as each answer leads to the files that give it, and memory is of one file's row beside the
codes of all answers. The web process imports this module: numpy is loaded by the work alone.
"""

from __future__ import annotations

import hashlib
import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SMALL_FIELD: Final = 5
_ROUNDING: Final = 1e-9
_CODE_BYTES: Final = 8
_WAITING: Final = 100_000  # pairs that may be among the first, before the others are dropped


@dataclass(frozen=True, slots=True)
class Pair:
    """Two files by name and their similarity: ``score`` 0-1.

    ``same`` of ``compared`` items that both answered have the same text; ``only_theirs`` of these are in no other file.
    """

    one: str
    other: str
    score: float
    same: int
    compared: int
    only_theirs: int


@dataclass(slots=True)
class _Shared:
    """An answer to an item that several files give: their ``places`` in order, what sharing it weighs, and how many of
    them were compared with the later ones.
    """

    places: NDArray[np.intp]
    weight: float
    compared: int = 0


@dataclass(frozen=True, slots=True)
class _Field:
    """All files: the hash of each answer (0: none) by file and item, the number of files that give it, the weight of
    each file and, by file, the answers that it shares with later ones, in the order of the items.
    """

    names: Sequence[str]
    codes: NDArray[np.uint64]
    sizes: NDArray[np.int32]
    totals: NDArray[np.float64]
    shared: Sequence[Sequence[_Shared]]


def normalised(text: str) -> str:
    """``text`` with every run of white space as one space and none at the ends."""
    return " ".join(text.split())


def similar_pairs(
    files: Iterable[tuple[str, Mapping[str, str]]], *, least: float = 0.6, fewest: int = 5, most: int = 500
) -> list[Pair]:
    """The pairs of the named files with a score of at least ``least`` (above 0) and ``fewest`` same answers, the most
    alike first. Each file is read once and not kept.

    At most ``most`` of them: if more are that similar, the task leaves hardly any room for different answers.
    """
    import numpy as np

    field = _field(files)
    found: list[tuple[float, int, int]] = []

    def first() -> list[tuple[float, int, int]]:
        return heapq.nsmallest(most, found, key=lambda each: (-each[0], field.names[each[1]], field.names[each[2]]))

    for one, answers in enumerate(field.shared):
        weights = np.zeros(len(field.names))
        for answer in answers:  # one after another: the order in which floats are added is that of the items
            answer.compared += 1
            weights[answer.places[answer.compared :]] += answer.weight
        totals = field.totals[one] + field.totals
        scores = np.minimum(1.0, np.divide(2 * weights, totals, out=np.zeros_like(weights), where=totals > 0))
        scores[: one + 1] = -1.0  # of earlier files, which have found this one, and of itself
        for other in np.flatnonzero(scores >= least - _ROUNDING).tolist():
            if np.count_nonzero(_same(field, one, other)) >= fewest:
                found.append((float(scores[other]), one, other))
        if len(found) > _WAITING:
            found[:] = first()
    return [_described(field, score, one, other) for score, one, other in first()]


def _field(files: Iterable[tuple[str, Mapping[str, str]]]) -> _Field:
    import numpy as np

    names: list[str] = []
    columns: dict[str, int] = {}
    rows: list[tuple[Any, Any]] = []  # the columns and the codes of each file
    for name, answers in files:
        names.append(name)
        places = np.fromiter((columns.setdefault(item, len(columns)) for item in answers), np.int32, len(answers))
        rows.append((places, np.fromiter(map(_code, answers.values()), np.uint64, len(answers))))
    codes = np.zeros((len(names), len(columns)), np.uint64)
    for position, (places, given) in enumerate(rows):
        codes[position, places] = given
    codes = codes[:, [columns[item] for item in sorted(columns)]]
    sizes = np.zeros(codes.shape, np.int32)
    weights: list[Any] = []
    shared: list[list[_Shared]] = [[] for _name in names]
    for item in range(codes.shape[1]):
        weights.append(_shares(codes[:, item], sizes[:, item], shared))
    by_file = np.column_stack(weights) if weights else np.zeros(codes.shape)
    return _Field(names, codes, sizes, np.array([math.fsum(row) for row in by_file]), shared)


def _shares(column: Any, sizes: Any, shared: Sequence[list[_Shared]]) -> Any:
    """The weight of each file's answer to one item; writes how many files give it into ``sizes``, and the answers of
    several into ``shared`` of each of their files.
    """
    import numpy as np

    weights = np.zeros(len(column))
    order = np.argsort(column, kind="stable")
    order = order[np.count_nonzero(column == 0) :]  # empty answers equal nothing
    starts = np.flatnonzero(np.diff(column[order], prepend=np.uint64(0)))
    for places in np.split(order, starts[1:]):
        if not len(places):
            continue
        weight = 1.0 if len(column) < SMALL_FIELD else -math.log(len(places) / len(order))
        weights[places], sizes[places] = weight, len(places)
        if len(places) > 1:
            answer = _Shared(places, weight)
            for place in places[:-1].tolist():
                shared[place].append(answer)
    return weights


def _code(text: str) -> int:
    """The first bytes of the hash of an answer; 0 for an empty one."""
    shown = normalised(text)
    return int.from_bytes(hashlib.sha256(shown.encode()).digest()[:_CODE_BYTES]) if shown else 0


def _same(field: _Field, one: int, other: int) -> NDArray[np.bool_]:
    """Which answers are the same."""
    return (field.codes[one] == field.codes[other]) & (field.codes[one] != 0)


def _described(field: _Field, score: float, one: int, other: int) -> Pair:
    import numpy as np

    same = _same(field, one, other)
    return Pair(
        one=field.names[one],
        other=field.names[other],
        score=score,
        same=int(np.count_nonzero(same)),
        compared=int(np.count_nonzero((field.codes[one] != 0) & (field.codes[other] != 0))),
        only_theirs=int(np.count_nonzero(same & (field.sizes[one] == 2))),
    )
