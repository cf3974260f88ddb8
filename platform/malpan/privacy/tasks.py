"""The Celery task of the night."""

from __future__ import annotations

import logging

from celery import shared_task

from malpan.core.one_by_one import step_by_step
from malpan.privacy import records, redoing, retention

logger = logging.getLogger(__name__)


@shared_task
def let_go() -> None:
    """Remove personal data that are past their time, and those of people who were erased before a restore."""
    step_by_step("the steps of the night", _redo, retention.let_go, records.write_missing)


def _redo() -> None:
    """Before the others: whatever becomes of them, who was erased does not stay."""
    done = redoing.redo()
    if done.people or done.unreadable:
        logger.warning("erased again: %s; records under another key: %s", len(done.people), len(done.unreadable))
