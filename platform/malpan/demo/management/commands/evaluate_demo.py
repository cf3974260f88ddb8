"""``manage.py evaluate_demo``: the human evaluation of the past demo contest, once its submissions are scored."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.demo.evaluation import evaluate_demo


class Command(BaseCommand):
    help = (
        "끝난 데모 대회를 흉내 낸 평가자들이 평가하고 결과를 발표합니다. 이미 있는 것은 그대로 둡니다. "
        "/ Simulated judges evaluate the demo contest that is over; what exists stays as it is."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            campaign = evaluate_demo()
        except DomainError as error:
            raise CommandError(f"데모 평가를 마치지 못했습니다: {text_of(error)} ({error.code})") from error
        if campaign is None:
            self.stdout.write(
                "데모 평가를 하지 않았습니다: 끝난 데모 대회가 없거나 아직 모두 채점되지 않았습니다.\n"
                "No demo evaluation: the past demo contest is not there, or not scored yet."
            )
            return
        self.stdout.write(f"데모 평가가 발표되어 있습니다: {campaign.title} / The demo evaluation is published.")
