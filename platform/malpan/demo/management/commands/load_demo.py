"""``manage.py load_demo``: the demo competitions with their teams and submissions, through the real queue."""

from __future__ import annotations

from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.demo.loading import DemoAddressTaken, load_demo


class Command(BaseCommand):
    help = (
        "데모 대회와 팀, 제출을 올립니다. 이미 있는 것은 그대로 둡니다. "
        "/ Loads the demo competitions, teams and submissions; what exists stays as it is."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            count = load_demo()
        except DemoAddressTaken as error:
            raise CommandError(
                f"주소 이름 '{error.slug}'를 데모가 아닌 대회가 쓰고 있습니다. "
                "그 대회의 주소 이름을 바꾼 뒤 다시 실행하십시오.\n"
                f"A competition that is not the demo has the address '{error.slug}'. Rename it and run this again."
            ) from error
        except DomainError as error:
            raise CommandError(f"데모를 올리지 못했습니다: {text_of(error)} ({error.code})") from error
        if not (count.competitions or count.submissions or count.rejections):
            self.stdout.write("데모가 이미 모두 올라와 있습니다. / The demo is complete already.")
            return
        self.stdout.write(
            f"데모를 올렸습니다: 대회 {count.competitions}개, 제출 {count.submissions}개, "
            f"반려 {count.rejections}개. 채점은 대기열에서 이어집니다.\n"
            f"Loaded the demo: {count.competitions} competitions, {count.submissions} submissions, "
            f"{count.rejections} rejected. The rest is scored by the queue."
        )
