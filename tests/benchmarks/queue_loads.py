"""What comes to the queue in a benchmark, and what is told of the waits that came of it."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median

CONTEST_TOKENS = 135_000  # a contest file: 498 reasons, about 135 tokens a pair, read by two models
SMALL_SHARE, SMALL_TOKENS = 0.2, 7_000  # a try of some 25 items
HUGE_TOKENS = 20 * CONTEST_TOKENS  # 10,000 items
SPREAD = 0.1


@dataclass(frozen=True)
class Upload:
    """A file of ``cost`` expected tokens that ``team`` (a number) sends ``at`` seconds from the start."""

    at: float
    team: int
    cost: int


@dataclass(frozen=True)
class Load:
    """Uploads in the order of time, while a rescoring batch of ``batch`` contest files runs since just before.

    ``odd`` is the team that asks for more than the others: it sends the huge file, or the flood.
    """

    name: str
    uploads: Sequence[Upload]
    batch: int
    odd: int


@dataclass(frozen=True)
class Wait:
    """How long, in seconds, ``upload`` waited from its arrival to its score."""

    upload: Upload
    seconds: float


@dataclass(frozen=True)
class Row:
    """One line of the table: seconds from upload to score; pairs are the median and the worst.

    Of the teams that are not odd, ``first``: to a team's first score; ``team``: a team's median; ``small``: of small
    files; ``worst``: of any upload. ``odd``: of the uploads of the odd team.
    """

    load: str
    workers: int
    order: str
    first: tuple[float, float]
    team: tuple[float, float]
    small: tuple[float, float]
    worst: float
    odd: tuple[float, float]


def rush(teams: int, each: int, batch: int, seed: int = 7, within: float = 60.0) -> Load:
    """``each`` uploads of every team at random moments of a minute: contest files, some small ones, one huge."""
    rng = random.Random(seed)
    uploads = [Upload(rng.uniform(0, within), team, _cost(rng)) for team in range(teams) for _upload in range(each)]
    uploads.sort(key=lambda upload: upload.at)
    uploads[each] = replace(uploads[each], cost=HUGE_TOKENS)  # among the first
    return Load(f"{teams} teams x {each}", uploads, batch, odd=uploads[each].team)


def flood(teams: int, count: int, batch: int, seed: int = 7, within: float = 60.0) -> Load:
    """One team sends ``count`` contest files in the first seconds; each of the others sends one within the minute."""
    rng = random.Random(seed)
    poured = [Upload(within / 10 * place / count, 0, CONTEST_TOKENS) for place in range(count)]
    others = [Upload(rng.uniform(0, within), team, _cost(rng)) for team in range(1, teams)]
    uploads = sorted([*poured, *others], key=lambda upload: upload.at)
    return Load(f"one team x {count}, {teams - 1} others x 1", uploads, batch, odd=0)


def _cost(rng: random.Random) -> int:
    size = SMALL_TOKENS if rng.random() < SMALL_SHARE else CONTEST_TOKENS
    return max(1, round(rng.gauss(size, SPREAD * size)))


def row_of(load: Load, workers: int, order: str, waits: Sequence[Wait]) -> Row:
    """What to tell of ``waits``, one for each upload of ``load``."""
    watched = [wait for wait in waits if wait.upload.team != load.odd]
    odd = [wait.seconds for wait in waits if wait.upload.team == load.odd]
    small = [wait.seconds for wait in watched if wait.upload.cost < CONTEST_TOKENS / 2]

    teams = sorted({wait.upload.team for wait in watched})

    def by_team(told: Callable[[list[Wait]], float]) -> tuple[float, float]:
        values = [told([wait for wait in watched if wait.upload.team == team]) for team in teams]
        return median(values), max(values)

    return Row(
        load=load.name,
        workers=workers,
        order=order,
        first=by_team(lambda own: min(wait.upload.at + wait.seconds for wait in own) - own[0].upload.at),
        team=by_team(lambda own: median(wait.seconds for wait in own)),
        small=(median(small), max(small)) if small else (0.0, 0.0),
        worst=max(wait.seconds for wait in watched),
        odd=(median(odd), max(odd)),
    )


def table(rows: Sequence[Row]) -> str:
    """``rows`` in Markdown; all figures in seconds from upload to score."""
    head = (
        "| load | workers | order | first score of a team: median | worst | all scores of a team: median | worst "
        "| small files: median | worst | worst upload | the odd team's uploads: median | worst |\n"
        "|---|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|"
    )
    lines = [
        f"| {row.load} | {row.workers} | {row.order} | {row.first[0]:.1f} | {row.first[1]:.1f} | {row.team[0]:.1f} "
        f"| {row.team[1]:.1f} | {row.small[0]:.1f} | {row.small[1]:.1f} | {row.worst:.1f} "
        f"| {row.odd[0]:.1f} | {row.odd[1]:.1f} |"
        for row in rows
    ]
    return "\n".join([head, *lines])
