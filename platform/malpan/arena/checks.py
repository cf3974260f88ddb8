"""How judges did on the checks among their assignments: by kind, by judge, over their queues. Nothing here says
anything of systems.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from malpan.arena.models import Assignment
from scoring.arena.checks import checks_of
from scoring.arena.controls import RULES
from scoring.arena.votes import Votes

PARTS: Final = 3  # of a queue
CONTROL: Final = "control"  # of any rule
REPEAT: Final = "repeat"


@dataclass(frozen=True, slots=True)
class Tally:
    """``failed`` of ``count``: controls whose bad output did not lose, verdicts of repeats that are not as before."""

    failed: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True)
class KindOfCheck:
    """The checks of one kind: a rule of ``scoring.arena.controls`` (empty where it is not known), ``CONTROL`` or
    ``REPEAT``. ``parts``: those in each third of the judges' queues; ``judges`` met one, ``judges_failed`` failed one.
    """

    name: str
    every: Tally
    parts: tuple[Tally, ...]
    judges: int
    judges_failed: int


@dataclass(frozen=True, slots=True)
class Checks:
    """Of a campaign: the kinds that were met; ``CONTROL`` and ``REPEAT`` of each judge, by primary key."""

    kinds: tuple[KindOfCheck, ...]
    of_judge: Mapping[int, tuple[KindOfCheck, ...]]


@dataclass(frozen=True, slots=True)
class _Placed:
    """A check with its rule or ``REPEAT``, its judge, and the third of the queue that it stands in, from 0."""

    name: str
    judge: int
    part: int
    tally: Tally


def check_figures(votes: Votes, assignments: Mapping[int, Assignment], queues: Mapping[int, Sequence[int]]) -> Checks:
    """The checks among the counted ``votes``. ``assignments`` of the votes by number; ``queues``: the primary keys of
    each judge's assignments in order, by the judge's.
    """
    part_of = {pk: PARTS * place // len(queue) for queue in queues.values() for place, pk in enumerate(queue)}
    placed = []
    for check in checks_of(votes):
        row = assignments[check.number]
        name = REPEAT if check.kind == REPEAT else row.bad_rule
        placed.append(_Placed(name, row.judge_id, part_of[row.pk], Tally(check.failed, check.count)))
    rules = [_kind(rule, [each for each in placed if each.name == rule]) for rule in (*RULES, "")]
    return Checks(
        kinds=(*(kind for kind in rules if kind.judges), *_both(placed)),
        of_judge={
            judge: _both([each for each in placed if each.judge == judge])
            for judge in sorted({each.judge for each in placed})
        },
    )


def _both(placed: Iterable[_Placed]) -> tuple[KindOfCheck, ...]:
    """All controls, and the repeats, as far as there are any."""
    rows = list(placed)
    controls, repeats = [[each for each in rows if (each.name == REPEAT) is wanted] for wanted in (False, True)]
    return tuple(kind for kind in (_kind(CONTROL, controls), _kind(REPEAT, repeats)) if kind.judges)


def _kind(name: str, placed: Sequence[_Placed]) -> KindOfCheck:
    return KindOfCheck(
        name=name,
        every=_sum(placed),
        parts=tuple(_sum(each for each in placed if each.part == part) for part in range(PARTS)),
        judges=len({each.judge for each in placed}),
        judges_failed=len({each.judge for each in placed if each.tally.failed}),
    )


def _sum(placed: Iterable[_Placed]) -> Tally:
    tallies = [each.tally for each in placed]
    return Tally(sum(each.failed for each in tallies), sum(each.count for each in tallies))
