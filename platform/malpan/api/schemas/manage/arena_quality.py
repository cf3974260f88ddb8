"""The quality of a human evaluation and its exclusions, as organisers see them."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Schema

from malpan.api.schemas.kinds import Body, Reason


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
