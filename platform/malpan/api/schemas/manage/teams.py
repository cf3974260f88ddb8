"""Teams, as organisers see and change them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Line, Reason, Text


class NewTeam(Body):
    name: Text
    email: Annotated[Text, Field(max_length=254)]  # of its leader, who has an account
    is_baseline: bool = False


class ManagedTeam(Schema):
    number: int
    name: str
    is_baseline: bool
    is_program: bool
    disqualified_at: datetime | None
    note_ko: str
    note_en: str
    merged_into: int | None
    members: list[dict[str, Any]]
    submissions: int


class TeamChange(Body):
    name: Text | None = None
    is_baseline: bool | None = None
    is_program: bool | None = None


class Disqualification(Body):
    note_ko: Reason  # everybody sees it
    note_en: Line = ""


class Reinstatement(Body):
    reason: Line = ""
