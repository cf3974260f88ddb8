"""The embedded servers: one of each on a directory, shared by its users, recovering from any crash."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis

from malpan.local import embedded
from malpan.local.paths import Account, UnusableDirectory, socket_directory
from tests.paths import ROOT
from tests.waiting import wait_for

pytestmark = pytest.mark.services


class User:
    """A process that uses the servers of ``var_dir``."""

    def __init__(self, var_dir: Path) -> None:
        self.var_dir = var_dir
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.local.embedded_user", str(var_dir)],
            cwd=ROOT,
            env=dict(os.environ),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._addresses: dict[str, str] | None = None

    @property
    def addresses(self) -> dict[str, str]:
        """The addresses, once the servers run."""
        if self._addresses is None:
            line = self._process.stdout.readline()
            assert line, self._process.stderr.read()
            self._addresses = json.loads(line)
        return self._addresses

    def sql(self, statement: str) -> list[tuple]:
        with psycopg.connect(self.addresses["database_url"], autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def redis(self) -> redis.Redis:
        return redis.Redis.from_url(self.addresses["redis_url"], decode_responses=True)

    def postmaster(self) -> psutil.Process:
        assert self.addresses
        pid_file = self.var_dir / "embedded/postgres/postmaster.pid"
        return psutil.Process(int(pid_file.read_text().split("\n")[0]))

    def redis_server(self) -> psutil.Process:
        return psutil.Process(self.redis().info("server")["process_id"])

    def servers(self) -> list[psutil.Process]:
        return [self.postmaster(), self.redis_server()]

    def release(self) -> None:
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "released\n"
        self._process.wait(30)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30)

    def end(self) -> None:
        if self._process.poll() is None:
            self._process.stdin.close()
            self._process.wait(60)


@pytest.fixture
def var_dir(short_path: Path) -> Path:
    return short_path


@pytest.fixture(scope="module")
def left() -> Iterator[Path]:
    """A directory as the first users of all left it."""
    directory = Path(tempfile.mkdtemp(prefix="malpan-"))
    directory.rmdir()  # they make it
    first = User(directory)
    assert first.addresses
    first.release()
    yield directory
    shutil.rmtree(directory)


@pytest.fixture
def used_before(var_dir: Path, left: Path) -> None:
    """The first start of all, which makes the cluster, is over: for tests of what comes later."""
    subprocess.run(["cp", "--archive", left, var_dir], check=True)


@pytest.fixture
def use(var_dir: Path) -> Iterator[Callable[..., User]]:
    """Starts users; whatever the test did, nothing runs on their directories afterwards."""
    users: list[User] = []

    def start(directory: Path = var_dir) -> User:
        users.append(User(directory))
        return users[-1]

    yield start
    for user in users:
        user.end()
    for directory in {user.var_dir for user in users}:
        wait_for(lambda directory=directory: not processes_on(directory), f"servers on {directory} end")
        remove_distant_sockets(directory / "embedded")


def remove_distant_sockets(home: Path) -> None:
    """Remove the directories outside ``home`` that sockets were given because its path would not do."""
    for server, socket_name in (("postgres", ".s.PGSQL.5432"), ("redis", "redis.sock")):
        status = (home / server).stat()
        sockets = socket_directory(home / server, socket_name, Account(status.st_uid, status.st_gid))
        if not sockets.is_relative_to(home):
            shutil.rmtree(sockets)


def processes_on(var_dir: Path) -> list[psutil.Process]:
    """Every living process whose command line names ``var_dir``."""
    return [
        process
        for process in psutil.process_iter(["cmdline", "status"])
        if process.info["status"] != psutil.STATUS_ZOMBIE
        and any(str(var_dir) in part for part in process.info["cmdline"] or ())
        and "tests.local.embedded_user" not in process.info["cmdline"]
    ]


def ended(process: psutil.Process) -> bool:
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@pytest.mark.usefixtures("used_before")
def test_a_second_process_uses_the_running_servers(use) -> None:
    first, second = use(), use()
    assert first.addresses == second.addresses
    assert first.servers() == second.servers()


@pytest.mark.usefixtures("used_before")
def test_servers_stop_with_their_last_user_and_not_before(use) -> None:
    supervisor, command = use(), use()
    supervisor.sql("CREATE TABLE kept (n int)")
    servers = supervisor.servers()
    assert command.addresses == supervisor.addresses
    command.release()
    assert supervisor.sql("SELECT count(*) FROM kept") == [(0,)]
    assert supervisor.servers() == servers
    supervisor.release()
    assert all(ended(server) for server in servers)


@pytest.mark.usefixtures("used_before")
def test_servers_stop_when_their_user_is_killed(use, var_dir) -> None:
    user = use()
    servers = user.servers()
    user.kill()
    wait_for(lambda: all(ended(server) for server in servers), "servers end after their user was killed")
    wait_for(lambda: not processes_on(var_dir), "guards end too")


@pytest.mark.usefixtures("used_before")
def test_the_database_outlives_the_servers_and_redis_begins_empty(use) -> None:
    first = use()
    first.sql("CREATE TABLE kept AS SELECT 'éÉ 말판' AS text")
    first.redis().set("kept", "말판")
    first.release()
    second = use()
    assert second.sql("SELECT lower(text) FROM kept") == [("éé 말판",)]
    assert second.redis().get("kept") is None


@pytest.mark.usefixtures("used_before")
@pytest.mark.parametrize("victim", ["postmaster", "redis_server"])
def test_a_killed_server_leaves_stale_files_and_is_started_again(use, victim: str) -> None:
    first = use()
    first.sql("CREATE TABLE kept AS SELECT 1 AS n")
    server = getattr(first, victim)()
    server.kill()
    wait_for(lambda: ended(server), "the killed server is gone")
    second = use()
    assert second.sql("SELECT n FROM kept") == [(1,)]
    assert second.redis().ping()


@pytest.mark.usefixtures("used_before")
def test_a_killed_guard_takes_its_server_along_and_both_are_started_again(use, var_dir) -> None:
    first = use()
    first.sql("CREATE TABLE kept AS SELECT 1 AS n")
    before = first.postmaster()
    before.parent().kill()
    wait_for(lambda: ended(before), "the server ends with its guard")
    second = use()
    assert second.sql("SELECT n FROM kept") == [(1,)]
    assert second.postmaster() != before


@pytest.mark.usefixtures("used_before")
def test_a_stale_pid_file_that_names_a_living_stranger_does_not_hinder_the_start(use, var_dir) -> None:
    first = use()
    first.sql("CREATE TABLE kept AS SELECT 1 AS n")
    pid_file = var_dir / "embedded/postgres/postmaster.pid"
    lines = pid_file.read_text().split("\n")
    first.release()
    pid_file.write_text("\n".join([str(os.getpid()), *lines[1:]]))
    (var_dir / "embedded/postgres/.s.PGSQL.5432.lock").write_text(f"{os.getpid()}\n")
    (var_dir / "embedded/redis/redis.sock").write_bytes(b"")
    assert use().sql("SELECT n FROM kept") == [(1,)]


def test_many_processes_at_once_get_one_server(use) -> None:
    users = [use() for _ in range(5)]
    assert len({user.addresses["database_url"] for user in users}) == 1
    assert len({tuple(server.pid for server in user.servers()) for user in users}) == 1


@pytest.mark.parametrize("name", ["말판 데이터", "d" * 60 + "/" + "e" * 60], ids=["hangul and a space", "long"])
def test_any_path_will_do(use, var_dir, name: str) -> None:
    user = use(var_dir / name)
    assert user.sql("SELECT 1") == [(1,)]
    assert user.redis().ping()
    assert user.redis_server().parent().is_running()


def test_data_is_closed_to_other_users(left: Path) -> None:
    for part in ("embedded/postgres", "embedded/redis", "embedded/log", "embedded/locks"):
        assert stat.S_IMODE((left / part).stat().st_mode) == 0o700
    readable_by_others = stat.S_IRGRP | stat.S_IWGRP | stat.S_IROTH | stat.S_IWOTH
    assert not left.stat().st_mode & readable_by_others


def test_a_socket_directory_that_somebody_else_made_is_refused(var_dir) -> None:
    deep = var_dir / ("d" * 120)
    fallback = socket_directory(deep, "redis.sock")
    fallback.rmdir()
    fallback.symlink_to("/")
    try:
        with pytest.raises(UnusableDirectory):
            socket_directory(deep, "redis.sock")
    finally:
        fallback.unlink()


@pytest.mark.parametrize("made_by", ["another process", "this process"])
def test_a_directory_that_another_process_opened_meanwhile_stays_open(
    short_path: Path, monkeypatch: pytest.MonkeyPatch, made_by: str
) -> None:
    """Just before or just after the making another process may let PostgreSQL's user through."""
    real = Path.mkdir

    def opened_by_another(path: Path, *args: Any, **options: Any) -> None:
        made_here = not path.exists()
        if made_by == "another process" and made_here:
            real(path, parents=True)
            path.chmod(0o711)
        real(path, *args, **options)
        if made_here:
            path.chmod(0o711)

    monkeypatch.setattr(Path, "mkdir", opened_by_another)
    home = embedded._home(short_path)
    assert [stat.S_IMODE(each.stat().st_mode) for each in (short_path, home)] == [0o711, 0o711]


