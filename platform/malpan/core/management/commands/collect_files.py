"""``manage.py collect_files``: removes the private files that no row names, as the clock does every night."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.storage import collecting


class Command(BaseCommand):
    help = (
        "어떤 기록도 가리키지 않은 지 하루가 지난 파일을 지웁니다. "
        "/ Removes stored files that no row names and that are older than a day."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="지우지 않고 세기만 / count, remove nothing")
        parser.add_argument(
            "--adopt",
            action="store_true",
            help="다른 데이터베이스의 것이던 저장소를 이 사이트의 것으로 / take over the store of another database",
        )

    def handle(self, *args: Any, dry_run: bool, adopt: bool, **options: Any) -> None:
        try:
            if adopt:
                collecting.adopt()
            done = collecting.collect(is_trial=dry_run)
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        verb = "지울 파일 / to be removed" if dry_run else "지운 파일 / removed"
        self.stdout.write(f"{verb}: {done.copies} ({filesizeformat(done.size)})")
