"""How many scoring processes keep waits under a target: a simulation of a competition's uploads. Pure.

Uploads come as contests have them: most by day, ever more towards the end, and a given share in the last days. They
are served in the site's own order (``jobs.order``): teams take turns. Every process takes one file at a time and the
seconds of a file that was really measured. Left out is rescoring, which goes behind.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush, heapreplace
from itertools import accumulate
from typing import Final

MINUTE: Final = 60.0
DAY_MINUTES: Final = 24 * 60
AT_NIGHT: Final = 0.2  # uploads between 0 and 9 o'clock, beside those of the same time by day
AT_THE_END: Final = 4.0  # uploads in the last minute, beside those when the last days began
SEED: Final = 20251120


@dataclass(frozen=True, slots=True)
class Contest:
    """What comes: ``late_share`` of the submissions in the last ``late_days``."""

    teams: int = 280
    submissions: int = 3642
    days: int = 30
    late_days: int = 2
    late_share: float = 0.5

    def times(self, factor: int) -> Contest:
        """The same contest with so many times the teams and the submissions."""
        return Contest(self.teams * factor, self.submissions * factor, self.days, self.late_days, self.late_share)


@dataclass(frozen=True, slots=True)
class Upload:
    """When it comes, in seconds from the beginning, of which team, and how many seconds its scoring takes."""

    at: float
    team: int
    seconds: float


def uploads_of(contest: Contest, measured: Sequence[float]) -> list[Upload]:
    """The uploads of ``contest``, the first one first, each with one of the ``measured`` seconds. Always the same."""
    chance = random.Random(SEED)
    late_from = (contest.days - contest.late_days) * DAY_MINUTES
    early, late = _weights(0, late_from, contest), _weights(late_from, contest.days * DAY_MINUTES, contest)
    late_count = round(contest.submissions * contest.late_share)
    minutes = chance.choices(range(late_from), cum_weights=early, k=contest.submissions - late_count)
    minutes += chance.choices(range(late_from, contest.days * DAY_MINUTES), cum_weights=late, k=late_count)
    eager = list(accumulate(chance.expovariate(1) for _team in range(contest.teams)))  # some send many, most few
    teams = chance.choices(range(contest.teams), cum_weights=eager, k=contest.submissions)
    seconds = chance.choices(measured, k=contest.submissions)
    moments = sorted((minute + chance.random()) * MINUTE for minute in minutes)
    return [Upload(*each) for each in zip(moments, teams, seconds, strict=True)]


def _weights(start: int, end: int, contest: Contest) -> list[float]:
    """How likely an upload is in each minute, summed up; ever more in the last days."""
    late_from, all_minutes = (contest.days - contest.late_days) * DAY_MINUTES, contest.days * DAY_MINUTES
    return list(
        accumulate(
            (AT_NIGHT if minute % DAY_MINUTES < 9 * 60 else 1.0)
            * (1 + (AT_THE_END - 1) * max(0, minute - late_from) / max(1, all_minutes - late_from))
            for minute in range(start, end)
        )
    )


def waits_of(uploads: Sequence[Upload], workers: int) -> list[float]:
    """Seconds from each upload to its score, in no particular order."""
    waits: list[float] = []
    ends = [0.0] * workers  # when each process is free
    heapify(ends)
    waiting: list[tuple[float, int]] = []  # fair tag, place among the uploads
    last_tag: dict[int, tuple[float, int]] = {}  # of a team: its last tag, how many it has waiting
    virtual, place = 0.0, 0
    while waiting or place < len(uploads):
        if not waiting or (place < len(uploads) and uploads[place].at <= ends[0]):
            upload = uploads[place]
            tag, count = last_tag.get(upload.team, (0.0, 0))
            tag = max(virtual, tag if count else 0.0) + upload.seconds
            last_tag[upload.team] = tag, count + 1
            heappush(waiting, (tag, place))
            place += 1
            continue
        tag, chosen = heappop(waiting)
        upload = uploads[chosen]
        virtual = max(virtual, tag)
        last_tag[upload.team] = last_tag[upload.team][0], last_tag[upload.team][1] - 1
        end = max(ends[0], upload.at) + upload.seconds
        heapreplace(ends, end)
        waits.append(end - upload.at)
    return waits


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest of ``values`` that so many percent of them do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(len(ordered) * percent / 100) - 1)]


def workers_needed(uploads: Sequence[Upload], target: float, percent: float = 95) -> int:
    """The fewest processes with which ``percent`` of the waits are within ``target`` seconds.

    Raises ``ValueError`` if the scoring of a file alone takes longer.
    """
    if percentile([upload.seconds for upload in uploads], percent) > target:
        raise ValueError("scoring alone takes longer")
    too_few, enough = 0, max(1, int(busiest_hour(uploads)[1]))
    while percentile(waits_of(uploads, enough), percent) > target:
        too_few, enough = enough, 2 * enough
    while enough - too_few > 1:
        middle = (enough + too_few) // 2
        if percentile(waits_of(uploads, middle), percent) > target:
            too_few = middle
        else:
            enough = middle
    return enough


def busiest_hour(uploads: Sequence[Upload]) -> tuple[int, float]:
    """The most uploads in one hour, and how many processes their scoring keeps busy."""
    hours: dict[int, tuple[int, float]] = {}
    for upload in uploads:
        count, seconds = hours.get(int(upload.at // 3600), (0, 0.0))
        hours[int(upload.at // 3600)] = count + 1, seconds + upload.seconds
    count, seconds = max(hours.values())
    return count, seconds / 3600
