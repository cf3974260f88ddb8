"""What a run of the chaos showed, and whether all that must hold did."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise

from tests.chaos.invariants import (
    BEHIND_SECONDS,
    NEXT_ATTEMPT_SECONDS,
    OLDEST_RUN_SECONDS,
    SITE_DOWN_SECONDS,
    SUBMISSIONS,
    Retry,
)

PROBE_SECONDS = 0.5  # the site is asked this often
LOOK_SECONDS = 15.0  # the database is looked at this often at least, though it may be away


@dataclass
class Recovery:
    """A fault that happened; all times are of the wall clock."""

    fault: str
    began: float
    ended: float
    sound: float | None  # when the site was sound again; None: too late
    stops_passes: bool
    stops_starts: bool = False  # what was killed has no room on the disk to start in

    @property
    def seconds(self) -> float:
        """How long it took after the end of the fault."""
        return float("inf") if self.sound is None else self.sound - self.ended


@dataclass
class Outcome:
    """All that a run showed. The lists must be empty.

    ``patience``: how many times as long as it should a thing may take, on a machine that has other work.
    """

    seed: int
    patience: float = 1.0
    began: float = 0.0  # on the clock of ``answered``
    seconds: float = 0.0
    recoveries: list[Recovery] = field(default_factory=list)
    retries: list[Retry] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)  # when the site was asked, and answered soon
    stalls: list[float] = field(default_factory=list)  # of the uploads
    stalls_of_many: list[float] = field(default_factory=list)  # of those at once, under a fault
    scored_of_many: list[float] = field(default_factory=list)  # how long after they were sent, those of a score
    uploads: int = 0
    requests: int = 0
    judgements: int = 0
    large: int = 0
    given_up: int = 0
    checks: int = 0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    judgements_lost: list[str] = field(default_factory=list)
    judgements_twice: list[str] = field(default_factory=list)
    misjudged: list[str] = field(default_factory=list)  # refused, or asked for once more
    ledger: list[str] = field(default_factory=list)
    chain: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)  # any other, with when

    def longest_down(self, began: float = 0.0, ended: float = float("inf")) -> float:
        """The longest time without an answer of the site, of those that touch the given time; without that in which a
        killed database cannot be started, as the disk is full.
        """
        moments = [self.began, *sorted(self.answered), self.began + self.seconds]
        gaps = ((one, two) for one, two in pairwise(moments) if two > began and one < ended)
        return max((two - one - PROBE_SECONDS - self._without_starts(one, two) for one, two in gaps), default=0.0)

    def _without_starts(self, began: float, ended: float) -> float:
        full = ((each.began, each.ended) for each in self.recoveries if each.stops_starts)
        return sum(max(0.0, min(until, ended) - max(since, began)) for since, until in full)

    def oldest_run(self) -> float:
        """The longest silence of a run before it was taken back, without the time in which no pass could be made."""
        return max((each.age - self._without_passes(each) for each in self.retries), default=0.0)

    def taken_too_soon(self) -> int:
        """How many runs were taken from a worker before its lease was over."""
        return sum(each.reclaimed is not None and each.reclaimed < each.lease_ends for each in self.retries)

    def longest_wait(self, *, of_submissions: bool) -> float:
        """From one attempt to the next, of a submission or of the work that waits behind submissions."""
        return max((each.wait for each in self.retries if (each.kind in SUBMISSIONS) is of_submissions), default=0.0)

    def _without_passes(self, retry: Retry) -> float:
        """The time without passes before ``retry`` was taken back."""
        end = retry.at + retry.age
        away = ((each.began, each.sound or end) for each in self.recoveries if each.stops_passes)
        return sum(max(0.0, min(until, end) - max(since, retry.at)) for since, until in away)

    def invariants(self) -> Iterator[tuple[str, object, str, bool]]:
        """(what, the value, what it must be, whether it is)."""
        yield "lost", len(self.lost), "0", not self.lost
        yield "doubled", len(self.doubled), "0", not self.doubled
        yield "given up after three failures", self.given_up, "0", not self.given_up
        yield "refused by the API", len(self.refused), "0", not self.refused
        yield "judgements lost", len(self.judgements_lost), "0", not self.judgements_lost
        yield "judgements counted twice", len(self.judgements_twice), "0", not self.judgements_twice
        yield "judgements refused or asked for again", len(self.misjudged), "0", not self.misjudged
        yield "teams whose ledger differs", len(self.ledger), "0", not self.ledger
        yield "findings in the chain", len(self.chain), "0", not self.chain
        yield "broken in the database at some moment", len(self.broken), "0", not self.broken
        yield "runs taken back before their lease", self.taken_too_soon(), "0", not self.taken_too_soon()
        looks = self.seconds / LOOK_SECONDS / self.patience
        yield "looks at the database", self.checks, f"{looks:.0f} or more", self.checks >= looks
        for what, value, limit in (
            ("oldest run when taken back, s", self.oldest_run(), OLDEST_RUN_SECONDS),
            ("longest wait for the next attempt, s", self.longest_wait(of_submissions=True), NEXT_ATTEMPT_SECONDS),
            ("the same of work behind submissions, s", self.longest_wait(of_submissions=False), BEHIND_SECONDS),
            ("site down at most, s", self.longest_down(), SITE_DOWN_SECONDS),
            ("longest stall of the uploads at once, under a fault, s", max(self.stalls_of_many, default=0.0), 15.0),
        ):
            longest = limit * self.patience
            yield what, round(value, 1), f"under {longest:.0f}", value < longest

    def holds(self) -> bool:
        return all(is_so for _what, _value, _limit, is_so in self.invariants())

    def details(self) -> list[str]:
        """What waited longest, and everything that should not be there, for whoever looks for the cause."""
        longest = sorted(self.retries, key=lambda each: each.wait)[-3:]
        waits = [f"{each.kind} {each.job} waited {each.wait:.1f} s, {each.age:.1f} s of it silent" for each in longest]
        judged = [*self.judgements_lost, *self.judgements_twice, *self.misjudged]
        return [*waits, *self.broken, *self.lost, *self.doubled, *self.refused, *judged, *self.ledger, *self.chain]
