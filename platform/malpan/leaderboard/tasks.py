"""The Celery tasks; each calls one function."""

from __future__ import annotations

from celery import shared_task

from malpan.leaderboard import standings
from malpan.leaderboard.sureness import queueing


@shared_task
def compute_standings() -> None:
    """Compute what changed on the boards, so that no reader waits for it; have a worker compute how sure they are."""
    standings.refresh_all()
    queueing.queue_due()
