"""Backups by the clock: each in a folder named by its time, and only so many of them kept."""

from __future__ import annotations

import logging
import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Final

from django.utils import timezone

from malpan.operation.backup.errors import BackupError
from malpan.operation.backup.making import UNFINISHED, make_backup, only_one
from malpan.operation.backup.manifest import MANIFEST, Manifest

NAME: Final = "malpan-%Y-%m-%dT%H%M%S"
_NAMED: Final = re.compile(r"malpan-\d{4}-\d\d-\d\dT\d{6}")
_BROKEN_OFF: Final = re.compile(_NAMED.pattern + re.escape(UNFINISHED))

logger = logging.getLogger(__name__)


def make_dated_backup(shelf: Path, keep: int) -> tuple[Path, Manifest]:
    """Back the site up into a new folder in ``shelf``, named by the time; then remove all but the ``keep`` newest.

    What broke off before it is removed first: else a shelf that is full would stay so. No complete one is removed where
    the site lacks files that its database names: an older backup may have them. Raises as ``make_backup``.
    """
    _remove_broken_off(shelf)
    folder = shelf / timezone.localtime().strftime(NAME)
    made = make_backup(folder)
    if not made.missing_files:
        for old in dated_backups(shelf)[:-keep]:
            shutil.rmtree(old)
            logger.info("removed the backup %s", old.name)
    return folder, made


def dated_backups(shelf: Path) -> list[Path]:
    """The complete backups in ``shelf`` with a time as their name, the oldest first; nothing else that lies there."""
    return sorted(each for each in shelf.iterdir() if _NAMED.fullmatch(each.name) and (each / MANIFEST).is_file())


def _remove_broken_off(shelf: Path) -> None:
    """Remove what backups by the clock left unfinished, but one that is at work."""
    for each in sorted(shelf.iterdir()) if shelf.is_dir() else ():
        if _BROKEN_OFF.fullmatch(each.name) and each.is_dir():
            with suppress(BackupError), only_one(each):
                shutil.rmtree(each)
                logger.warning("removed the broken-off backup %s", each.name)
