"""The Celery tasks of this app."""

from __future__ import annotations

from celery import shared_task

from malpan.core.chores import record_chore
from malpan.core.models import Chore
from malpan.operation import incidents


@shared_task
def note_beat() -> None:
    """Beat ordered this, so it is at work."""
    record_chore(name=Chore.Name.BEAT, facts={})


@shared_task
def follow_alarms() -> None:
    """Tell staff what is wrong with the site."""
    incidents.follow()
