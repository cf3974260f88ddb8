"""A refusal, as RFC 9457 has it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Schema


class Problem(Schema):
    type: str
    title: str
    status: int
    detail: str
    code: str
    kind: str
    total: int | None = None  # of the errors, of which errors has the first: a hundred, or fewer where they are long
    errors: list[dict[str, Any]] | None = None
    limit_kind: str | None = None
    next_allowed_at: datetime | None = None
    submission: str | None = None
    error: dict[str, Any]  # the same, as before problem documents
