"""Backups by the clock: each in a folder named by its time, and only so many of them kept."""

from __future__ import annotations

import logging
import re
import shutil
from pathlib import Path
from typing import Final

from django.utils import timezone

from malpan.operation.backup.making import make_backup
from malpan.operation.backup.manifest import MANIFEST, Manifest

NAME: Final = "malpan-%Y-%m-%dT%H%M%S"
_NAMED: Final = re.compile(r"malpan-\d{4}-\d\d-\d\dT\d{6}")

logger = logging.getLogger(__name__)


def make_dated_backup(shelf: Path, keep: int) -> tuple[Path, Manifest]:
    """Back the site up into a new folder in ``shelf``, named by the time; then remove all but the ``keep`` newest.

    Nothing is removed where the site lacks files that its database names: an older backup may have them. Raises as
    ``make_backup``.
    """
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