ADDRESS, ANSWER = "canary.person@example.com", "카나리아의 답"


@pytest.mark.usefixtures("used_before")
def test_the_log_of_postgres_says_what_failed_and_never_with_what(use, var_dir) -> None:
    user = use()
    user.sql("CREATE TABLE people (email text UNIQUE, answer text)")
    insert = "INSERT INTO people VALUES (%s, %s)"
    # values are put into the statement by the client, as the site's are
    with psycopg.connect(user.addresses["database_url"], autocommit=True, cursor_factory=psycopg.ClientCursor) as site:
        site.execute(insert, [ADDRESS, ANSWER])
        with pytest.raises(psycopg.errors.UniqueViolation):
            site.execute(insert, [ADDRESS, ANSWER])
        with pytest.raises(psycopg.errors.DivisionByZero):
            site.execute("SELECT 1 / 0, %s", [ANSWER])
        with pytest.raises(psycopg.errors.InvalidTextRepresentation):
            site.execute("SELECT %s::json", [f'{{"answer": {ANSWER}}}'])
    kill_in_the_middle_of(user, f"SELECT pg_sleep(60), '{ANSWER}'")

    log = (var_dir / "embedded/log/postgres.log").read_text()
    for said in ("duplicate key value", "division by zero", "invalid input syntax for type json", "by signal 9"):
        assert said in log
    assert [canary for canary in (ADDRESS, ANSWER) if canary in log] == []


def kill_in_the_middle_of(user: User, statement: str) -> None:
    """Kill the process of PostgreSQL that is at ``statement``; all others are stopped then, and come back."""
    with closing(psycopg.connect(user.addresses["database_url"], autocommit=True)) as connection:
        connection.pgconn.send_query(statement.encode())
        pid = connection.info.backend_pid
        wait_for(
            lambda: user.sql(f"SELECT 1 FROM pg_stat_activity WHERE pid = {pid} AND state = 'active'"), "it is at work"
        )
        psutil.Process(pid).kill()
    wait_for(lambda: answers(user), "PostgreSQL has recovered")


def answers(user: User) -> bool:
    try:
        return user.sql("SELECT 1") == [(1,)]
    except psycopg.OperationalError:
        return False
