"""Celery's side: a task calls one function, and its message holds nothing. Queues are named in the settings."""

from __future__ import annotations

from celery import Task, shared_task

from malpan.submissions.evaluation import pair_cache, reconciling, work


@shared_task(bind=True)
def score_next(self: Task) -> None:
    """Do the work whose turn it is, if any waits: a message says that there is work, not which."""
    work.do_next(worker=self.request.hostname or "")


@shared_task
def reconcile_runs() -> None:
    """Put right what the queue or a worker lost."""
    reconciling.reconcile()


@shared_task
def prune_pair_values() -> None:
    """Keep the store of pair values within its bound."""
    pair_cache.prune()
