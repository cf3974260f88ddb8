"""How many requests a minute: of one address, of one token, and uploads of one team.

Counted in the cache by whole minutes. Where the cache is away nothing is counted, and it is not asked again for some
seconds: each answer that it does not give costs a thread.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from redis.exceptions import RedisError

from malpan.accounts.models import ApiToken
from malpan.api.errors import TooManyRequests
from malpan.teams.models import Team

logger = logging.getLogger(__name__)

WINDOW: Final = 60  # seconds
AWAY: Final = 5.0  # seconds for which a cache that did not answer is left alone
_COUNTED: Final = "malpan.api_limits"  # in a request's META
_away_until = 0.0


@dataclass(frozen=True, slots=True)
class Use:
    """What of a limit is left in this minute, which ends in ``seconds``."""

    name: str
    limit: int
    left: int
    seconds: int


def count_address(request: HttpRequest) -> None:
    """Raises ``TooManyRequests``, as the other two."""
    _count(request, "address", settings.API_REQUESTS_PER_ADDRESS, request.META.get("REMOTE_ADDR", ""))


def count_token(request: HttpRequest, token: ApiToken) -> None:
    _count(request, "token", settings.API_REQUESTS_PER_TOKEN, str(token.pk))


def count_upload(request: HttpRequest, team: Team) -> None:
    """Before a byte of the file is read."""
    _count(request, "team", settings.API_UPLOADS_PER_TEAM, str(team.pk))


def say_limits(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    """``response`` with what was counted for its request (``RateLimit``, ``RateLimit-Policy``)."""
    uses: list[Use] = request.META.get(_COUNTED, [])
    if uses:
        response["RateLimit-Policy"] = ", ".join(f'"{use.name}";q={use.limit};w={WINDOW}' for use in uses)
        response["RateLimit"] = ", ".join(f'"{use.name}";r={use.left};t={use.seconds}' for use in uses)
    return response


def _count(request: HttpRequest, name: str, limit: int, who: str) -> None:
    if not limit or not who:
        return
    now = time.time()
    seconds = WINDOW - int(now) % WINDOW
    count = _counted(f"api:{name}:{who}:{int(now) // WINDOW}")
    if count is None:
        return
    request.META.setdefault(_COUNTED, []).append(Use(name, limit, max(0, limit - count), seconds))
    if count > limit:
        raise TooManyRequests(limit=limit, seconds=seconds)


def _counted(key: str) -> int | None:
    """How often ``key`` was counted, this time included; ``None`` where nobody counts."""
    global _away_until
    if time.monotonic() < _away_until:
        return None
    try:
        cache.add(key, 0, timeout=2 * WINDOW)
        return int(cache.incr(key))
    except (RedisError, OSError, ValueError):
        _away_until = time.monotonic() + AWAY
        logger.warning("requests of the API cannot be counted", exc_info=True)
        return None
