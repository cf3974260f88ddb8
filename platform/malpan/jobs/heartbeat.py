"""A worker process reports now and then that it is alive, and a few numbers, whether or not there is work.

Who is alive is in the database, as everything else of the queue is: it is known of every machine, without asking any.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Final

from django.db import connection
from django.db.models.functions import Now

from malpan.jobs.clock import database_now
from malpan.jobs.models import Worker
from malpan.jobs.outage import UNREACHABLE

logger = logging.getLogger(__name__)

BEAT_SECONDS: Final = 10.0
ALIVE: Final = timedelta(seconds=45)  # who said nothing for longer is taken for dead
FORGOTTEN: Final = timedelta(days=1)

Numbers = Callable[[], Mapping[str, float]]
Refusal = Callable[[], str]


def beat(name: str, numbers: Mapping[str, float], refusal: str = "") -> None:
    """Write that the process ``name`` is alive and, with a ``refusal``, why it takes no work."""
    now = database_now()
    row = Worker(name=name[:140], seen_at=now, numbers=dict(numbers), refusal=refusal)
    Worker.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["name"], update_fields=["seen_at", "numbers", "refusal"]
    )
    Worker.objects.filter(seen_at__lt=now - FORGOTTEN).delete()


def is_anybody_working() -> bool:
    """Whether a process that does jobs said lately that it is alive and takes work."""
    return Worker.objects.filter(seen_at__gte=Now() - ALIVE, refusal="").exists()


def keep_beating(name: str, numbers: Numbers, refusal: Refusal = str) -> threading.Thread:
    """Beat every ``BEAT_SECONDS`` until this process ends, in a thread with a database connection of its own."""
    thread = threading.Thread(target=_beat_for_ever, args=(name, numbers, refusal), name="heartbeat", daemon=True)
    thread.start()
    return thread


def _beat_for_ever(name: str, numbers: Numbers, refusal: Refusal) -> None:
    pause = threading.Event()
    while True:
        try:
            beat(name, numbers(), refusal())
        except UNREACHABLE:
            logger.warning("%s: the database is unreachable; it will be told later that this worker is alive", name)
            connection.close()
        pause.wait(BEAT_SECONDS)
