"""Awards, as organisers set and see them."""

from __future__ import annotations

from datetime import date, datetime
from typing import Annotated

from ninja import Schema
from pydantic import Field

from malpan.api.schemas.awards import GivenAward
from malpan.api.schemas.kinds import Body, Number, Slug, Text, Title

Called = Annotated[Text, Field(min_length=1, max_length=60)]


class AwardValues(Body):
    """What is not sent stays. ``track``: whose final result it rests on, ``null`` is none."""

    emptied = frozenset({"track"})

    team_number: Number | None = None
    title_ko: Called | None = None
    title_en: Title | None = None
    prize_ko: Title | None = None
    prize_en: Title | None = None
    awarded_on: date | None = None
    track: Slug | None = None


class NewAward(AwardValues):
    team_number: Number
    title_ko: Called
    awarded_on: date


class AwardPlace(Body):
    position: Annotated[int, Field(ge=1, le=32767)]  # from 1


class ManagedAward(GivenAward):
    id: int
    title_ko: str
    title_en: str
    prize_ko: str
    prize_en: str
    published_at: datetime | None  # null: only organisers see it
    is_disqualified: bool  # its team is, so nobody else sees it


class ProposedAward(Schema):
    team_number: int
    team: str
    rank: int
    sharing: int  # how many teams have this rank
    has_award: bool  # on this track
    title_ko: str
    title_en: str
