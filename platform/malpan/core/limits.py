"""How many requests of a kind a minute, such as those of one address.

Counted in the cache by whole minutes. Where the cache is away nothing is counted, and it is not asked again for some
seconds: each answer that it does not give costs a thread.
"""

from __future__ import annotations

import ipaddress
import logging
import time
from dataclasses import dataclass
from typing import Final, TypeVar

from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from redis.exceptions import RedisError

from malpan.core.errors import TooManyRequests

Answer = TypeVar("Answer", bound=HttpResponseBase)

logger = logging.getLogger(__name__)

WINDOW: Final = 60  # seconds
AWAY: Final = 5.0  # seconds for which a cache that did not answer is left alone
_COUNTED: Final = "malpan.limits"  # in a request's META
_away_until = 0.0


@dataclass(frozen=True, slots=True)
class Use:
    """What of a limit is left in this minute, which ends in ``seconds``."""

    name: str
    limit: int
    left: int
    seconds: int


def count(
    request: HttpRequest, name: str, limit: int, who: str, *, refusal: type[TooManyRequests] = TooManyRequests
) -> None:
    """Count a request of ``who`` under ``name``. Raises ``refusal``; a ``limit`` of 0 is none."""
    if not limit or not who:
        return
    now = time.time()
    seconds = WINDOW - int(now) % WINDOW
    used = _counted(f"limits:{name}:{who}:{int(now) // WINDOW}")
    if used is None:
        return
    request.META.setdefault(_COUNTED, []).append(Use(name, limit, max(0, limit - used), seconds))
    if used > limit:
        raise refusal(limit=limit, seconds=seconds)


def network_of(request: HttpRequest) -> str:
    """Whom a limit by address counts; empty where the server knows no address."""
    return network(str(request.META.get("REMOTE_ADDR", "")))


def network(text: str) -> str:
    """The network of an address: an IPv4 address itself, or the /64 of an IPv6 one, which a single customer has whole
    (RFC 6177).
    """
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv4Address):
        return text
    mapped = address.ipv4_mapped
    return str(mapped or ipaddress.IPv6Network((int(address), 64), strict=False))


def say_limits(request: HttpRequest, response: Answer) -> Answer:
    """``response`` with what was counted for its request (``RateLimit``, ``RateLimit-Policy``)."""
    uses: list[Use] = request.META.get(_COUNTED, [])
    if uses:
        response["RateLimit-Policy"] = ", ".join(f'"{use.name}";q={use.limit};w={WINDOW}' for use in uses)
        response["RateLimit"] = ", ".join(f'"{use.name}";r={use.left};t={use.seconds}' for use in uses)
    return response


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
        logger.warning("requests cannot be counted", exc_info=True)
        return None
