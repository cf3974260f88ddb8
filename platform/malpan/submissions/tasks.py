"""The Celery tasks; each calls one function."""

from __future__ import annotations

from celery import shared_task

from malpan.core import storage
from malpan.core.storage import collecting
from malpan.submissions.evaluation import pair_cache


@shared_task
def prune_pair_values() -> None:
    """Keep the store of pair values within its limit."""
    pair_cache.prune()


@shared_task
def remove_unfinished_files() -> None:
    """Remove what killed processes left half written."""
    storage.remove_unfinished()


@shared_task
def collect_files() -> None:
    """Remove the private files that no row names."""
    collecting.collect()
