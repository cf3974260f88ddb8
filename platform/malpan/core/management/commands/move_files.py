"""``manage.py move_files``: all private files from one store to another, there or back."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from malpan.core.asking import add_yes, ask
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.storage.moving import Moved, move
from malpan.core.storage.places import configured_address, same_place, store_at

_TOLD_EVERY = 1000  # files


class Command(BaseCommand):
    help = (
        "비공개 파일을 다른 저장소로 복사하고, 복사본을 다시 읽어 확인합니다. 멈추면 다시 실행하면 됩니다. "
        "/ Copies all private files from one store to another and reads every copy back. Run it again if it stops."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        place = "폴더 또는 s3://bucket/prefix / a folder or s3://bucket/prefix"
        parser.add_argument("source", help=place)
        parser.add_argument("target", help=place)
        parser.add_argument(
            "--remove",
            action="store_true",
            help="모두 확인한 뒤 원본을 지움(사이트가 target을 쓸 때만) "
            "/ then remove the source's; only where the site uses the target",
        )
        add_yes(parser)

    def handle(self, *args: Any, source: str, target: str, remove: bool, is_sure: bool, **options: Any) -> None:
        if same_place(source, target):
            raise CommandError("같은 저장소입니다. / Both are one store.")
        if remove and not same_place(target, configured_address()):
            raise CommandError(
                f"사이트가 아직 {configured_address()}을(를) 쓰고 있어 원본을 지우지 않습니다. "
                f"/ The site uses {configured_address()}: the source stays."
            )
        try:
            if remove:
                self._ask(source, target, is_sure)
            done = move(source=store_at(source), target=store_at(target), removes=remove, tell=self._tell)
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        self._write(done)
        if done.damaged:
            raise CommandError("손상된 파일 / damaged:\n" + "\n".join(done.damaged), returncode=1)

    def _ask(self, source: str, target: str, is_sure: bool) -> None:
        count = sum(1 for _copy in store_at(source).copies())
        what = (
            f"{source}의 파일 {count}개를 지웁니다. 먼저 모두 {target}에 온전히 있는지 하나씩 읽어 확인하며, 하나라도 "
            "손상되어 있으면 아무것도 지우지 않습니다. 그곳에 있는 파일은 그대로입니다.\n"
            f"{count} files in {source} are removed, after each was read in {target}: nothing is removed if one is "
            "damaged. The files there stay."
        )
        ask(self, what=what, word=str(count), is_sure=is_sure)

    def _tell(self, done: Moved) -> None:
        if done.files % _TOLD_EVERY == 0:
            self._write(done)

    def _write(self, done: Moved) -> None:
        self.stdout.write(
            f"복사 / copied {done.copied}, 이미 있음 / there already {done.present}, "
            f"손상 / damaged {len(done.damaged)}, 원본 삭제 / removed {done.removed} ({filesizeformat(done.size)})"
        )
