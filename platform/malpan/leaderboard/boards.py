"""What a board is to its readers: its rows, which of them are read and in which order, and who is reading."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from functools import lru_cache
from typing import Final, TypeVar
from uuid import UUID

from malpan.competitions.models import Competition, Phase
from malpan.competitions.selectors import is_blind
from malpan.leaderboard.models import BoardSnapshot
from malpan.leaderboard.ranking import Rule
from malpan.submissions.models import Submission
from malpan.submissions.release import nearest
from malpan.teams.models import Team
from malpan.teams.naming import public_note, shown_name
from malpan.teams.selectors import disqualified_teams
from scoring.composite import Component, Composite
from scoring.recipes import Column, Recipe

LONGEST_SEARCH: Final = 100  # letters
PAGE_ROWS: Final = 100
RANK: Final = "rank"
COUNT: Final = "submissions"
TIME: Final = "submitted"
COMPOSITE: Final = "composite"
BASELINES: Final = 10  # in a row at most, before the rows of a view

Found = TypeVar("Found")


@dataclass(frozen=True, slots=True)
class RowSureness:
    """What resampling the items says of a row (``leaderboard.sureness``): the 95 % interval of each score and, of a
    team among those tested, that of its rank; its band with the rank of the first in it and the number of teams
    ``tied`` there; ``above_p``, corrected, of the difference to the team above.
    """

    scores: Mapping[str, tuple[float, float]]
    places: tuple[int, int] | None = None
    band: int | None = None
    shared_rank: int | None = None
    tied: int = 0
    above_p: float | None = None


@dataclass(frozen=True, slots=True)
class Sureness:
    """How sure a board is, as it was computed at ``computed_at``. ``is_current``: of the very standings shown.

    ``reason``: why there are no bands; empty where there are. ``tests``: the pairs of teams that were tested.
    ``rows`` and ``ranks`` are by the public id of a submission. ``stamp`` names it.
    """

    computed_at: datetime
    seed: int
    trials: int
    level: float
    items: int
    tests: int
    reason: str
    signature_hash: str
    rows: Mapping[str, RowSureness]
    ranks: Mapping[str, int | None]
    stamp: UUID
    is_current: bool = True


@dataclass(frozen=True, slots=True)
class TeamModel:
    """What a team says of its model: a name, a size as written, addresses of the model and of a paper."""

    name: str
    size: str
    url: str
    paper: str


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One team. ``rank`` is ``None`` for a baseline; scores are 0-1; ``submission_count`` counts charged submissions.

    ``place`` counts from 1, baselines included. ``submission`` is set on a public board; a published final board has
    none. ``public_rank`` and ``public_score`` are set on a final board: the team's rank and score on the public one.
    ``composite``: where one ranks, from this row's scores and those of all other rows. ``submission_name``: the public
    id of the submission that counts. ``is_disqualified``: a published final board has the team from before that.
    ``rank_before``: that with which the day began, on a live board; ``is_new``: the team had none then. ``coverage``:
    the share of reasons given, where the recipe counts them. ``model``: what the team says of it now. ``is_program``:
    who takes part is a program. ``team_number`` is set where ``team_id`` is not.
    """

    rank: int | None
    place: int
    team_id: int | None  # None on a published final board: a snapshot has only team numbers
    team_name: str
    is_baseline: bool
    is_own: bool
    scores: Mapping[str, float]
    final_score: float
    submission_count: int
    submitted_at: datetime
    is_demo_models: bool
    submission: Submission | None = None
    public_rank: int | None = None
    public_score: float | None = None
    composite: Composite | None = None
    submission_name: str = ""
    is_disqualified: bool = False
    sureness: RowSureness | None = None
    rank_before: int | None = None
    is_new: bool = False
    coverage: float | None = None
    model: TeamModel | None = None
    is_program: bool = False
    team_number: int | None = None


@lru_cache(1 << 15)  # the names of a large board: a search compares them all
def comparable(text: str) -> str:
    """``text`` as a search compares it: compatible forms, cases and spacings are one."""
    return "".join(unicodedata.normalize("NFKC", text).casefold().split())


@dataclass(frozen=True, slots=True)
class View:
    """Which rows of a board to read, and in which order: ``sort`` is a column's key, ``COMPOSITE`` where one ranks, or
    ``RANK``, ``COUNT`` or ``TIME``. ``is_descending``: ``None`` is the order in which the better is first. ``search``:
    only teams whose shown name has it, if it is not empty.
    """

    sort: str = RANK
    is_descending: bool | None = False
    offset: int = 0
    limit: int | None = None
    search: str = ""

    @classmethod
    def of_page(cls, number: str, sort: str = RANK, is_descending: bool | None = False, search: str = "") -> View:
        """The page ``number`` as a reader writes it, counted from 1; the first where that is no number."""
        page = int(number) if number.isdecimal() and len(number) < 9 else 1
        return cls(sort, is_descending, offset=max(page - 1, 0) * PAGE_ROWS, limit=PAGE_ROWS, search=search)

    @property
    def is_of_neighbours(self) -> bool:
        """Whether a row stands below the one that ranks right above it."""
        return self.sort == RANK and not self.search

    def finds(self, name: str) -> bool:
        """Whether the team shown as ``name`` is searched for: its letters in whatever form, case and spacing."""
        return not self.search or comparable(self.search) in comparable(name)

    def cut(self, rows: Sequence[Found]) -> Sequence[Found]:
        """The rows of this view, of all."""
        return rows[self.offset : None if self.limit is None else self.offset + self.limit]


