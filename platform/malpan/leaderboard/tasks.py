"""The Celery tasks; each calls one function."""

from __future__ import annotations

from celery import shared_task

from malpan.core.one_by_one import step_by_step
from malpan.leaderboard import day_boards, days, rescore_orders, standings
from malpan.leaderboard.sureness import queueing


@shared_task
def compute_standings() -> None:
    """Compute what changed on the boards, so that no reader waits for it; note the ranks of the day and keep
    the board with which the last one ended; have a worker compute how sure boards are.
    """
    step_by_step(
        "the steps of the boards",
        standings.refresh_all,
        days.keep_ranks,
        day_boards.keep_day_boards,
        queueing.queue_due,
    )


@shared_task
def apply_ordered() -> None:
    """Apply the rescoring batches that were ordered to be applied when they are ready."""
    rescore_orders.carry_out_due()
