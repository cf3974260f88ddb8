"""Files of teams side by side, and judges beside people."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Any

from ninja import Schema


class Sender(Schema):
    submission: uuid.UUID
    team: str
    team_number: int
    track: str
    file_name: str
    submitted_at: datetime


class SharedFile(Schema):
    """A file that several teams sent, the first first. ``is_sample``: the organisers published it."""

    sha256: str
    is_sample: bool
    submissions: list[Sender]


class AlikePair(Schema):
    """``score`` 0-1; ``same`` of ``compared`` items have one text, ``only_theirs`` of these in no other file."""

    one: Sender
    other: Sender
    score: float
    same: int
    compared: int
    only_theirs: int


class Alike(Schema):
    """``unread`` of the ``teams`` files could not be read. ``computed_at``: when a worker compared them, null before it
    did. ``is_waiting``: a worker is to compare. ``is_current``: it compared the very files of now. ``has_failed``: the
    last comparison was given up.
    """

    teams: int
    unread: int
    computed_at: datetime | None
    is_waiting: bool
    is_current: bool
    has_failed: bool
    pairs: list[AlikePair]
    count: int  # of all pairs
    next: str | None


class AnswerPair(Schema):
    id: str
    one: str | None
    other: str | None
    is_same: bool


class JudgedSubmission(Sender):
    metric: str


class Agreement(Schema):
    """``figures``: ``pearson``, ``spearman`` and ``kappa`` with intervals, of how many ``items``."""

    id: int
    metric: str
    metric_signature: str
    judge: dict[str, Any]
    is_demo: bool
    figures: dict[str, Any]
    source: str
    created_at: datetime
