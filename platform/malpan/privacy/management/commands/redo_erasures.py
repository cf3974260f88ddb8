"""``manage.py redo_erasures``: erases again whom a restored database holds though they were erased."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.storage.moving import copy_notes
from malpan.core.storage.places import configured, store_at
from malpan.privacy.redoing import redo
from malpan.privacy.telling import told, untold


class Command(BaseCommand):
    help = (
        "복원한 데이터베이스에 다시 나타난, 이미 지웠던 사람을 찾습니다. --apply를 붙이면 다시 지웁니다. "
        "/ Finds people in a restored database whose data had been erased; with --apply erases them again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--apply", action="store_true", help="찾은 사람을 다시 지웁니다 / erase those who are found"
        )
        parser.add_argument(
            "--from",
            dest="place",
            metavar="PLACE",
            help="이곳(백업 폴더나 다른 저장소)의 삭제 기록도 먼저 가져옵니다 "
            "/ first take over the records in this place too: the folder of a backup, or another store",
        )

    def handle(self, *args: Any, apply: bool, place: str | None, **options: Any) -> None:
        try:
            if place:
                if not any(store_at(place).notes()):
                    raise CommandError(f"삭제 기록이 없는 곳입니다: {place} / There are no records in {place}.")
                copy_notes(store_at(place), configured())
            done = redo(is_trial=not apply)
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        self.stdout.write(told(done, is_trial=not apply))
        if trouble := untold(done):
            raise CommandError(trouble)
