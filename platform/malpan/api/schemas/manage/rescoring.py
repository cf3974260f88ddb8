"""Rescoring: what is started, what would change, what is applied."""

from __future__ import annotations

import uuid
from datetime import datetime
from typing import Annotated, Any, Literal

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.kinds import Body, Key, Markdown, Moment, Number, Reason, Text


class Start(Body):
    phase: Key
    also: Annotated[list[Key], Field(max_length=100)] = []  # further phases of its track, applied together with it
    reason: Reason
    reference_version: Key | None = None  # of the phase; those of others stay
    recipe: Annotated[Text, Field(max_length=60)] = ""
    profile: Annotated[Text, Field(max_length=200)] = ""
    teams: Annotated[list[Number], Field(max_length=10_000)] = []  # by number; none: all
    since: Moment | None = None
    until: Moment | None = None
    state: Literal["", "finished", "waiting"] = ""  # empty: both
    signature_hash: Annotated[Text, Field(max_length=64)] = ""
    from_scratch: bool = False  # use no value that was computed before, but what judges answered


class Repeat(Body):
    submission: uuid.UUID
    repeats: Annotated[int, Field(ge=2, le=20)] = 3


class Order(Schema):
    """The newest order to apply it by itself."""

    state: str  # waiting, applied, withdrawn or refused
    guarded_places: int
    resets_quota: bool
    grants_slots: int
    leaves_other_phases: bool
    title_ko: str
    body_ko: str
    title_en: str
    body_en: str
    ordered_by: str  # a name
    ordered_at: datetime
    ended_at: datetime | None
    refusal: str  # why it was refused, in the language of the request; empty if it was not
    refusal_code: str


class Batch(Schema):
    id: int
    phase: int
    state: str  # running, ready, applied or cancelled
    reason: str
    reference_version: int | None
    recipe: str
    profile: str
    repeats: int
    from_scratch: bool
    selection: dict[str, Any]
    created_at: datetime
    closed_at: datetime | None
    finished: int
    running: int
    queued: int
    failed: int
    excluded: int
    late: int
    together: list[int] = []  # the rescorings that are applied and cancelled together, itself among them; none: alone
    order: Order | None = None


class Change(Schema):
    score: str
    label: str
    scale: int  # the pages show the values times it ...
    decimals: int  # ... with so many decimals
    count: int
    changed: int
    mean: float
    minimum: float
    maximum: float


class Move(Schema):
    team: str
    before: int | None
    after: int | None
    score_before: float | None
    score_after: float | None
    crossed: list[int]  # prize places


class Rescored(Schema):
    submission: uuid.UUID
    team: str
    before: dict[str, float] | None
    after: dict[str, float]
    hidden_before: dict[str, float] | None
    hidden_after: dict[str, float] | None


class Preview(Schema):
    seen: str  # to be sent when it is applied: what is applied is what was seen
    changes: list[Change]
    hidden_changes: list[Change]
    moves: list[Move]
    left_out: int  # scores that would leave the board
    items_before: int | None  # of the phase now; None without other references
    items_after: int | None
    count: int
    next: str | None
    rows: list[Rescored]


class Exclusion(Body):
    submission: uuid.UUID
    reason: Reason


class Choices(Body):
    resets_quota: bool = False
    grants_slots: Annotated[int, Field(ge=0, le=1000)] = 0
    title_ko: Annotated[Text, Field(max_length=200)] = ""  # of a notice; empty: none
    body_ko: Markdown = ""
    title_en: Annotated[Text, Field(max_length=200)] = ""
    body_en: Markdown = ""
    leaves_other_phases: bool = False


class Application(Choices):
    seen: Annotated[Text, Field(max_length=10_000)]  # of rescorings that are applied together: of each, with commas


class Ordered(Choices):
    guarded_places: Annotated[int, Field(ge=0, le=1000)] = 3  # not applied where their order changes; 0: always
