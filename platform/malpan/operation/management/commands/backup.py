"""``manage.py backup``: the whole site in one folder, while it works; then the chains are checked, as every night."""

from __future__ import annotations

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError, call_command

from malpan.core.chores import record_chore
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.models import Chore
from malpan.operation.backup.errors import BackupError
from malpan.operation.backup.keeping import make_dated_backup
from malpan.operation.backup.making import make_backup


class Command(BaseCommand):
    help = (
        "사이트 전체(데이터베이스와 파일)를 새 폴더에 백업합니다. 사이트는 켜 두어도 됩니다. "
        "/ Backs the whole site up, database and files, into a new folder; the site may go on working."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="만들 폴더 / the folder to make")
        parser.add_argument(
            "--keep",
            type=int,
            metavar="N",
            help="폴더 안에 시각을 이름으로 만들고 새것 N개만 남깁니다 / make it in the folder, named by the time, and "
            "keep the N newest",
        )

    def handle(self, *args: Any, folder: Path, keep: int | None, **options: Any) -> None:
        if keep is not None and keep < 1:
            raise CommandError("--keep은 1 이상이어야 합니다. / --keep must be at least 1.")
        try:
            if keep is None:
                made = make_backup(folder)
            else:
                folder, made = make_dated_backup(folder, keep)
        except BackupError as error:
            raise CommandError(str(error)) from error
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        except OSError as error:
            raise CommandError(f"파일을 쓰지 못했습니다 / cannot write: {error.strerror}: {folder}") from error
        size = sum(size for size, _sha256 in made.parts.values())
        facts = {"bytes": size, "files": len(made.stored_files), "missing": len(made.missing_files)}
        record_chore(name=Chore.Name.BACKUP, facts=facts)
        self.stdout.write(
            f"{folder}: 파일 {len(made.stored_files)}개, 순위표 {len(made.facts.boards)}개, {size:,}바이트 / "
            f"{len(made.stored_files)} files, {len(made.facts.boards)} boards, {size:,} bytes"
        )
        self._verify_chains()
        if made.missing_files:
            names = "\n".join(made.missing_files)
            raise CommandError(
                "백업은 되었지만, 데이터베이스에 적힌 다음 파일이 이 사이트에 없거나 손상되어 있습니다. "
                "/ The backup is made, but this site lacks files that its database names, or has them damaged:\n"
                + names
            )

    def _verify_chains(self) -> None:
        """Say what is not as recorded; the backup is made all the same, so this is no failure of it."""
        try:
            call_command("verify_chain", stdout=self.stdout)
        except CommandError as error:
            self.stderr.write(str(error))
