"""``manage.py up``: the whole site under one supervisor, for the local default and for a single machine."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import socket
import time
from argparse import ArgumentParser
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import psutil
from django.apps import apps
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import BaseCommand, CommandError, call_command
from django.db import connection, connections, transaction
from django.db.migrations.loader import MigrationLoader

from malpan.accounts.services import confirm_email
from malpan.core import audit
from malpan.core.temporary import remove_left, temporary_files, temporary_folder
from malpan.local import embedded
from malpan.local.file_lock import FileLock
from malpan.local.paths import memory_directory, private_directory
from malpan.local.programs import DEMO_JUDGE_URL, child_environment, programs_of, threads_of_a_worker
from malpan.local.schema import differing_columns
from malpan.local.supervisor import Supervisor

ADMIN_EMAIL = "admin@localhost"
_PORT_SECONDS = 2.0


class Command(BaseCommand):
    help = "사이트 전체를 실행합니다: 웹, 채점기, 정리 작업, 예약 작업. / Runs the whole site under one supervisor."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=os.environ.get("HOST") or "127.0.0.1")
        parser.add_argument("--port", type=int, default=int(os.environ.get("PORT") or 8000))

    def handle(self, *args: Any, host: str, port: int, **options: Any) -> None:
        try:
            self._run(host, port)
        except KeyboardInterrupt:
            pass
        finally:
            connections.close_all()
            embedded.active().release()
        with suppress(OSError):  # the terminal may be closed
            self.stdout.write("모두 멈췄습니다. / everything has stopped.")

    def _run(self, host: str, port: int) -> None:
        private_directory(settings.VAR_DIR, leaves_existing=True)  # open for PostgreSQL where it runs in it
        run_directory = private_directory(settings.VAR_DIR / "run")
        only_one = FileLock(run_directory / "supervisor.lock")
        address_file = run_directory / "supervisor.json"  # the address of the running site, shown at a second start
        if not only_one.acquire(timeout=1):
            raise CommandError(_already_running(address_file))
        listener, judge = _listen(host, port), _listen_for_judge()  # both stay open as long as the site runs
        address_file.write_text(json.dumps({"url": _url(host, port), "pid": os.getpid()}))
        self._prepare()
        with _fresh_counts(run_directory / "counts") as counts:
            _supervisor(run_directory, _url(host, port), listener, judge, counts).run()
        address_file.unlink()

    def _prepare(self) -> None:
        """Prepare the first request: tables, static files, in the local default an administrator."""
        _require_own_schema()
        call_command("migrate", interactive=False, verbosity=0)
        _require_own_columns()
        if settings.LOCAL:
            settings.STATIC_ROOT.mkdir(parents=True, exist_ok=True)  # empty: here the files are served from the apps
            self._create_admin(settings.VAR_DIR / "admin-password")
        else:
            call_command("collectstatic", interactive=False, verbosity=0)
        connections.close_all()

    def _create_admin(self, password_file: Path) -> None:
        """For the local default: make an administrator with a random password."""
        users = get_user_model()
        if users.objects.filter(is_superuser=True).exists():
            return
        password = secrets.token_urlsafe(12)
        descriptor = os.open(password_file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(descriptor, "w") as file:
            file.write(password + "\n")
        with transaction.atomic():
            user = users.objects.create_superuser(email=ADMIN_EMAIL, password=password, name="관리자")
            audit.record(actor=None, action="user.create", obj=user, after={"is_superuser": True})
            confirm_email(user=user, actor=user)
        self.stdout.write(
            f"관리자를 만들었습니다: {ADMIN_EMAIL} / {password} ({password_file}에 적어 두었습니다)\n"
            f"Created the administrator {ADMIN_EMAIL} with the password {password} (kept in {password_file})"
        )


@contextmanager
def _fresh_counts(path: Path) -> Iterator[Path]:
    """Where the web processes count requests: empty at the start, gone at the end."""
    counts = memory_directory(path)
    shutil.rmtree(counts)  # of a supervisor that was killed
    try:
        yield memory_directory(path)
    finally:
        shutil.rmtree(counts, ignore_errors=True)


def _emptied_temporary_folder() -> Path:
    """Without what programs left there that were killed; no other supervisor runs on this directory."""
    remove_left(temporary_files(), older_than=timedelta())
    return temporary_folder()


def _supervisor(
    run_directory: Path, url: str, listener: socket.socket, judge: socket.socket | None, counts: Path
) -> Supervisor:
    root = settings.BASE_DIR
    started = psutil.Process().create_time()
    workers = settings.SCORING_WORKERS
    programs = programs_of(
        root,
        run_directory,
        listen_descriptor=listener.fileno(),
        threads=threads_of_a_worker(settings.SCORING_THREADS, workers),
        workers=workers,
        web_workers=settings.WEB_WORKERS,
        judge_descriptor=None if judge is None else judge.fileno(),
    )
    if settings.LOG_FORMAT == "json":  # each line names its program itself
        programs = [replace(program, prefixed=False) for program in programs]
    return Supervisor(
        programs,
        root=root,
        environment=child_environment(
            root,
            settings.VAR_DIR,
            url=url,
            started=started,
            counts=counts,
            temporary=_emptied_temporary_folder(),
            judge_url="" if judge is None else f"http://127.0.0.1:{judge.getsockname()[1]}",
        ),
        services=embedded.active(),
    )


def _listen(host: str, port: int) -> socket.socket:
    """The listening socket; the supervisor keeps it open, so that a restart of the web server never loses the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        _bind(listener, (host, port))
    except OSError as error:
        listener.close()
        raise CommandError(
            f"{host}:{port}에서 들을 수 없습니다({error.strerror}). 다른 포트로 실행하십시오: PORT=8001 make run\n"
            f"Cannot listen on {host}:{port} ({error.strerror}). Choose another port: PORT=8001 make run"
        ) from error
    listener.listen(512)
    listener.set_inheritable(True)
    return listener


