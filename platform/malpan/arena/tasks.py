"""The Celery task of human evaluation."""

from __future__ import annotations

from celery import shared_task

from malpan.arena import reminders


@shared_task
def remind_due() -> None:
    """Remind judges of campaigns that end soon."""
    reminders.remind_due()
