"""Making a backup of a site while it works.

First the database, all of it as of one moment; then the files. They are named by their content and never changed, and
the collector waits for the end of a backup (``collecting.files_stay``), so those copied later hold all that the
database of that moment names. The backup gets its name only when it is complete: it is made in ``NAME.unfinished``,
which the next attempt of that name empties (``keeping`` removes those of other names).
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.utils import timezone

from malpan.core.errors import StoredFileCorrupt, StoredFileMissing
from malpan.core.storage import open_private, stored_files
from malpan.core.storage.collecting import files_stay
from malpan.core.storage.places import configured
from malpan.operation.backup import postgres
from malpan.operation.backup.errors import BackupError
from malpan.operation.backup.facts import read_facts
from malpan.operation.backup.manifest import DUMP, FILES, NOTES, Manifest, measure, open_new

UNFINISHED: Final = ".unfinished"  # at the end of the folder's name


def make_backup(target: Path) -> Manifest:
    """Back the site up into the new folder ``target``. Raises ``BackupError``, ``OSError`` or a storage fault."""
    with _folder_until_complete(target) as folder, files_stay():
        made_at = timezone.now().isoformat()
        with postgres.snapshot() as snapshot:
            form = ("--format=custom", "--no-unlogged-table-data", "--no-owner", "--no-privileges")
            postgres.run("pg_dump", *form, f"--snapshot={snapshot}", f"--file={folder / DUMP}")
            migrations = sorted(".".join(key) for key in MigrationRecorder(connection).applied_migrations())
            facts = read_facts()
        for sha256 in stored_files():
            _copy(sha256, folder / FILES)
        for name in configured().notes():
            _copy_note(name, folder / NOTES)
        parts = {str(path.relative_to(folder)): measure(path) for path in folder.rglob("*") if path.is_file()}
        manifest = Manifest(made_at, postgres.server_version(), tuple(migrations), parts, facts)
        manifest.write(folder)
    return manifest


def _copy(sha256: str, files: Path) -> None:
    """Copy a private file, unless it is damaged."""
    path = files / sha256[:2] / sha256[2:4] / sha256
    try:
        with open_private(sha256) as source:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open_new(path) as copy:
                shutil.copyfileobj(source, copy, 1024 * 1024)
    except (StoredFileCorrupt, StoredFileMissing):
        return


def _copy_note(name: str, notes: Path) -> None:
    path = notes / name
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with suppress(StoredFileMissing), open_new(path) as copy:  # past its time meanwhile
        copy.write(configured().read_note(name))


@contextmanager
def _folder_until_complete(target: Path) -> Iterator[Path]:
    """An empty folder that becomes ``target`` when the block ends without an error."""
    folder = target.with_name(f"{target.name}{UNFINISHED}")
    if target.exists():
        raise BackupError(f"이미 있습니다: {target}\nIt exists already: {target}")
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    with only_one(folder):
        _empty(folder)
        yield folder
        folder.rename(target)
        with _opened(target.parent) as descriptor:
            os.fsync(descriptor)


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Raises ``BackupError`` if another process is at work in ``folder``."""
    with _opened(folder) as descriptor:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise BackupError(f"다른 백업이 진행 중입니다: {folder}\nAnother backup is at work: {folder}") from None
        yield


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _empty(folder: Path) -> None:
    """Remove what a broken-off attempt left."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
