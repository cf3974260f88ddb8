"""How many requests a minute: of one address, of one token, and uploads of one team."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from malpan.accounts.models import ApiToken
from malpan.core.limits import count, network_of
from malpan.teams.models import Team


def count_address(request: HttpRequest) -> None:
    """Raises ``TooManyRequests``, as the other two."""
    count(request, "address", settings.API_REQUESTS_PER_ADDRESS, network_of(request))


def count_token(request: HttpRequest, token: ApiToken) -> None:
    count(request, "token", settings.API_REQUESTS_PER_TOKEN, str(token.pk))


def count_upload(request: HttpRequest, team: Team) -> None:
    """Before a byte of the file is read."""
    count(request, "team", settings.API_UPLOADS_PER_TEAM, str(team.pk))
