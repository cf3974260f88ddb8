"""The Celery task of teams."""

from __future__ import annotations

from celery import shared_task

from malpan.teams import telling


@shared_task
def tell_due() -> None:
    """Tell people what the clock made happen in their competitions."""
    telling.tell_due()
