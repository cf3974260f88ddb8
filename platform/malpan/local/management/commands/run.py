"""``manage.py run``: one program of the site, as a unit of systemd or a container starts it."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from malpan.local.paths import private_directory
from malpan.local.programs import EX_CONFIG, Program, programs_alone, threads_of_a_worker


class Command(BaseCommand):
    help = (
        "프로그램 하나를 실행합니다: 웹, 채점기, 정리 작업, 예약 작업. / Runs one program of the site: web server, "
        "scoring worker, chores or beat. Becomes that program, so that signals and exit codes are its own."
    )
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("program", choices=sorted(_programs(Path())))

    def handle(self, *args: Any, program: str, **options: Any) -> None:
        missing = [name for name in ("DATABASE_URL", "REDIS_URL") if not os.environ.get(name)]
        if missing:
            raise CommandError(
                f"{', '.join(missing)} 변수가 없습니다. 서버 없이 전체를 실행하려면 make run을 쓰십시오.\n"
                f"{', '.join(missing)} is not set. For a whole site without servers of your own: make run",
                returncode=EX_CONFIG,
            )
        run_directory = settings.VAR_DIR / "run"
        if program == "beat":
            private_directory(run_directory, leaves_existing=True)
        chosen = _programs(run_directory)[program]
        python = _interpreter()
        os.chdir(settings.BASE_DIR)
        os.execve(  # noqa: S606 (no shell is wanted)
            python, [python, *chosen.arguments], {**os.environ, **chosen.environment, "MALPAN_PROGRAM": chosen.name}
        )


def _interpreter() -> str:
    """Python by the real path of its environment: a link on the way may be set to another version while this one runs,
    which imports some packages only when it first needs them.
    """
    return str(Path(sys.prefix).resolve() / "bin" / Path(sys.executable).name)


def _programs(run_directory: Path) -> dict[str, Program]:
    return programs_alone(
        run_directory,
        worker_number=settings.SCORING_WORKER_NUMBER,
        threads=threads_of_a_worker(settings.SCORING_THREADS, settings.SCORING_WORKERS),
    )
