"""``manage.py collect_files``: removes the private files that no row names, as the clock does every night."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat
from django.utils.translation import override

from malpan.core.asking import add_yes, ask
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.storage.collecting import Collected, collect
from malpan.core.storage.places import configured_address


class Command(BaseCommand):
    help = (
        "어떤 기록도 가리키지 않은 지 하루가 지난 파일을 지웁니다. 지우기 전에 묻습니다. "
        "/ Removes stored files that no row names and that are older than a day. Asks before it does."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="지우지 않고 세기만 / count, remove nothing")
        parser.add_argument(
            "--adopt",
            action="store_true",
            help="다른 데이터베이스의 것이던 저장소를 이 사이트의 것으로 / take over the store of another database",
        )
        add_yes(parser)

    def handle(self, *args: Any, dry_run: bool, adopt: bool, is_sure: bool, **options: Any) -> None:
        try:
            found = collect(is_trial=True, adopts=adopt)
            if dry_run:
                self.stdout.write(f"지울 파일 / to be removed: {found.copies} ({filesizeformat(found.size)})")
                return
            if found.copies or adopt:
                ask(self, what=_question(found, adopts=adopt), word=str(found.copies), is_sure=is_sure)
            done = collect(adopts=adopt)
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        self.stdout.write(f"지운 파일 / removed: {done.copies} ({filesizeformat(done.size)})")


def _question(found: Collected, *, adopts: bool) -> str:
    place, size = configured_address(), filesizeformat(found.size)
    with override("en"):
        english_size = filesizeformat(found.size)
    korean = (
        f"저장소 {place}에서 어떤 기록도 가리키지 않는 파일 {found.copies}개({size})를 지웁니다. 기록이 가리키는 파일 "
        f"{found.named}개와, 아직 하루가 지나지 않은 파일 {found.young}개는 그대로 둡니다."
    )
    english = (
        f"In {place}, {found.copies} files ({english_size}) that no row names are removed. {found.named} files "
        f"that rows name, and {found.young} that are younger than a day, stay."
    )
    if adopts:
        korean += (
            " 이 저장소는 이제 이 데이터베이스의 것이 되어 밤마다 이렇게 정리합니다. 백업에서 복원한 사이트라면, 지울 "
            "파일은 백업 뒤에 올라온 제출의 마지막 사본입니다."
        )
        english += (
            " From now on the store is this database's, which does the same every night. On a site that was restored, "
            "what is removed is the last copy of submissions after the backup."
        )
    return f"{korean}\n{english}"