def _listen_for_judge() -> socket.socket | None:
    """The listening socket of the demo judge, at any free port; ``None`` without demo models, or with a judge already.

    The supervisor keeps it open, so that a judge that was restarted has the same address.
    """
    if settings.SCORING_PROFILE != "demo" or os.environ.get(DEMO_JUDGE_URL):
        return None
    listener = socket.create_server(("127.0.0.1", 0), backlog=256)
    listener.set_inheritable(True)
    return listener


def _bind(listener: socket.socket, address: tuple[str, int]) -> None:
    """Bind the address; after a killed supervisor its programs release it within a moment."""
    deadline = time.monotonic() + _PORT_SECONDS
    while True:
        try:
            return listener.bind(address)
        except OSError as error:
            if error.errno != errno.EADDRINUSE or time.monotonic() > deadline:
                raise
        time.sleep(0.1)


def _url(host: str, port: int) -> str:
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)  # noqa: S104
    return f"http://{shown}:{port}"


def _require_own_schema() -> None:
    """Refuse a database made by another version, whose tables differ."""
    loader = MigrationLoader(connection)
    ours = {config.label for config in apps.get_app_configs() if config.name.startswith("malpan.")}
    unknown = sorted(key for key in loader.applied_migrations if key[0] in ours and key not in loader.disk_migrations)
    if unknown:
        first = ".".join(unknown[0])
        raise _another_version(f"모르는 변경: {first}", f"unknown change: {first}")


def _require_own_columns() -> None:
    """Refuse a database of another version whose migrations have the same names: its pages would fail one by one."""
    if differing := differing_columns():
        first = ", ".join(differing[:3]) + (" …" if len(differing) > 3 else "")
        raise _another_version(f"서로 다른 열: {first}", f"columns that differ: {first}")


def _another_version(korean: str, english: str) -> CommandError:
    return CommandError(
        f"데이터베이스가 이 프로그램과 다른 판의 것입니다({korean}). "
        "그 판의 프로그램으로 실행하거나, 자료를 따로 보관한 뒤 새 데이터베이스로 시작하십시오"
        f"(내장 서버라면 다음 폴더를 다른 이름으로 옮기면 됩니다: {settings.VAR_DIR}).\n"
        f"The database was made by another version ({english}). Run that version, or keep a copy and "
        f"start with a new database (embedded servers: move {settings.VAR_DIR} aside)."
    )


def _already_running(address_file: Path) -> str:
    try:
        site = json.loads(address_file.read_text())
    except (FileNotFoundError, ValueError):  # that site is just starting
        site = {"url": "?", "pid": "?"}
    return (
        f"이미 실행 중입니다: {site['url']} (pid {site['pid']}). 멈추려면: kill {site['pid']}\n"
        f"Already running at {site['url']} (pid {site['pid']}). To stop it: kill {site['pid']}"
    )
