"""What the alarms are about, at a moment: read for the operators' page, and by the clock."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from redis.exceptions import RedisError

from malpan.core.chores import last_chores
from malpan.core.database.room import no_room_at
from malpan.core.mail_state import MailState, mail_state
from malpan.jobs.heartbeat import scorers
from malpan.operation.site_page import facts


def facts_of_alarms(now: datetime) -> dict[str, Any]:
    """What ``alarms`` takes. Five queries, of small tables."""
    return {
        "scorers": scorers(),
        "lanes": facts.lanes(now),
        "lacking": facts.lacking_models(),
        "held": facts.held(),
        "disk": facts.disk(),
        "is_store_held": facts.is_store_held(),
        "mail": _mail(),
        "no_room_at": no_room_at(),
        "chores": last_chores(),
        "now": now,
    }


def _mail() -> MailState | None:
    try:
        return mail_state()
    except RedisError:
        return None
