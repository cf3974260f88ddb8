"""The Celery task of the night."""

from __future__ import annotations

import logging

from celery import shared_task

from malpan.privacy import records, redoing, retention

logger = logging.getLogger(__name__)


@shared_task
def let_go() -> None:
    """Remove personal data that are past their time, and those of people who were erased before a restore."""
    done = redoing.redo()  # first: whatever else fails, who was erased does not stay
    if done.people or done.unreadable:
        logger.warning("erased again: %s; records under another key: %s", len(done.people), len(done.unreadable))
    try:
        retention.let_go()
    finally:
        records.write_missing()
