"""What organisers set and see."""

from __future__ import annotations

import uuid
from datetime import date, datetime
from decimal import Decimal
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Key, Moment, Name, Number, Reason, Slug, Small, Text

Markdown = Annotated[Text, Field(max_length=50_000)]
Title = Annotated[Text, Field(max_length=120)]
Line = Annotated[Text, Field(max_length=300)]
BoardStates = Literal["live", "frozen", "hidden"]
FileKind = Literal["data", "sample", "document"]
RoleName = Literal["owner", "organiser", "operator", "viewer"]


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


class PhaseSettings(Body):
    """What is not sent stays. ``daily_limit``, ``total_limit``, ``public_percent``, ``finals_limit``, ``score_step``:
    ``null`` is none.
    """

    emptied = frozenset({"daily_limit", "total_limit", "frozen_at", "public_percent", "finals_limit", "score_step"})

    title_ko: Name | None = None
    title_en: Title | None = None
    starts_at: Moment | None = None
    ends_at: Moment | None = None
    daily_limit: Small | None = None
    total_limit: Small | None = None
    min_interval_seconds: Annotated[int, Field(ge=0, le=366 * 24 * 3600)] | None = None
    frozen_at: Moment | None = None
    board: BoardStates | None = None
    shows_own_score: bool | None = None
    public_percent: Annotated[int, Field(ge=1, le=99)] | None = None
    private_covers_all: bool | None = None
    finals_limit: Small | None = None
    counting: Literal["best", "latest", "chosen"] | None = None
    counting_score: Annotated[Text, Field(max_length=60)] | None = None
    score_step: Annotated[Decimal, Field(gt=0, le=Decimal("0.1"), max_digits=7, decimal_places=6)] | None = None
    is_ladder: bool | None = None
    ties: Literal["band", "shared", "none"] | None = None
    item_scores: Literal["closed", "binned", "open"] | None = None
    position: Small | None = None


class NewPhase(PhaseSettings):
    slug: Slug
    title_ko: Name
    starts_at: Moment
    ends_at: Moment


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


class ManagedPhase(Schema):
    id: int
    track: str
    slug: str
    title_ko: str
    title_en: str
    starts_at: datetime
    ends_at: datetime
    daily_limit: int | None
    total_limit: int | None
    min_interval_seconds: int
    board: str
    frozen_at: datetime | None
    shows_own_score: bool
    public_percent: int | None
    private_covers_all: bool
    finals_limit: int | None
    counting: str
    counting_score: str
    score_step: float | None
    is_ladder: bool
    ties: str
    item_scores: str
    position: int
    final_published_at: datetime | None
    references: int | None  # the number of the current version
    items: int | None
    public_items: int | None  # null: every item is public


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


class BoardState(Body):
    board: BoardStates


class Split(Body):
    """``public_ids``: these items are public; ``[]``: all are; absent: by the share of the phase."""

    public_ids: Annotated[list[Text], Field(max_length=100_000)] | None = None
    replaces: bool = False  # although submissions count, whose scores leave the board until they are scored again


class FinalPublication(Body):
    confirm: Slug  # the slug of the phase
    note_ko: Line = ""
    note_en: Line = ""


class PublishedBoard(Schema):
    snapshot: int
    sha256: str
    rows: int
    published_at: datetime


class FinalRow(Schema):
    rank: int | None
    team: str
    submission: uuid.UUID
    final_score: float
    scores: dict[str, float]
    submission_count: int
    public_rank: int | None
    public_score: float | None


class FinalPreview(Schema):
    """The final board as it would be published now."""

    rows: list[FinalRow]
    excluded_count: int
    unfinished: int


class ReferenceVersion(Schema):
    id: int
    phase: int
    number: int
    state: str  # current, draft or past
    item_count: int
    public_items: int | None
    note: str
    erratum_ko: str
    erratum_en: str
    file_sha256: str
    media_sha256: str
    created_at: datetime
    published_at: datetime | None
    warnings: list[str] = []


class ReferenceChange(Schema):
    id: str
    question: str
    old: list[str]
    new: list[str]


class ReferenceDiff(Schema):
    changed: list[ReferenceChange]
    added: list[ReferenceChange]
    removed: list[ReferenceChange]
    unchanged_count: int


class Erratum(Body):
    erratum_ko: Markdown
    erratum_en: Markdown = ""


class Start(Body):
    phase: Key
    reason: Reason
    reference_version: Key | None = None
    recipe: Annotated[Text, Field(max_length=60)] = ""
    profile: Annotated[Text, Field(max_length=200)] = ""
    teams: Annotated[list[Number], Field(max_length=10_000)] = []  # by number; none: all
    since: Moment | None = None
    until: Moment | None = None
    state: Literal["", "finished", "waiting"] = ""  # empty: both
    signature_hash: Annotated[Text, Field(max_length=64)] = ""


class Repeat(Body):
    submission: uuid.UUID
    repeats: Annotated[int, Field(ge=2, le=20)] = 3


class Batch(Schema):
    id: int
    phase: int
    state: str  # running, ready, applied or cancelled
    reason: str
    reference_version: int | None
    recipe: str
    profile: str
    repeats: int
    selection: dict[str, Any]
    created_at: datetime
    closed_at: datetime | None
    finished: int
    running: int
    queued: int
    failed: int
    excluded: int
    late: int


