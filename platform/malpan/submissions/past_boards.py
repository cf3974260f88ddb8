"""Boards of the past: who changes what a board ranks by has it kept as it stood right before.

What is kept and how is ``leaderboard``'s, which this app does not import: it registers itself when it is ready.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from malpan.accounts.models import User
from malpan.competitions.models import Phase
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.chain import NewEntry


@dataclass(frozen=True, slots=True)
class Change:
    """What ended a board, as its readers are told."""

    ko: str
    en: str


RESCORED: Final = Change("다시 채점한 점수를 반영하기 직전", "Right before new scores were applied")
REFERENCES: Final = Change("정답을 새 판으로 바꾸기 직전", "Right before the reference answers were replaced")
SETTINGS: Final = Change("순위를 정하는 설정을 바꾸기 직전", "Right before the settings of the ranking were changed")


class Keeper(Protocol):
    """Keeps the board of ``phase``, which is locked, and returns the entry of the chain that commits to it; ``None`` if
    there is none to keep.
    """

    def __call__(self, *, phase: Phase, change: Change, actor: User | None) -> NewEntry | None: ...


_keepers: Final[list[Keeper]] = []


def register(keeper: Keeper) -> None:
    """Have ``keeper`` keep boards; a second time it changes nothing."""
    if keeper not in _keepers:
        _keepers.append(keeper)


def keep(*, phase: Phase, change: Change, actor: User | None) -> list[NewEntry]:
    """Keep the board of ``phase``. Call it in the transaction of the change, before anything is changed, with the phase
    locked; ``record`` what it returns when everything is changed.
    """
    found = [keeper(phase=phase, change=change, actor=actor) for keeper in _keepers]
    return [entry for entry in found if entry is not None]


def record(phase: Phase, entries: Sequence[NewEntry]) -> None:
    """Commit to kept boards in the chain: the last lock of a transaction."""
    chain.append_many(competition=phase.track.competition, entries=entries)
