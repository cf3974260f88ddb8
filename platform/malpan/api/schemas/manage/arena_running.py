"""The opening, the closing and the publication of a human evaluation, as organisers see them."""

from __future__ import annotations

from typing import Any

from ninja import Schema

from malpan.api.schemas.kinds import Body, Line
from malpan.api.schemas.manage.stages import Sha256


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
