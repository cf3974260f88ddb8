"""Celery's side: a task takes a primary key and calls one function. Queues are named in the settings."""

from __future__ import annotations

from celery import Task, shared_task

from submissions import reconciling, runs


@shared_task(bind=True)
def score_run(self: Task, run_id: int) -> None:
    """Score one run, unless it is finished, given up or in other hands by now."""
    runs.execute_run(run_id=run_id, worker=self.request.hostname or "")


@shared_task
def reconcile_runs() -> None:
    """Put right what the queue or a worker lost."""
    reconciling.reconcile()
