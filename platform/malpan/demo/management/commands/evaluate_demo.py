"""``manage.py evaluate_demo``: the human evaluations of the demo, once its submissions are scored: that of the past
contest, which is published, and one that goes on.
"""

from __future__ import annotations

import os
from typing import Any

from django.conf import settings
from django.core.management import BaseCommand, CommandError

from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.demo.evaluation import evaluate_demo
from malpan.demo.rating import PLAN, begin_rating, password_file


class Command(BaseCommand):
    help = (
        "끝난 데모 대회를 흉내 낸 평가자들이 평가하고 결과를 발표하며, 진행 중인 데모 대회의 평가를 시작합니다. "
        "이미 있는 것은 그대로 둡니다. / Simulated judges evaluate the demo contest that is over, and begin to "
        "evaluate one that is running; what exists stays as it is."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            campaign, running = evaluate_demo(), begin_rating()
        except DomainError as error:
            raise CommandError(f"데모 평가를 마치지 못했습니다: {text_of(error)} ({error.code})") from error
        if campaign is None:
            self.stdout.write(
                "데모 평가를 하지 않았습니다: 끝난 데모 대회가 없거나 아직 모두 채점되지 않았습니다.\n"
                "No demo evaluation: the past demo contest is not there, or not scored yet."
            )
        else:
            self.stdout.write(f"데모 평가가 발표되어 있습니다: {campaign.title} / The demo evaluation is published.")
        if running is not None and running.is_judged_now and password_file().exists():
            self._print_log_in()

    def _print_log_in(self) -> None:
        """How to judge in the campaign that goes on."""
        url = os.environ.get("MALPAN_LOCAL_URL", settings.SITE_URL)
        self.stdout.write(
            f"\n  진행 중인 평가를 평가자로 해 보기 / judge the evaluation that is running:  {url}/arena/\n"
            f"    {PLAN['newcomer']['email']}, 비밀번호 / password: {password_file().read_text().strip()} "
            f"({password_file()})\n"
        )
