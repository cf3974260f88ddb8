"""Signs of life of the chores and of beat, kept with the chores of the site: alerts are about their silence.

The chores say themselves that they are there. Beat has done its duty when a task that it ordered was done; so where the
chores are silent nothing is known of beat.
"""

from __future__ import annotations

import logging
import threading
from typing import Final

from django.db import connection

from malpan.core.chores import record_chore
from malpan.core.models import Chore
from malpan.jobs.outage import UNREACHABLE

EVERY_SECONDS: Final = 30.0

logger = logging.getLogger(__name__)


def keep_noting(name: Chore.Name) -> threading.Thread:
    """Note every ``EVERY_SECONDS`` that ``name`` is there, until this process ends, in a thread of its own."""
    thread = threading.Thread(target=_note_for_ever, args=(name,), name="signs", daemon=True)
    thread.start()
    return thread


def _note_for_ever(name: Chore.Name) -> None:
    pause = threading.Event()
    while True:
        try:
            record_chore(name=name, facts={})
        except UNREACHABLE:
            logger.warning("the database is unreachable; it will be told later that %s is alive", name)
            connection.close()
        pause.wait(EVERY_SECONDS)
