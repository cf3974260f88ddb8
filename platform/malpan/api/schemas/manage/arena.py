"""Human evaluation, as organisers set and see it. Who judges is nowhere here: that never leaves the manage pages."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Key, Line, Markdown, Moment, Name, Number, Reason, Text, Title
from malpan.api.schemas.manage.stages import PublishedResult, Sha256
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


# --- judges -----------------------------------------------------------------------------------------------------------
class NewJudge(Body):
    email: Annotated[Text, Field(max_length=254)]
    institution: Annotated[Text, Field(max_length=120)] = ""  # judges from where a team is never see its outputs


class ManagedJudge(Schema):
    """``id`` is in the answer to the invitation; who it is, the manage pages say. ``barred``: of ``done``, those with
    a system that they may not see any more.
    """

    id: int
    state: str  # waiting, expired, accepted, ready or removed
    invited_at: datetime
    accepted_at: datetime | None
    consented_at: datetime | None
    calibrated_at: datetime | None
    removed_at: datetime | None
    done: int
    total: int
    barred: int


class Reminded(Schema):
    """``told``: judges who were written to; ``told_before``: those who were within the last 24 hours."""

    told: int
    told_before: int


class Bar(Body):
    team_numbers: Annotated[list[Number], Field(min_length=1, max_length=50)]
    reason: Reason


class Removal(Body):
    reason: Reason
    accepts_loss: bool = False  # what nobody else may take over becomes void


class Moved(Schema):
    moved: int  # assignments that others got


class ShownJudgement(Schema):
    """``value`` with the labels of ``systems`` in their order: only where the scores are opened."""

    id: int
    place: int
    kind: str  # real, control or repeat
    seconds: int
    is_excluded: bool
    systems: list[str] | None
    value: dict[str, Any] | None


# --- running ----------------------------------------------------------------------------------------------------------
class NearInstitution(Schema):
    """A judge and a team whose institutions have names that are alike and not the same: nobody is barred for it."""

    judge: int
    team_number: int


class PlannedDesign(Schema):
    """The design that opening now would give. ``balance``: the figures of ``scoring.arena.balance``."""

    systems: int
    items: int
    judges: int
    assignments: int
    per_judge_least: int
    per_judge_most: int
    balance: dict[str, Any]
    near: list[NearInstitution]


class Influence(Schema):
    """What the standing would be without the judge. ``tau``: Kendall's, to the standing with all."""

    rank_change: int
    first_changes: bool
    tau: float | None


class JudgeFigures(Schema):
    id: int
    done: int
    total: int
    median_seconds: float | None
    too_fast: int
    controls: int | None
    control_failures: int | None
    repeats: int | None
    consistency: float | None
    agreement: float | None
    first_share: float | None
    flags: list[str]
    influence: Influence | None  # only where the scores are opened


class CheckFigures(Schema):
    """Controls of a rule, all controls (``control``) or ``repeat``; ``parts``: failed and all in thirds of queues."""

    name: str
    failed: int
    count: int
    judges: int
    judges_failed: int
    parts: list[tuple[int, int]]


class CampaignQuality(Schema):
    """Without anything that says which system leads. ``of``: the moment of the judgements that figures and agreement
    are of, ``null``: of all; ``is_computing``: those of all are under way.
    """

    done: int
    total: int
    judges: list[JudgeFigures]
    agreement: list[dict[str, Any]] | None
    balance: dict[str, Any]
    checks: list[CheckFigures]
    of: datetime | None
    is_computing: bool
    has_failed: bool
    has_opened_scores: bool


class Why(Body):
    reason: Reason


class CurrentScores(Schema):
    """``document``: a result as it is published. ``of`` and ``is_computing`` as in ``CampaignQuality``."""

    document: dict[str, Any]
    of: datetime | None
    is_computing: bool


class ExclusionEffect(Schema):
    """What an exclusion would change. ``moved``: label and both ranks; empty while the scores are not opened."""

    votes_before: int
    votes_after: int
    ranks_changed: int
    largest_score_change: float
    moved: list[tuple[str, int, int]]
    of: datetime | None
    is_computing: bool


class ManagedExclusion(Schema):
    id: int
    judge: int | None
    judgement: int | None
    reason: str
    by: str
    created_at: datetime
    lifted_at: datetime | None
    lifted_by: str | None
    lift_reason: str


class Closing(Body):
    accepts_open: bool = False  # what is not judged becomes void


class ComputedResult(Schema):
    """The result as it would be published now. ``gone``: teams in the published one that do not count any more;
    ``back``: those left out of it that count again.
    """

    result_sha256: str
    votes_sha256: str
    document: dict[str, Any]
    published: int | None
    is_published_so: bool
    gone: list[str]
    back: list[str]


class CampaignPublication(Body):
    result_sha256: Sha256
    note_ko: Line = ""
    note_en: Line = ""


class MetricsComparison(Schema):
    """``document``: metrics held against the newest published result; ``null``: not computed yet."""

    document: dict[str, Any] | None
    is_computing: bool


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
