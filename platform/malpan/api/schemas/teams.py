"""A team as its members see it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ninja import Schema

from malpan.teams import models
from malpan.teams.invitations import masked
from malpan.teams.selectors import members_of, merge_asked, merges_offered, open_invitations


class Member(Schema):
    id: int
    name: str
    role: str  # leader or member
    joined_at: datetime


class Invitation(Schema):
    id: int
    email: str  # masked; empty: for whoever has the link
    created_at: datetime
    expires_at: datetime


class MadeInvitation(Invitation):
    token: str  # shown only here
    address: str  # the page on which it is used


class MergeRequest(Schema):
    id: int
    team: str  # the other one
    created_at: datetime


class Model(Schema):
    """What boards say of the team's model; each may be empty."""

    name: str
    size: str
    url: str
    paper: str


class Team(Schema):
    name: str
    number: int
    model: Model
    is_baseline: bool
    is_program: bool  # who takes part is one; its owner is the leader
    disqualified_at: datetime | None
    members: list[Member]
    invitations: list[Invitation]
    merge_asked: MergeRequest | None
    merges_offered: list[MergeRequest]


class OwnTeam(Schema):
    team: Team | None  # null: the caller is in none


def team(found: models.Team) -> dict[str, Any]:
    asked = merge_asked(found)
    return {
        "name": found.name,
        "number": found.number,
        "model": {
            "name": found.model_name,
            "size": found.model_size,
            "url": found.model_url,
            "paper": found.paper_url,
        },
        "is_baseline": found.is_baseline,
        "is_program": found.is_program,
        "disqualified_at": found.disqualified_at,
        "members": [member(each) for each in members_of(found)],
        "invitations": [invitation(each) for each in open_invitations(found)],
        "merge_asked": asked and merge_request(asked, asked.target),
        "merges_offered": [merge_request(each, each.source) for each in merges_offered(found)],
    }


def member(found: models.Membership) -> dict[str, Any]:
    return {"id": found.pk, "name": str(found.user), "role": found.role, "joined_at": found.joined_at}


def invitation(found: models.Invitation) -> dict[str, Any]:
    return {
        "id": found.pk,
        "email": masked(found.email) if found.email else "",
        "created_at": found.created_at,
        "expires_at": found.expires_at,
    }


def merge_request(found: models.MergeRequest, other: models.Team) -> dict[str, Any]:
    return {"id": found.pk, "team": other.name, "created_at": found.created_at}
