"""Reference versions and what differs between two."""

from __future__ import annotations

from datetime import datetime

from ninja import Schema

from malpan.api.schemas.kinds import Body, Markdown


class ReferenceVersion(Schema):
    id: int
    phase: int
    number: int
    state: str  # current, draft or past
    item_count: int
    public_items: int | None
    note: str
    erratum_ko: str
    erratum_en: str
    file_sha256: str
    media_sha256: str  # of the frames; empty without any
    synonyms_sha256: str  # empty: the table of the instrument
    created_at: datetime
    published_at: datetime | None
    warnings: list[str] = []


class ReferenceChange(Schema):
    id: str
    question: str
    old: list[str]
    new: list[str]


class ReferenceDiff(Schema):
    changed: list[ReferenceChange]
    added: list[ReferenceChange]
    removed: list[ReferenceChange]
    unchanged_count: int


class Erratum(Body):
    erratum_ko: Markdown
    erratum_en: Markdown = ""
