"""The paths of a running site: private directories, socket paths of valid length, access for a system user."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

SOCKET_PATH_MAX_BYTES = 103  # sun_path holds 108 bytes on Linux and 104 elsewhere, including the final zero
_SHORT_ROOT = Path("/tmp")  # noqa: S108 (the only short path on every system; its content is checked)
_MEMORY_ROOT = Path("/dev/shm")  # noqa: S108 (likewise)
_PLAIN_PATH = re.compile(r"[A-Za-z0-9._/+-]+")


class UnusableDirectory(Exception):
    """A directory that the site needs cannot be made, or belongs to another user."""


@dataclass(frozen=True, slots=True)
class Account:
    """A system user: numeric user and group."""

    user_id: int
    group_id: int


def private_directory(path: Path, owner: Account | None = None, *, leaves_existing: bool = False) -> Path:
    """Make ``path`` if it is missing, with access (0700) only for ``owner``, by default the current user.

    With ``leaves_existing`` an existing one stays as it is, also where another process makes it, or opens the one made
    here, at this moment.
    """
    try:
        try:
            path.mkdir(mode=0o700, parents=True)
        except FileExistsError:
            if not path.is_dir():
                raise
        if leaves_existing:
            return path  # no look at what it is now: another process may have opened it since
        if owner is not None and path.stat().st_uid != owner.user_id:
            os.chown(path, owner.user_id, owner.group_id)
        if stat.S_IMODE(path.stat().st_mode) != 0o700:
            path.chmod(0o700)
    except (PermissionError, FileExistsError, NotADirectoryError) as error:
        raise UnusableDirectory(
            f"디렉터리를 쓸 수 없습니다: {path} ({error.strerror}). "
            "소유자를 확인하거나 MALPAN_VAR로 다른 곳을 정하십시오.\n"
            f"Cannot use the directory {path} ({error.strerror}). Check who owns it, or name another with MALPAN_VAR."
        ) from error
    return path


def socket_directory(preferred: Path, socket_name: str, owner: Account | None = None) -> Path:
    """A private directory whose socket path is within the kernel's limit and needs no quoting anywhere.

    ``preferred`` if possible, else a short directory under /tmp that only ``owner`` can enter, always the same one for
    the same ``preferred``.
    """
    path = preferred / socket_name
    if len(os.fsencode(path)) <= SOCKET_PATH_MAX_BYTES and _PLAIN_PATH.fullmatch(str(path)):
        return private_directory(preferred, owner)
    user_id = os.geteuid() if owner is None else owner.user_id
    return _own_directory_in(_SHORT_ROOT / _name_for(preferred, user_id), owner, user_id)


def memory_directory(preferred: Path) -> Path:
    """A private directory in memory, always the same one for ``preferred``; itself where the system has none.

    For files that are mapped: where a disk is full, writing to one on it ends the process.
    """
    if not os.access(_MEMORY_ROOT, os.W_OK):
        return private_directory(preferred)
    return _own_directory_in(_MEMORY_ROOT / _name_for(preferred, os.geteuid()), None, os.geteuid())


def _name_for(preferred: Path, user_id: int) -> str:
    return f"malpan-{user_id}-{hashlib.sha256(os.fsencode(preferred)).hexdigest()[:12]}"


def _own_directory_in(path: Path, owner: Account | None, user_id: int) -> Path:
    """Everybody may write to /tmp, so a directory that another user made first is refused."""
    if path.is_symlink() or (path.exists() and path.stat().st_uid not in (user_id, os.geteuid())):
        raise UnusableDirectory(
            f"다른 사용자의 디렉터리입니다: {path}. 지우거나 MALPAN_VAR를 더 짧은 경로로 바꾸십시오.\n"
            f"{path} belongs to somebody else. Remove it, or set MALPAN_VAR to a shorter path."
        )
    return private_directory(path, owner)


def let_through(target: Path, account: Account) -> None:
    """Let ``account`` reach ``target``: adds the search bit (never read) to ancestors without it."""
    for ancestor in target.resolve().parents:
        status = ancestor.stat()
        if status.st_uid == account.user_id:
            needed = stat.S_IXUSR
        elif status.st_gid == account.group_id:
            needed = stat.S_IXGRP
        else:
            needed = stat.S_IXOTH
        if not status.st_mode & needed:
            ancestor.chmod(stat.S_IMODE(status.st_mode) | needed)


def let_read(tree: Path) -> None:
    """Make an installed tree readable by everybody, as a package installed with a strict umask is not."""
    for path in (tree, *tree.rglob("*")):
        mode = stat.S_IMODE(path.lstat().st_mode)
        wanted = mode | (0o555 if path.is_dir() or mode & stat.S_IXUSR else 0o444)
        if wanted != mode and not path.is_symlink():
            path.chmod(wanted)


def give(tree: Path, account: Account) -> None:
    """Change the owner of ``tree`` and everything in it to ``account``."""
    for path in (tree, *tree.rglob("*")):
        os.chown(path, account.user_id, account.group_id, follow_symlinks=False)
