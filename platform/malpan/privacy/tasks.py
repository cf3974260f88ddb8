"""The Celery task of the night."""

from __future__ import annotations

from celery import shared_task

from malpan.privacy import retention


@shared_task
def let_go() -> None:
    """Remove personal data that are past their time."""
    retention.let_go()
