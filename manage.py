#!/usr/bin/env python3
"""Entry point of the site: if no services are configured, it provides the embedded ones."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent
# these touch neither the database nor Redis, or (run) want those of the environment
NEEDS_NO_SERVICES = {
    "check", "collectstatic", "diffsettings", "findstatic", "help", "run", "update_messages", "version",
    "--help", "--version", "-h",
}  # fmt: skip


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "malpan.settings")
    from malpan.local import environment

    environment.prepare(ROOT, needs_services=len(sys.argv) > 1 and sys.argv[1] not in NEEDS_NO_SERVICES)
    environment.require_settings()
    if sys.argv[1:2] == ["run"]:  # becomes another program, which loads the apps itself: a second and more of a start
        from malpan.local.management.commands.run import Command

        Command().run_from_argv(sys.argv)

    from django.core.management import execute_from_command_line
    from django.db import OperationalError

    try:
        execute_from_command_line(sys.argv)
    except OperationalError as error:
        environment.end_without_database(error)


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
