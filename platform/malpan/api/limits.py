"""How many requests a minute: of one address, of one token, uploads of one team, and one person's lists of items."""

from __future__ import annotations

from django.conf import settings
from django.http import HttpRequest

from malpan.accounts.models import ApiToken, User
from malpan.core.limits import count, network_of
from malpan.teams.models import Team


def count_address(request: HttpRequest) -> None:
    """Raises ``TooManyRequests``, as the others."""
    count(request, "address", settings.API_REQUESTS_PER_ADDRESS, network_of(request))


def count_token(request: HttpRequest, token: ApiToken) -> None:
    count(request, "token", settings.API_REQUESTS_PER_TOKEN, str(token.pk))


def count_upload(request: HttpRequest, team: Team) -> None:
    """Before a byte of the file is read."""
    count(request, "team", settings.API_UPLOADS_PER_TEAM, str(team.pk))


def count_items(request: HttpRequest, user: User) -> None:
    """Together with the pages of the same (``web.pages.items``)."""
    count(request, "items", settings.ITEM_LISTS_PER_PERSON, str(user.pk))
