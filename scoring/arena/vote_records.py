"""The parts of a votes file, as ``scoring.arena.votes`` reads and writes it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

Protocol = Literal["pairwise", "rubric", "ranking", "errors"]
Kind = Literal["real", "control", "repeat"]

PROTOCOLS: Final[tuple[Protocol, ...]] = ("pairwise", "rubric", "ranking", "errors")
KINDS: Final[tuple[Kind, ...]] = ("real", "control", "repeat")
CHOICES: Final = ("first", "second", "tie", "both_bad")
SEVERITIES: Final = ("minor", "major", "critical")
RANKED_LEAST: Final = 2  # systems in a ranking that says something
HIGHEST_SCORE: Final = 100  # of an output whose errors are marked
RESAMPLES: Final = 2000
LEVEL: Final = 0.05


@dataclass(frozen=True, slots=True)
class System:
    """A submission under its label. ``counts`` is false for one that was disqualified, with the ``reason``."""

    label: str
    name: str = ""
    team_number: int | None = None
    counts: bool = True
    reason: str = ""


@dataclass(frozen=True, slots=True)
class ArenaItem:
    """An item that was judged; ``stratum`` is its type."""

    label: str
    stratum: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """A judge, who has a label and no name; those of one institution share ``institution_group``."""

    label: str
    institution_group: str = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """A scale of the rubric, from ``low`` to ``high``; ``weight`` is its part in the mean of a vote."""

    key: str
    low: float
    high: float
    weight: float = 1


@dataclass(frozen=True, slots=True)
class Vote:
    """What one judge said of one unit. ``systems`` are in the order shown; ``bad`` is the place of a control's bad
    output among them; ``repeats`` is the number of the judge's earlier vote on the same unit. ``value`` depends on the
    protocol.
    """

    number: int
    judge: str
    item: str
    systems: tuple[str, ...]
    value: Mapping[str, Any]
    kind: Kind = "real"
    bad: int | None = None
    repeats: int | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True)
class Exclusion:
    """A judge, or one vote by its number, whose votes do not count, and why. One of the two is given."""

    reason: str
    judge: str | None = None
    vote: int | None = None


@dataclass(frozen=True, slots=True)
class VoteSettings:
    """How the result is computed: ``seed`` is the revealed seed of the campaign, ``level`` 0.05 for 95 % intervals."""

    resamples: int = RESAMPLES
    seed: str = "0"
    level: float = LEVEL


@dataclass(frozen=True, slots=True)
class DrawnDesign:
    """What the seed drew the queues of the opening from, besides items and systems, where nobody was barred from a
    system (who was is not published). ``judges``: how many there were; ``sha256``: ``redrawing.queues_sha256`` of
    their queues.
    """

    group: int
    units_per_item: int
    judges_per_unit: int
    control_share: float
    repeat_share: float
    judges: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Votes:
    """All votes of a campaign, with what is needed to recompute its result."""

    campaign: Mapping[str, Any]
    protocol: Protocol
    systems: tuple[System, ...]
    items: tuple[ArenaItem, ...]
    judges: tuple[Judge, ...]
    votes: tuple[Vote, ...]
    criteria: tuple[Criterion, ...] = ()
    exclusions: tuple[Exclusion, ...] = ()
    settings: VoteSettings = field(default_factory=VoteSettings)
    design: DrawnDesign | None = None

    @property
    def counting(self) -> tuple[str, ...]:
        """The labels of the systems that count, in order."""
        return tuple(system.label for system in self.systems if system.counts)

    def counted(self) -> Iterator[Vote]:
        """Every vote of any kind that is not excluded and of whose systems all count. A ranking stays without those
        that do not, while two are left.
        """
        judges = {one.judge for one in self.exclusions if one.judge is not None}
        numbers = {one.vote for one in self.exclusions if one.vote is not None}
        counting = set(self.counting)
        for vote in self.votes:
            if vote.judge in judges or vote.number in numbers:
                continue
            if counting.issuperset(vote.systems):
                yield vote
            elif "ranks" in vote.value and (rest := _ranking_of(vote, counting)) is not None:
                yield rest

    def real(self) -> tuple[Vote, ...]:
        """The counted votes that make the result: neither controls nor repeats."""
        return tuple(vote for vote in self.counted() if vote.kind == "real")


def _ranking_of(vote: Vote, counting: Set[str]) -> Vote | None:
    """The ranking of those of its systems that count, ``None`` for fewer than two, or without the bad output."""
    kept = [place for place, label in enumerate(vote.systems) if label in counting]
    if len(kept) < RANKED_LEAST or (vote.bad is not None and vote.bad not in kept):
        return None
    return replace(
        vote,
        systems=tuple(vote.systems[place] for place in kept),
        value={**vote.value, "ranks": [vote.value["ranks"][place] for place in kept]},
        bad=None if vote.bad is None else kept.index(vote.bad),
    )
