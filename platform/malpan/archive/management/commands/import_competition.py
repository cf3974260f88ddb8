"""``manage.py import_competition``: a competition from its archive, everything or nothing."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.archive.importing import import_competition
from malpan.archive.management.commands.export_competition import PASSPHRASE_VARIABLE, passphrase_of
from malpan.core.errors import DomainError
from malpan.core.messages import text_of


class Command(BaseCommand):
    help = (
        "보관 파일에서 대회를 가져옵니다. 하나라도 맞지 않으면 아무것도 바꾸지 않습니다. "
        "/ Reads a competition in from its archive; when anything does not fit, nothing is changed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("path", type=Path, help="내보낸 zip 파일 / the exported zip file")
        parser.add_argument("--slug", default="", help="다른 주소 이름으로 / under another slug")
        parser.add_argument(
            "--references",
            action="store_true",
            help=f"암호화된 정답도 가져오기 / also the encrypted references ({PASSPHRASE_VARIABLE} or typed)",
        )

    def handle(self, *args: Any, path: Path, slug: str, references: bool, **options: Any) -> None:
        passphrase = passphrase_of(wanted=references)
        try:
            with path.open("rb") as file:
                done = import_competition(file=file, actor=None, slug=slug, passphrase=passphrase)
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        except OSError as error:
            raise CommandError(f"파일을 읽지 못했습니다 / cannot read the file: {error.strerror}: {path}") from error
        counts = ", ".join(f"{name} {count}" for name, count in done.counts.items() if count)
        self.stdout.write(f"{done.competition.slug}: {counts}; 새 사람 / new people: {done.new_people}")
        if not done.has_references:
            self.stdout.write(
                "정답은 들어오지 않았습니다. 정답이 있어야 채점할 수 있습니다. "
                "/ The references did not come along: nothing can be scored without them."
            )
        if done.missing_files:
            missing = "\n".join(done.missing_files)
            self.stderr.write(f"보관 파일에 없는 파일 / files that the archive lacks:\n{missing}")
