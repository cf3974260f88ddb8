"""Human evaluation in preparation, as organisers set and see it."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Key, Markdown, Moment, Name, Number, Text, Title
from malpan.api.schemas.manage.stages import PublishedResult
from malpan.arena.campaigns import LIMITS, MASKED_MAX, RANKING_GROUP
from malpan.arena.own_practice import ITEMS_MAX
from malpan.arena.planning import LIMITS as PLANNED
from malpan.arena.planning import RANGES
from malpan.arena.rubric_form import CRITERIA_MAX, REASONS_MAX
from malpan.arena.systems import SYSTEMS_LEAST, SYSTEMS_MOST

Protocol = Literal["pairwise", "rubric", "ranking", "errors"]


def _within(limits: tuple[float, float]) -> Any:
    low, high = limits
    return Field(ge=low, le=high)


# --- rubrics ----------------------------------------------------------------------------------------------------------
class RubricText(Body):
    """``criteria`` and ``reasons`` as a version of the rubric has them."""

    title_ko: Name
    title_en: Title = ""
    guideline_ko: Annotated[Text, Field(min_length=1, max_length=50_000)]
    guideline_en: Markdown = ""
    criteria: Annotated[list[dict[str, Any]], Field(max_length=CRITERIA_MAX)] = []
    reasons: Annotated[list[dict[str, Any]], Field(max_length=REASONS_MAX)] = []


class RubricVersion(Schema):
    id: int
    track: str
    number: int
    title_ko: str
    title_en: str
    guideline_ko: str
    guideline_en: str
    criteria: list[dict[str, Any]]
    reasons: list[dict[str, Any]]
    created_at: datetime
    campaigns: list[int]  # the ids of those that use it


# --- campaigns --------------------------------------------------------------------------------------------------------
class CampaignSettings(Body):
    """What is not sent stays; of an open campaign only texts and times change. ``starts_at``, ``ends_at``: ``null`` is
    none.
    """

    emptied = frozenset({"starts_at", "ends_at"})

    title_ko: Name | None = None
    title_en: Title | None = None
    notice_ko: Markdown | None = None
    notice_en: Markdown | None = None
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    protocol: Protocol | None = None
    rubric: Key | None = None
    phase: Key | None = None
    part: Literal["public", "private", "all"] | None = None
    item_count: Annotated[int, _within(LIMITS["item_count"])] | None = None
    units_per_item: Annotated[int, _within(LIMITS["units_per_item"])] | None = None
    judges_per_unit: Annotated[int, _within(LIMITS["judges_per_unit"])] | None = None
    group_size: Annotated[int, _within((1, RANKING_GROUP[1]))] | None = None  # of the protocol ranking
    control_percent: Annotated[int, _within(LIMITS["control_percent"])] | None = None
    repeat_percent: Annotated[int, _within(LIMITS["repeat_percent"])] | None = None
    calibration_count: Annotated[int, _within(LIMITS["calibration_count"])] | None = None
    shows_input: bool | None = None
    shows_reference: bool | None = None
    min_seconds: Annotated[int, _within(LIMITS["min_seconds"])] | None = None
    masked_words: Annotated[list[Text], Field(max_length=MASKED_MAX)] | None = None
    resamples: Annotated[int, _within(LIMITS["resamples"])] | None = None


class NewCampaign(CampaignSettings):
    title_ko: Name
    protocol: Protocol
    rubric: Key
    phase: Key


class CampaignProgress(Schema):
    """``waiting``: invited and not yet accepted; ``accepted``: judges who are there. ``done`` and ``total``:
    assignments without practice.
    """

    systems: int
    waiting: int
    accepted: int
    done: int
    total: int


class Work(Schema):
    """What the settings ask for: ``real`` judgements that count, ``every`` with controls and repeats."""

    real: int
    every: int
    per_judge: int | None


class ManagedCampaign(Schema):
    id: int
    track: str
    number: int
    state: str  # draft, open, closed or published
    is_judged_now: bool
    title_ko: str
    title_en: str
    notice_ko: str
    notice_en: str
    starts_at: datetime | None
    ends_at: datetime | None
    protocol: str
    rubric: int
    phase: int
    part: str
    item_count: int
    units_per_item: int
    judges_per_unit: int
    group_size: int
    control_percent: int
    repeat_percent: int
    calibration_count: int
    shows_input: bool
    shows_reference: bool
    min_seconds: int
    masked_words: list[str]
    resamples: int
    seed_sha256: str
    design_sha256: str
    opened_at: datetime | None
    closed_at: datetime | None
    published_at: datetime | None
    progress: CampaignProgress
    work: Work


class PublishedCampaign(PublishedResult):
    votes_sha256: str
    result_sha256: str


class OneCampaign(ManagedCampaign):
    publications: list[PublishedCampaign]


# --- what is evaluated ------------------------------------------------------------------------------------------------
class ChosenSystem(Schema):
    submission: uuid.UUID
    team: str
    team_number: int
    file_name: str
    institution: str
    unfit: str  # why it cannot be evaluated any more; empty: it can
    label: str | None  # null: not told before the closing


class ChosenSystems(Body):
    """Exactly these submissions, in their order. ``institutions``: by number of the team."""

    submissions: Annotated[list[uuid.UUID], Field(max_length=SYSTEMS_MOST)]
    institutions: dict[Number, Annotated[Text, Field(max_length=120)]] = {}


class Top(Body):
    count: Annotated[int, _within((SYSTEMS_LEAST, SYSTEMS_MOST))]
    with_baselines: bool = False


class SystemChoice(Schema):
    submission: uuid.UUID
    team: str
    team_number: int
    file_name: str
    submitted_at: datetime
    is_chosen: bool


class PracticeItems(Body):
    items: Annotated[list[dict[str, Any]], Field(min_length=1, max_length=ITEMS_MAX)]


class Practice(Schema):
    """``items``: those that the organiser wrote; without them ``count`` are made by rule."""

    count: int
    items: list[dict[str, Any]]


# --- planning ---------------------------------------------------------------------------------------------------------
class PlannedPanel(Schema):
    """What panels of this size give (``scoring.arena.planner``)."""

    rows: list[dict[str, Any]]


class Plan(Body):
    protocol: Protocol = "pairwise"
    systems: Annotated[int, _within(PLANNED["systems"])] = 10
    group: Annotated[int, _within(PLANNED["group"])] = 4
    judges: Annotated[int, _within(PLANNED["judges"])] = 20
    votes: Annotated[int, _within(PLANNED["votes"])] = 100
    items: Annotated[int, _within(PLANNED["items"])] = 200
    spread: Annotated[float, _within(RANGES["spread"])] = 0.5
    tie_percent: Annotated[int, _within(PLANNED["tie_percent"])] = 20
    order_effect: Annotated[float, _within(RANGES["order_effect"])] = 0.0
