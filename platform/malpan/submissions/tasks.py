"""The Celery tasks; each calls one function."""

from __future__ import annotations

from typing import Any, Final

from celery import shared_task

from malpan.competitions.media import half_unpacked
from malpan.core import storage
from malpan.core.errors import FilesInUse
from malpan.core.one_by_one import step_by_step
from malpan.core.storage import collecting
from malpan.core.temporary import remove_left, temporary_files
from malpan.submissions.evaluation import judge_budget, judge_values, pair_cache

BACKUP_PAUSE_SECONDS: Final = 1800
BACKUP_LASTS: Final = 40  # such pauses: the next night comes


@shared_task
def prune_pair_values() -> None:
    """Keep the store of pair values within its limit; forget what killed workers had reserved of a judge, and their
    turns at it.
    """
    step_by_step("the stores of values", pair_cache.prune, judge_budget.forget_reservations, judge_values.forget_turns)


@shared_task
def remove_unfinished_files() -> None:
    """Remove what killed processes left half written, uploaded or unpacked a day ago."""
    step_by_step(
        "the places of unfinished files",
        storage.remove_unfinished,
        lambda: remove_left(temporary_files()),
        lambda: remove_left(half_unpacked()),
    )


@shared_task(bind=True)
def collect_files(self: Any) -> None:
    """Remove the private files that no row names; while a backup is at work, later."""
    try:
        collecting.collect()
    except FilesInUse as error:
        # a message that is sent again ends when the first one did, unless it is given an end of its own
        again = {"countdown": BACKUP_PAUSE_SECONDS, "expires": 2 * BACKUP_PAUSE_SECONDS}
        raise self.retry(exc=error, max_retries=BACKUP_LASTS, **again) from error
