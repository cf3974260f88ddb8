"""Phases: times and limits, board, split, final board."""

from __future__ import annotations

import uuid
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Literal

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Line, Moment, Name, Slug, Small, Text, Title

BoardStates = Literal["live", "frozen", "hidden"]


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
