"""Submissions and their runs, as organisers see them."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Key


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
