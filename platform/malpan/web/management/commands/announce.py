"""``manage.py announce``: loads the demo if it is configured, waits for the site, prints its address and the board.

After that the human evaluation of the demo is completed.
"""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management import BaseCommand, CommandError, call_command

from malpan.competitions.models import Competition
from malpan.submissions.models import ScoringRun

_POLL_SECONDS = 0.3


class Command(BaseCommand):
    requires_system_checks = ()  # they import every page
    help = "데모를 올리고 주소와 순위표를 보여 줍니다. / Loads the demo and prints the address and the board."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--patience",
            type=float,
            default=600.0,
            help="초: 사이트와 다음 채점을 기다립니다 / seconds to wait for the site, then for each run",
        )

    def handle(self, *args: Any, patience: float, **options: Any) -> None:
        deadline = time.monotonic() + patience
        is_first = self._load_demo()
        url = os.environ.get("MALPAN_LOCAL_URL", settings.SITE_URL)
        _wait(lambda: _is_up(url), deadline, "사이트가 응답하지 않습니다. / The site does not answer.")
        self._print_address(url)
        if not Competition.objects.filter(is_demo=True).exists():
            return
        if waiting := _wait_for_scores(patience):
            self._print_waiting(waiting, url)
            return
        call_command("show_board", stdout=self.stdout)
        started = float(os.environ.get("MALPAN_STARTED_AT", 0))
        if started:
            self._print_elapsed(time.time() - started, is_first)
        self._evaluate_demo()

    def _load_demo(self) -> bool:
        """Load the demo if it is configured, or finish an interrupted load; returns whether this was the first start.

        A site with a competition other than the demo is not changed.
        """
        is_first = not Competition.objects.exists()
        if settings.LOAD_DEMO and not Competition.objects.filter(is_demo=False).exists():
            call_command("load_demo", stdout=self.stdout)
        return is_first

    def _evaluate_demo(self) -> None:
        """Complete the demo's human evaluation, after the board: nobody waits for it. What stops it is only told."""
        if settings.LOAD_DEMO:
            try:
                call_command("evaluate_demo", stdout=self.stdout)
            except CommandError as error:
                self.stderr.write(str(error))

    def _print_address(self, url: str) -> None:
        self.stdout.write(f"\n  말판이 열렸습니다 / Malpan is up:  {url}\n  관리 / admin:  {url}/admin/")
        password_file = settings.VAR_DIR / "admin-password"
        if password_file.exists():
            self.stdout.write(f"    admin@localhost, 비밀번호 / password: {password_file}")
        if settings.MAILS_ARE_PRINTED:
            self.stdout.write("  가입·초대 메일은 이 터미널에 나옵니다 / mails are printed here")
        self.stdout.write("  멈추기 / stop:  Ctrl-C\n")

    def _print_waiting(self, runs: int, url: str) -> None:
        self.stdout.write(
            f"데모 제출 {runs}건은 아직 채점하지 못했습니다. 사이트는 쓸 수 있고 순위표는 채점되는 대로 찹니다: {url}\n"
            f"{runs} demo submissions are not scored yet. The site is up; boards fill as they are scored: {url}\n"
        )

    def _print_elapsed(self, seconds: float, is_first: bool) -> None:
        if is_first:
            self.stdout.write(
                f"설치 후 {seconds:.0f}초 만에 순위표 완성 / board complete {seconds:.0f} s after install\n"
            )
        else:
            self.stdout.write(f"시작 후 {seconds:.0f}초 / {seconds:.0f} s after start\n")


def _is_up(url: str) -> bool:
    """Whether the site at ``url`` (plain HTTP, on this machine) reports that it is healthy."""
    address = urlsplit(url)
    connection = HTTPConnection(address.hostname or "", address.port, timeout=10)
    try:
        connection.request("GET", "/healthz/?format=text")
        return connection.getresponse().status == 200
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _waiting_runs() -> int:
    unfinished = [ScoringRun.State.QUEUED, ScoringRun.State.RUNNING]
    return ScoringRun.objects.filter(submission__phase__track__competition__is_demo=True, state__in=unfinished).count()


def _wait_for_scores(patience: float) -> int:
    """Wait until the demo is scored, as long as scoring proceeds: until nothing was scored for ``patience`` seconds.

    Returns how many runs are left.
    """
    left, deadline = _waiting_runs(), time.monotonic() + patience
    while left and time.monotonic() <= deadline:
        time.sleep(_POLL_SECONDS)
        now = _waiting_runs()
        if now < left:
            deadline = time.monotonic() + patience
        left = now
    return left


def _wait(condition: Callable[[], bool], deadline: float, complaint: str) -> None:
    while not condition():
        if time.monotonic() > deadline:
            raise CommandError(complaint)
        time.sleep(_POLL_SECONDS)
