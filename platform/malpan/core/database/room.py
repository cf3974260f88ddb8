"""When the database last said that its disk has no room: it can still be read, and no other check notices.

In the cache, which works while the database cannot write; of all processes.
"""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Final

from django.core.cache import cache
from django.utils import timezone
from redis.exceptions import RedisError

logger = logging.getLogger(__name__)

KEPT_SECONDS: Final = 300  # the programs try to write at least each half minute

_KEY: Final = "database:no-room"


def note_no_room() -> None:
    """The database has just refused something for want of room. A cache that is away hides nothing of that."""
    try:
        cache.set(_KEY, timezone.now(), KEPT_SECONDS)
    except (RedisError, OSError):
        logger.warning("that the database has no room could not be noted", exc_info=True)


def no_room_at() -> datetime | None:
    """When it last refused something; ``None``: not in ``KEPT_SECONDS``, or the cache is away."""
    try:
        found: datetime | None = cache.get(_KEY)
    except (RedisError, OSError):
        return None
    return found
