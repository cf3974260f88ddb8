"""The set-up of a competition: its texts, tracks, targets and files for download."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Line, Markdown, Name, Slug, Small, Text, Title
from malpan.api.schemas.manage.phases import ManagedPhase
from malpan.api.schemas.problems import Problem

FileKind = Literal["data", "sample", "document"]


class NewCompetition(Body):
    slug: Slug
    title_ko: Name
    title_en: Title = ""
    copy_of: Slug | None = None  # texts, terms, tracks and phases of another one


class Texts(Body):
    """The texts and rules of a competition; what is not sent stays."""

    emptied = frozenset({"personal_data_months"})

    slug: Slug | None = None  # only until it is published
    title_ko: Name | None = None
    title_en: Title | None = None
    summary_ko: Line | None = None
    summary_en: Line | None = None
    description_ko: Markdown | None = None
    description_en: Markdown | None = None
    organiser_ko: Title | None = None
    organiser_en: Title | None = None
    cover: Literal["", "blue", "green", "purple", "rose", "gold"] | None = None
    team_size_max: Annotated[int, Field(ge=1, le=1000)] | None = None
    has_blind_names: bool | None = None
    prize_places: Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Field(max_length=10)] | None = None
    terms_ko: Markdown | None = None
    terms_en: Markdown | None = None
    personal_data_months: Annotated[int, Field(ge=1, le=1200)] | None = None
    renews_terms: bool = False  # everybody has to accept them again


class Component(Body):
    score: Annotated[Text, Field(max_length=60)]
    weight: float


class TrackSettings(Body):
    title_ko: Name | None = None
    title_en: Title | None = None
    description_ko: Markdown | None = None
    description_en: Markdown | None = None
    recipe: Annotated[Text, Field(max_length=60)] | None = None
    profile: Annotated[Text, Field(max_length=200)] | None = None
    score_scale: Literal[1, 100] | None = None
    score_decimals: Annotated[int, Field(ge=0, le=9)] | None = None
    composite: Annotated[list[Component], Field(max_length=10)] | None = None
    position: Small | None = None


class NewTrack(TrackSettings):
    slug: Slug
    title_ko: Name
    recipe: Annotated[Text, Field(max_length=60)]


class Target(Body):
    kind: Literal["baseline", "milestone"]
    value: float
    label_ko: Annotated[Text, Field(max_length=60)]
    label_en: Annotated[Text, Field(max_length=60)] = ""
    is_comparable: bool = True
    note_ko: Annotated[Text, Field(max_length=200)] = ""
    note_en: Annotated[Text, Field(max_length=200)] = ""
    score: Annotated[Text, Field(max_length=40)] = "final_score"


class Targets(Body):
    targets: Annotated[list[Target], Field(max_length=20)]


class PublishedTargets(Body):
    score: Annotated[Text, Field(max_length=40)] = "final_score"


class ManagedTrack(Schema):
    slug: str
    title_ko: str
    title_en: str
    description_ko: str
    description_en: str
    recipe: str
    profile: str
    score_scale: int
    score_decimals: int
    composite: list[dict[str, Any]]
    position: int
    targets: list[dict[str, Any]]
    phases: list[ManagedPhase]


class Settings(Schema):
    slug: str
    title_ko: str
    title_en: str
    summary_ko: str
    summary_en: str
    description_ko: str
    description_en: str
    organiser_ko: str
    organiser_en: str
    cover: str  # the colour of its head; empty: grey
    team_size_max: int
    has_blind_names: bool
    prize_places: list[int]
    terms_ko: str
    terms_en: str
    terms_version: int
    personal_data_months: int | None
    is_published: bool
    tracks: list[ManagedTrack]


class ChecklistItem(Schema):
    code: str
    state: str  # ok, warn, missing (a gap) or note
    text: str
    place: str


class Checklist(Schema):
    gaps: int
    items: list[ChecklistItem]


class Publishing(Body):
    accepts_gaps: bool = False


class FileFacts(Body):
    kind: FileKind | None = None
    title_ko: Name | None = None
    title_en: Title | None = None
    position: Small | None = None


class RehearsedStep(Body):
    """What one operation would be sent. ``track`` and ``phase``: those that it makes or changes."""

    operation: Literal[
        "createCompetition",
        "updateSettings",
        "createTrack",
        "updateTrack",
        "setTargets",
        "createPhase",
        "updatePhase",
    ]
    track: Title | None = None  # as it is written in a file: of a wrong one the values say what is wrong with it
    phase: Title | None = None
    values: dict[str, Any]


class RehearsedPlan(Body):
    steps: Annotated[list[RehearsedStep], Field(min_length=1, max_length=200)]


class RehearsedRefusal(Schema):
    step: int  # its place in the plan, from 0
    problem: Problem


class Rehearsal(Schema):
    refusals: list[RehearsedRefusal]
