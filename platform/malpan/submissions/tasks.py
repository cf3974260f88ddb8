"""The Celery tasks; each calls one function."""

from __future__ import annotations

from celery import shared_task

from malpan.competitions.media import half_unpacked
from malpan.core import storage
from malpan.core.storage import collecting
from malpan.core.temporary import remove_left, temporary_files
from malpan.submissions.evaluation import judge_budget, judge_values, pair_cache


@shared_task
def prune_pair_values() -> None:
    """Keep the store of pair values within its limit; forget what killed workers had reserved of a judge, and their
    turns at it.
    """
    pair_cache.prune()
    judge_budget.forget_reservations()
    judge_values.forget_turns()


@shared_task
def remove_unfinished_files() -> None:
    """Remove what killed processes left half written, uploaded or unpacked a day ago."""
    storage.remove_unfinished()
    remove_left([*temporary_files(), *half_unpacked()])


@shared_task
def collect_files() -> None:
    """Remove the private files that no row names."""
    collecting.collect()
