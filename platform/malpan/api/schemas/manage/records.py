"""Roles, the audit log, the archive, and what a check of the chain found."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Text

RoleName = Literal["owner", "organiser", "operator", "viewer"]


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


class ImportedCompetition(Schema):
    """``counts``: rows by kind; ``missing_files``: those that the archive lacks."""

    slug: str
    title_ko: str
    counts: dict[str, int]
    new_people: int
    missing_files: int
    has_references: bool