@dataclass(frozen=True, slots=True)
class Disqualified:
    """A team that left the board, with the organiser's public note."""

    team_name: str
    note: str
    disqualified_at: datetime | None
    number: int


@dataclass(frozen=True, slots=True)
class Board:
    """A board as one reader may see it.

    ``rows`` are those of ``view``, of ``row_count`` that it finds of ``total``; ``row_before`` is the last team's
    before them, none in a search. The reader's ``own_row`` may be another. ``updated_at``: when the newest score on
    the board was computed.
    ``is_hidden``: the organiser hides it; there are no rows. ``frozen_at``: it counts only submissions before that
    moment. All rows have ``signature_hash``; ``excluded_count`` runs have another one, or were scored by earlier
    references or another recipe, and are excluded until they are scored again. ``covers_split``: its scores are of the
    public split only. ``snapshot``: it is the final board as published or a public board as it was kept, one of
    ``snapshots``, the newest first, and ``left_since`` are the teams in it that were disqualified since. A public board
    of now has the kept ones as ``snapshots``. ``rule``: what its rows are ranked by. ``sureness``: none
    until a worker has computed it. ``rows_name``: in this process another one whenever ``rows``, ``row_before`` or
    ``view`` are; empty where they have none.
    """

    phase: Phase
    recipe: Recipe
    columns: tuple[Column, ...]
    rows: tuple[BoardRow, ...]
    own_row: BoardRow | None
    is_demo_models: bool
    signature_hash: str | None
    excluded_count: int
    view: View
    row_count: int
    total: int
    row_before: BoardRow | None = None
    updated_at: datetime | None = None
    is_hidden: bool = False
    frozen_at: datetime | None = None
    covers_split: bool = False
    disqualified: tuple[Disqualified, ...] = ()
    snapshot: BoardSnapshot | None = None
    snapshots: tuple[BoardSnapshot, ...] = ()
    days: tuple[date, ...] = ()
    left_since: tuple[Disqualified, ...] = ()
    rule: Rule = field(default_factory=Rule)
    sureness: Sureness | None = None
    rows_name: str = ""

    @property
    def components(self) -> tuple[Component, ...]:
        """What the composite that ranks is made of; empty where the final score ranks."""
        return self.rule.components

    @property
    def step(self) -> Decimal | None:
        """What its scores are rounded to; ``None`` where they have all their digits, as on a final board. A board that
        was kept may be from before the phase had this step.
        """
        step = None if self.is_final else self.phase.score_step
        if step is None or self.snapshot is None:
            return step
        return step if all(nearest(row.final_score, step) == row.final_score for row in self.rows) else None

    @property
    def is_past(self) -> bool:
        """Whether it was published or public once and another board took its place."""
        return self.snapshot is not None and (self.is_kept or self.snapshot != self.snapshots[0])

    @property
    def is_kept(self) -> bool:
        """Whether it is a public board of the past."""
        return self.snapshot is not None and self.snapshot.kind != BoardSnapshot.Kind.FINAL

    @property
    def day(self) -> date | None:
        """The day with whose end it was public, if it was kept for that."""
        return None if self.snapshot is None else self.snapshot.day

    @property
    def is_final(self) -> bool:
        """Whether it is a final board, as it was published."""
        return self.snapshot is not None and not self.is_kept


@dataclass(frozen=True, slots=True)
class Reader:
    """The reader of a board, and whether names are blind for them."""

    team: Team | None
    is_blind: bool
    sees_all: bool

    @property
    def knows_all_names(self) -> bool:
        """Whether ``name_of`` is the name of every team."""
        return self.sees_all or not self.is_blind

    def name_of(self, team: Team) -> str:
        return shown_name(team, viewer_team=self.team, is_blind=self.is_blind, sees_all=self.sees_all)

    def model_of(self, team: Team) -> TeamModel | None:
        """What ``team`` says of its model, from which one may know it: only where its name is shown."""
        model = TeamModel(team.model_name, team.model_size, team.model_url, team.paper_url)
        is_said = any((model.name, model.size, model.url, model.paper))
        return model if is_said and self.name_of(team) == team.name else None


def known_view(view: View, recipe: Recipe, rule: Rule) -> View:
    """``view`` with its direction; in the order of the ranking where the board has no such column."""
    known = {COUNT, TIME, *(column.key for column in recipe.columns), *([COMPOSITE] if rule.is_composite else [])}
    if view.sort not in known:
        return replace(view, sort=RANK, is_descending=False)
    if view.is_descending is None:
        return replace(view, is_descending=view.sort != TIME and recipe.higher_is_better(view.sort))
    return view


def last_ranked(rows: list[BoardRow]) -> BoardRow | None:
    return next((row for row in reversed(rows) if not row.is_baseline), None)


def reader_of(phase: Phase, team: Team | None, *, sees_all: bool = False, now: datetime | None = None) -> Reader:
    return reader_in(phase.track.competition, team, sees_all=sees_all, now=now)


def reader_in(
    competition: Competition, team: Team | None, *, sees_all: bool = False, now: datetime | None = None
) -> Reader:
    return Reader(team, is_blind=is_blind(competition, now), sees_all=sees_all)


def disqualified(competition: Competition, reader: Reader) -> tuple[Disqualified, ...]:
    """The disqualified teams of ``competition``, by the names that the reader may see."""
    return tuple(
        Disqualified(reader.name_of(team), public_note(team), team.disqualified_at, team.number)
        for team in disqualified_teams(competition)
    )
