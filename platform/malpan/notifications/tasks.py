"""The Celery task of the outbox."""

from __future__ import annotations

from celery import shared_task

from malpan.notifications import sending


@shared_task
def deliver() -> None:
    """Send the letters that are due."""
    sending.deliver_due()
