"""A file system of its own for a directory, of a limited size: it can be filled to the last byte."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


class NoDisk(Exception):
    """A file system can be mounted by an administrator only."""


class Disk:
    """The file system mounted at ``path``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._rest = path / "filled-by-the-test"

    def fill(self) -> None:
        """Take what is free: reserved as far as it goes, which takes no time, and the rest written."""
        with suppress(OSError), self._rest.open("ab", buffering=0) as file:
            here = os.statvfs(self.path)
            with suppress(OSError):
                os.posix_fallocate(file.fileno(), file.tell(), here.f_bavail * here.f_frsize)
            file.seek(0, os.SEEK_END)
            while file.write(bytes(4096)):
                pass
        assert os.statvfs(self.path).f_bavail == 0

    def free(self) -> None:
        """Give back what ``fill`` took, if anything."""
        self._rest.unlink(missing_ok=True)


@contextmanager
def mounted(path: Path, room: int) -> Iterator[Disk]:
    """A file system in the place of the directory ``path``, with what that has in it and ``room`` bytes beside; it goes
    with all that was written. Raises ``NoDisk``.
    """
    path.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}-aside")
    path.rename(aside)
    path.mkdir()
    used = int(subprocess.run(["du", "-sb", str(aside)], capture_output=True, text=True, check=True).stdout.split()[0])
    is_of = aside.stat()
    options = f"size={used + room},mode={is_of.st_mode & 0o7777:o},uid={is_of.st_uid},gid={is_of.st_gid}"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(path)], capture_output=True, text=True)
    if done.returncode:
        path.rmdir()
        aside.rename(path)
        raise NoDisk(done.stderr.strip())
    try:
        subprocess.run(["cp", "-a", f"{aside}/.", str(path)], check=True)
        shutil.rmtree(aside)
        yield Disk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
