"""Real PostgreSQL and Redis from PyPI wheels, in one directory, for the local default without installed servers.

Any number of processes may use the servers of a directory at once: ``manage.py up``, a ``manage.py shell``, test runs.
The first starts them, and they stop after the last has ended, without any action of that process: see ``server_guard``.
There is never more than one server on a directory, even after a crash.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from malpan.local.file_lock import FileLock
from malpan.local.paths import private_directory
from malpan.local.servers import PostgresServer, RedisServer, Server, ServerFailed, plain_environment

_START_SECONDS = 60.0
_POLL_SECONDS = 0.05
_LOG_MAX_BYTES = 10 * 1024 * 1024


@dataclass
class _Use:
    """This process's use of one server: its shared lock, and the guard if it started one."""

    server: Server
    locks: dict[str, FileLock]
    log: Path
    guard: subprocess.Popen[bytes] | None = None


@dataclass
class Services:
    """The embedded servers in use by this process; ``None`` for one that is not embedded."""

    database_url: str | None = None
    redis_url: str | None = None
    _uses: list[_Use] = field(default_factory=list)

    def ensure(self) -> list[str]:
        """Restart stopped servers; returns their names. Raises ``ServerFailed``."""
        stopped = [use for use in self._uses if not use.locks["guard"].is_taken()]
        return [use.server.name for use in stopped if _ensure_running(use)]

    def release(self) -> None:
        """End this process's use, and wait until the servers have stopped, unless other processes use them."""
        for use in self._uses:
            use.locks["users"].release()
        for use in self._uses:
            _wait_unless_used(use)
        self._uses.clear()


def start(var_dir: Path, *, postgres: bool = True, redis: bool = True, durable: bool = True) -> Services:
    """Use the servers in ``var_dir``, and start them if necessary, until ``release`` or the end of the process.

    ``durable=False`` trades safety after a power cut for speed (tests). Raises ``ServerFailed`` or
    ``UnusableDirectory``.
    """
    home = _home(var_dir)
    services = Services()
    if postgres:
        use = _use(PostgresServer(home / "postgres", durable=durable), home)
        services.database_url = use.server.url()
        services._uses.append(use)
    if redis:
        use = _use(RedisServer(home / "redis"), home)
        services.redis_url = use.server.url()
        services._uses.append(use)
    return services


_active = Services()


def active() -> Services:
    """The services that ``provide`` set up for this process."""
    return _active


def provide(var_dir: Path, *, durable: bool = True) -> None:
    """Set ``DATABASE_URL`` and ``REDIS_URL`` of this process from embedded servers if they are unset."""
    global _active
    postgres, redis = not os.environ.get("DATABASE_URL"), not os.environ.get("REDIS_URL")
    if not postgres and not redis:
        return
    _active = start(var_dir, postgres=postgres, redis=redis, durable=durable)
    if _active.database_url:
        os.environ["DATABASE_URL"] = _active.database_url
    if _active.redis_url:
        os.environ["REDIS_URL"] = _active.redis_url


def _home(var_dir: Path) -> Path:
    """``var_dir/embedded``. New directories are private, existing ones unchanged (root opens them for PostgreSQL)."""
    home = var_dir.absolute() / "embedded"
    for directory in (var_dir, home):
        private_directory(directory, leaves_existing=True)  # another process may have opened it for PostgreSQL
    return home.resolve()


def _use(server: Server, home: Path) -> _Use:
    locks = {
        kind: FileLock(private_directory(home / "locks") / f"{server.name}.{kind}")
        for kind in ("users", "start", "guard", "server")
    }
    use = _Use(server, locks, private_directory(home / "log") / f"{server.name}.log")
    if not locks["users"].acquire(shared=True, timeout=server.grace + 10):  # the guard holds it while stopping it
        raise _failed(use, "이전 서버가 멈추기를 기다리다 그만두었습니다", "The earlier server did not stop in time")
    try:
        _ensure_running(use)
    except BaseException:
        locks["users"].release()
        raise
    return use


def _ensure_running(use: _Use) -> bool:
    """Start the server unless it is running, one process at a time; returns whether it was started.

    This process must hold ``users`` in shared mode, so that no guard stops the server meanwhile.
    """
    if not use.locks["start"].acquire(timeout=2 * _START_SECONDS):
        raise _failed(use, "다른 프로세스가 서버를 시작하는 중입니다", "Another process is still starting the server")
    try:
        if _found_running(use):
            return False
        _start(use)
        use.server.complete()
        return True
    finally:
        use.locks["start"].release()


def _found_running(use: _Use) -> bool:
    """Whether a running server answers; it may need a moment, or be stopping."""
    deadline = time.monotonic() + _START_SECONDS
    while use.locks["guard"].is_taken():
        if use.server.answers():
            return True
        if time.monotonic() > deadline:
            raise _failed(use, "서버가 응답하지 않습니다", "The server runs but does not answer")
        time.sleep(_POLL_SECONDS)
    return False


def _wait_until_free(use: _Use) -> None:
    """Wait for the lock of a server whose guard was killed: the kernel stops the server and releases its lock."""
    deadline = time.monotonic() + use.server.grace
    while use.locks["server"].is_taken():
        if time.monotonic() > deadline:
            raise _failed(use, "이전 서버가 아직 끝나지 않았습니다", "A server of an earlier run has not ended yet")
        time.sleep(_POLL_SECONDS)


def _start(use: _Use) -> None:
    """Start a guard with its server and wait until the server answers."""
    _wait_until_free(use)
    use.server.prepare()
    _start_guard(use)
    if not _comes_up(use):
        raise _failed(use, "서버가 시작되지 않았습니다", "The server did not start")


def _start_guard(use: _Use) -> None:
    """Start the guard, which starts the server."""
    server = use.server
    task = {
        "command": server.command(),
        **{kind: str(use.locks[kind].path) for kind in ("users", "guard", "server")},
        "user_id": server.account and server.account.user_id,
        "group_id": server.account and server.account.group_id,
        "stop_signal": int(server.stop_signal),
        "grace": server.grace,
    }
    _trim(use.log)
    with use.log.open("ab") as log:
        use.guard = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("server_guard.py")), json.dumps(task)],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            cwd="/",
            env=plain_environment(),
            start_new_session=True,  # Ctrl-C ends the users; the server must end after them
        )


def _comes_up(use: _Use) -> bool:
    """Whether the server answers before its guard ends or the time is up."""
    deadline = time.monotonic() + _START_SECONDS
    while not use.server.answers():
        if use.guard is None or use.guard.poll() is not None or time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _wait_unless_used(use: _Use) -> None:
    """Return when the guard has stopped the server, or at once if another process uses it."""
    deadline = time.monotonic() + use.server.grace + 10
    while use.locks["guard"].is_taken() and time.monotonic() < deadline:
        if use.locks["users"].is_taken() and not use.locks["users"].is_taken(exclusively=True):
            return  # shared by others
        time.sleep(_POLL_SECONDS)
    if use.guard is not None and not use.locks["guard"].is_taken():
        use.guard.wait(timeout=10)


def _trim(log: Path) -> None:
    if log.exists() and log.stat().st_size > _LOG_MAX_BYTES:
        log.replace(log.with_suffix(".log.1"))


def _failed(use: _Use, korean: str, english: str) -> ServerFailed:
    last_lines = use.log.read_text(errors="replace").splitlines()[-15:] if use.log.exists() else []
    return ServerFailed(
        f"{korean}: {use.server.name}, {use.server.directory}. 로그: {use.log}\n"
        f"{english}: {use.server.name} on {use.server.directory}. Log: {use.log}\n" + "\n".join(last_lines)
    )
