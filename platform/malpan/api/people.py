"""Who calls."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.translation import gettext_noop as _
from ninja import Schema

from malpan.api.frame import ApiRequest, Operations
from malpan.competitions.models import CompetitionRole
from malpan.teams.models import Membership

operations = Operations(_("나"))


class OwnToken(Schema):
    label: str
    prefix: str
    scopes: list[str]
    created_at: datetime
    expires_at: datetime | None  # null: never
    last_used_at: datetime | None  # before this request, to the minute


class OwnMembership(Schema):
    competition: str
    team: str
    role: str


class OwnRole(Schema):
    competition: str
    role: str


class Me(Schema):
    email: str
    name: str
    token: OwnToken
    teams: list[OwnMembership]
    roles: list[OwnRole]


@operations.get("/whoami/", "whoami", _("토큰의 주인과 쓸 곳, 내 팀과 역할"), Me)
def whoami(request: ApiRequest) -> Any:
    person, token = request.auth.person, request.auth.token
    teams = Membership.objects.filter(user=person).select_related("team", "competition").order_by("joined_at", "pk")
    roles = CompetitionRole.objects.filter(user=person).select_related("competition").order_by("created_at", "pk")
    names = ("label", "prefix", "scopes", "created_at", "expires_at", "last_used_at")
    return {
        "email": person.email,
        "name": person.name,
        "token": {name: getattr(token, name) for name in names},
        "teams": [{"competition": row.competition.slug, "team": row.team.name, "role": row.role} for row in teams],
        "roles": [{"competition": row.competition.slug, "role": row.role} for row in roles],
    }
