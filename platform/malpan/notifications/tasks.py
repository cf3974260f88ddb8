"""The Celery tasks of the outbox."""

from __future__ import annotations

from celery import shared_task

from malpan.notifications import sending, webhooks


@shared_task
def deliver() -> None:
    """Send the mails that are due."""
    sending.deliver_due()


@shared_task
def deliver_webhooks() -> None:
    """Send what is due to the endpoints of people."""
    webhooks.deliver_due()
