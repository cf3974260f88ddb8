"""Stages of a final, as organisers set and see them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from malpan.api.errors import SHA256
from malpan.api.schemas.kinds import Body, Key, Line, Markdown, Name, Reason, Text, Title
from malpan.stages.models import WEIGHT_MAX
from malpan.stages.tables import CHARS_MAX

Sha256 = Annotated[str, Field(pattern=SHA256)]
Version = Annotated[int, Field(ge=1, le=32767)]


class StageSettings(Body):
    """What is not sent stays. ``cut`` and ``campaign``: ``null`` is none."""

    emptied = frozenset({"cut", "campaign"})

    title_ko: Name | None = None
    title_en: Title | None = None
    notice_ko: Markdown | None = None
    notice_en: Markdown | None = None
    is_announced: bool | None = None
    phase: Key | None = None  # of the first stage
    campaign: Key | None = None  # of a later one; null: scores are entered
    normalisation: Literal["value", "rank"] | None = None
    scale_min: float | None = None  # of scores that are entered
    scale_max: float | None = None
    weight: Annotated[int, Field(ge=0, le=WEIGHT_MAX)] | None = None
    cut: Annotated[int, Field(ge=1, le=32767)] | None = None
    tie_rule: Literal["shared", "earlier"] | None = None


class NewStage(StageSettings):
    title_ko: Name
    weight: Annotated[int, Field(ge=0, le=WEIGHT_MAX)]


class ManagedStage(Schema):
    id: int
    track: str
    position: int
    title_ko: str
    title_en: str
    notice_ko: str
    notice_en: str
    is_announced: bool
    source: str  # board, table or campaign
    phase: int | None
    campaign: int | None
    normalisation: str
    scale_min: float
    scale_max: float
    weight: int
    cut: int | None
    tie_rule: str
    is_open: bool  # what it rests on is published
    table_state: str  # none, pending, confirmed or rejected
    published: int | None  # the number of the newest publication
    is_behind: bool  # what was published is to be published again


class TableVersion(Schema):
    number: int
    sha256: str
    reason: str
    entered_by: str
    created_at: datetime
    verdict: str | None  # confirmed or rejected; null: waits for a second person
    verdict_reason: str
    decided_by: str | None
    decided_at: datetime | None


class PublishedResult(Schema):
    number: int
    sha256: str
    rows: int
    note_ko: str
    note_en: str
    published_by: str
    published_at: datetime


class OneStage(ManagedStage):
    tables: list[TableVersion]
    publications: list[PublishedResult]


class EnteredScore(Schema):
    team_number: int
    team: str
    score: float | None


class EnteredTable(TableVersion):
    is_own: bool  # who entered it neither confirms nor rejects it
    scores: list[EnteredScore]


class TableText(Body):
    """``text``: a line for each team, its number or name and its score, parted by tabs, commas or semicolons."""

    text: Annotated[Text, Field(max_length=CHARS_MAX)]


class NewTable(TableText):
    based_on: Annotated[int, Field(ge=0, le=32767)] = 0  # the number of the newest version; 0: there is none
    reason: Line = ""  # of a correction


class ScoreChange(Schema):
    team_number: int
    team: str
    before: float | None
    after: float | None
    is_changed: bool


class SeenTable(Body):
    number: Version
    sha256: Sha256


class Rejection(SeenTable):
    reason: Reason


class PreviewedResult(Schema):
    """A result as it would be published now."""

    sha256: str  # to be sent when it is published: what is published is what was seen
    published: int | None  # the number of the newest publication
    is_published_so: bool
    rule: dict[str, Any]
    rows: list[dict[str, Any]]


class ResultPublication(Body):
    sha256: Sha256
    note_ko: Line = ""  # of a correction
    note_en: Line = ""
