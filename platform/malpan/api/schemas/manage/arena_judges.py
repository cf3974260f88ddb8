"""Judges, as organisers see them. Who they are is nowhere here: that never leaves the manage pages."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Number, Reason, Text


class NewJudge(Body):
    email: Annotated[Text, Field(max_length=254)]
    institution: Annotated[Text, Field(max_length=120)] = ""  # judges from where a team is never see its outputs


class ManagedJudge(Schema):
    """``id`` is in the answer to the invitation; who it is, the manage pages say. ``barred``: of ``done``, those with
    a system that they may not see any more. ``near_teams``: the numbers of teams that a judge invited after the opening
    does not see, as the names of their institutions are alike, until ``clearJudge`` says that these are two.
    ``declared_alone``: those of teams that the judge declared and ``barJudge`` did not name; if they leave too few
    systems, the campaign does not open (``declared_too_much``) until ``barJudge`` names them or the judge is removed.
    ``told_at``: when the judge last wrote to the organisers; what, the manage page of the judge says.
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
    near_teams: list[int]
    declared_alone: list[int]
    told_at: datetime | None


class Reminded(Schema):
    """``told``: judges who were written to; ``told_before``: those who were within the last 24 hours."""

    told: int
    told_before: int


class Bar(Body):
    team_numbers: Annotated[list[Number], Field(min_length=1, max_length=50)]
    reason: Reason


class Cleared(Body):
    team_numbers: Annotated[list[Number], Field(min_length=1, max_length=50)]


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
