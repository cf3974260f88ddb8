"""What teams have left: grants, refunds and resets."""

from __future__ import annotations

import uuid
from datetime import date, datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Reason, Slug


class Grant(Body):
    slots: Annotated[int, Field(ge=1, le=100)]
    reason: Reason
    day: date | None = None  # of Korea; null: for the phase


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
