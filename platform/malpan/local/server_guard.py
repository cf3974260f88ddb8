"""Keeps one embedded server running while any process uses it, and stops it after the last one has ended.

Executed by path with ``-I -S`` (standard library only, a few megabytes). Its users hold the lock ``users`` in shared
mode; the guard waits for it in exclusive mode, which it gets when the last user has ended, even by ``kill -9``. The
server itself inherits ``server``, so that lock is held exactly while a server process lives; if the guard is killed,
the kernel stops the server.

Argument: one JSON object ``{"command", "users", "guard", "server", "user_id", "group_id", "stop_signal", "grace"}``.
"""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NoReturn


def main(task: dict[str, Any]) -> NoReturn:
    _take(task["guard"], inheritable=False)
    server_lock = _take(task["server"], inheritable=True)
    process = subprocess.Popen(
        task["command"],
        stdin=subprocess.DEVNULL,
        pass_fds=[server_lock],
        preexec_fn=_bind(task["stop_signal"]),
        cwd="/",
        umask=0o077,
        **_identity(task),
    )
    signal.signal(signal.SIGTERM, lambda *_: _stop(process, task))
    threading.Thread(target=_follow, args=(process,), daemon=True).start()
    users = os.open(task["users"], os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(users, fcntl.LOCK_EX)
    _stop(process, task)


def _take(path: str, *, inheritable: bool) -> int:
    """Open and lock ``path`` for the lifetime of this process."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(descriptor, fcntl.LOCK_EX)
    os.set_inheritable(descriptor, inheritable)
    return descriptor


def _bind(stop_signal: int) -> Any:
    """A function for the forked child before it executes the server; safe, as this process has only one thread."""
    sys.path.insert(0, str(Path(__file__).parent))
    import die_with_parent

    guard = os.getpid()
    return lambda: die_with_parent.die_with_parent(guard, stop_signal)


def _identity(task: dict[str, Any]) -> dict[str, Any]:
    """The user and group to run as: PostgreSQL refuses to run as root and then gets a system user."""
    if task["user_id"] is None:
        return {}
    return {"user": task["user_id"], "group": task["group_id"], "extra_groups": []}


def _follow(process: subprocess.Popen[bytes]) -> None:
    """Exit if the server ends by itself."""
    os._exit(1 if process.wait() else 0)


def _stop(process: subprocess.Popen[bytes], task: dict[str, Any]) -> NoReturn:
    process.send_signal(task["stop_signal"])
    try:
        process.wait(task["grace"])
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    os._exit(0)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
