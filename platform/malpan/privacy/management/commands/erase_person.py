"""``manage.py erase_person``: erases the personal data of somebody who asked for it."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.core.asking import add_yes, ask
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.privacy.erasing import erase, obstacles
from malpan.privacy.finding import person_of
from malpan.privacy.preview import preview


class Command(BaseCommand):
    help = (
        "한 사람을 알아볼 수 있는 정보를 지웁니다. 제출과 기록은 ‘탈퇴한 사람’의 것으로 남습니다. 무엇이 지워지고 "
        "남는지 보인 뒤 묻습니다. 되돌릴 수 없습니다. "
        "/ Erases what identifies a person; what they did stays, as a former user's. Shows both and asks before. It "
        "cannot be undone."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("person", help="이메일, 또는 로그에 적힌 번호 / e-mail, or the number in the log")
        parser.add_argument(
            "--force",
            action="store_true",
            help="팀장이거나 하나뿐인 소유자여도 / also the leader of a team, or the only owner of a competition",
        )
        add_yes(parser)

    def handle(self, *args: Any, person: str, force: bool, is_sure: bool, **options: Any) -> None:
        try:
            user = person_of(person)
            if user.erased_at is None:
                for obstacle in obstacles(user) if not force else ():
                    raise obstacle
                ask(self, what=preview(user), word=user.email, is_sure=is_sure)
            is_done = erase(user=user, actor=None, force=force)
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        self.stdout.write(
            f"{user.pk}번의 개인정보를 지웠습니다. / Erased person {user.pk}."
            if is_done
            else f"{user.pk}번은 이미 지웠습니다. / Person {user.pk} was erased before."
        )
