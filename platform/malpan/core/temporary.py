"""The site's own temporary folder, and how what killed processes left of their files is removed.

``manage.py up`` names the folder to its programs as ``TMPDIR``, so that files have their place in it while they are
uploaded, and empties it at the start. Elsewhere each program has a ``/tmp`` of its own (units of systemd, containers).
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path

from django.conf import settings

from malpan.core.one_by_one import one_by_one
from malpan.core.storage import ABANDONED


def temporary_folder() -> Path:
    """The folder ``tmp`` of the site; made if it is missing."""
    _path().mkdir(mode=0o700, parents=True, exist_ok=True)
    return _path()


def temporary_files() -> Iterator[Path]:
    """The files and folders in it, none where it is missing: a container may not write there."""
    return _path().glob("*")


def remove_left(paths: Iterable[Path], older_than: timedelta = ABANDONED) -> int:
    """Remove those files and folders that nobody has changed for so long; how many there were."""
    latest = time.time() - older_than.total_seconds()
    return sum(one_by_one(paths, lambda path: _is_removed(path, latest), "the paths left behind"))


def _is_removed(path: Path, latest: float) -> bool:
    with suppress(FileNotFoundError):  # whoever made it was quicker
        if path.lstat().st_mtime <= latest:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
            return True
    return False


def _path() -> Path:
    return Path(settings.VAR_DIR) / "tmp"