class Change(Schema):
    score: str
    count: int
    changed: int
    mean: float
    minimum: float
    maximum: float


class Move(Schema):
    team: str
    before: int | None
    after: int | None
    score_before: float | None
    score_after: float | None
    crossed: list[int]  # prize places


class Rescored(Schema):
    submission: uuid.UUID
    team: str
    before: dict[str, float] | None
    after: dict[str, float]
    hidden_before: dict[str, float] | None
    hidden_after: dict[str, float] | None


class Preview(Schema):
    seen: str  # to be sent when it is applied: what is applied is what was seen
    changes: list[Change]
    hidden_changes: list[Change]
    moves: list[Move]
    left_out: int  # scores that would leave the board
    count: int
    next: str | None
    rows: list[Rescored]


class Exclusion(Body):
    submission: uuid.UUID
    reason: Reason


class Application(Body):
    seen: Annotated[Text, Field(max_length=200)]
    resets_quota: bool = False
    grants_slots: Annotated[int, Field(ge=0, le=1000)] = 0
    title_ko: Annotated[Text, Field(max_length=200)] = ""  # of a notice; empty: none
    body_ko: Markdown = ""
    title_en: Annotated[Text, Field(max_length=200)] = ""
    body_en: Markdown = ""
    leaves_other_phases: bool = False


class Grant(Body):
    slots: Annotated[int, Field(ge=1, le=100)]
    reason: Reason
    day: date | None = None  # of Korea; null: for the phase


class Because(Body):
    reason: Reason


class ResetAll(Body):
    reason: Reason
    confirm: Slug  # the slug of the phase


class Refund(Body):
    submission: uuid.UUID
    reason: Reason


class QuotaLine(Schema):
    kind: str
    moment: datetime
    slots: int | None
    day: date | None
    reason: str
    submission: uuid.UUID | None
    actor: str | None


class NewTeam(Body):
    name: Text
    email: Annotated[Text, Field(max_length=254)]  # of its leader, who has an account
    is_baseline: bool = False


class ManagedTeam(Schema):
    number: int
    name: str
    is_baseline: bool
    disqualified_at: datetime | None
    note_ko: str
    note_en: str
    merged_into: int | None
    members: list[dict[str, Any]]
    submissions: int


class TeamChange(Body):
    name: Text | None = None
    is_baseline: bool | None = None


class Disqualification(Body):
    note_ko: Reason  # everybody sees it
    note_en: Line = ""


class Reinstatement(Body):
    reason: Line = ""


class ManagedSubmission(Schema):
    id: uuid.UUID
    team: str
    team_number: int
    track: str
    phase: str
    file_name: str
    file_sha256: str
    file_size: int
    format: str
    item_count: int
    submitted_at: datetime
    state: str | None
    final_score: float | None
    scores: dict[str, float]
    hidden_final_score: float | None
    warnings: int
    refunded_at: datetime | None
    withdrawn_at: datetime | None
    is_final_choice: bool


class ManagedRun(Schema):
    id: int
    submission: uuid.UUID
    team: str
    track: str
    state: str
    error: str
    batch: int | None
    queued_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    progress: float


class Queue(Schema):
    queued: int
    queued_everywhere: int
    running: int
    oldest_queued_at: datetime | None
    finished_last_hour: int
    failed_last_hour: int
    mean_seconds: float | None


class RunIds(Body):
    runs: Annotated[list[Key], Field(min_length=1, max_length=1000)]


class RefusedRun(Schema):
    run: int
    code: str
    message: str


class RetriedRuns(Schema):
    runs: list[int]  # the new ones
    refused: list[RefusedRun]


class NoticeText(Body):
    title_ko: Annotated[Text, Field(min_length=1, max_length=200)]
    title_en: Annotated[Text, Field(max_length=200)] = ""
    body_ko: Annotated[Text, Field(min_length=1, max_length=50_000)]
    body_en: Markdown = ""
    is_pinned: bool = False
    published_at: Moment | None = None  # absent: now


class NoticeChange(Body):
    title_ko: Annotated[Text, Field(min_length=1, max_length=200)] | None = None
    title_en: Annotated[Text, Field(max_length=200)] | None = None
    body_ko: Annotated[Text, Field(min_length=1, max_length=50_000)] | None = None
    body_en: Markdown | None = None
    is_pinned: bool | None = None
    published_at: Moment | None = None


class Answer(Body):
    answer_ko: Text
    answer_en: Text = ""
    is_public: bool = False


class Role(Schema):
    id: int
    email: str
    name: str
    role: str
    created_at: datetime


class Appointment(Body):
    email: Annotated[Text, Field(max_length=254)]
    role: RoleName


class RoleChange(Body):
    role: RoleName


class AuditEntry(Schema):
    id: int
    moment: datetime
    actor: str | None  # null: the site itself
    person: str | None
    action: str
    object_type: str
    object_id: str
    before: dict[str, Any]
    after: dict[str, Any]


class Export(Body):
    passphrase: Annotated[Text, Field(max_length=1000)] = ""  # encrypts the references, which are left out without it


class Verification(Schema):
    is_sound: bool
    findings: list[str]
    finding_count: int
    entries: int
