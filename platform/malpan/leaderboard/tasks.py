"""The Celery tasks; each calls one function."""

from __future__ import annotations

from celery import shared_task

from malpan.leaderboard import standings


@shared_task
def compute_standings() -> None:
    """Compute what changed on the boards, so that no reader waits for it."""
    standings.refresh_all()
