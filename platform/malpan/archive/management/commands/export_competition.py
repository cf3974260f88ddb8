"""``manage.py export_competition``: a whole competition as one archive."""

from __future__ import annotations

import os
import tempfile
from argparse import ArgumentParser
from getpass import getpass
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.archive.exporting import Exported, export_competition
from malpan.competitions.selectors import get_competition
from malpan.core.errors import DomainError
from malpan.core.messages import text_of

PASSPHRASE_VARIABLE = "MALPAN_ARCHIVE_PASSPHRASE"  # noqa: S105 - its name, not a passphrase


def passphrase_of(*, wanted: bool, twice: bool = False) -> str:
    """The passphrase from the environment or typed: never an argument, which other users of the machine could read."""
    if not wanted:
        return ""
    if given := os.environ.get(PASSPHRASE_VARIABLE):
        return given
    typed = getpass("암호 구문 / passphrase: ")
    if twice and getpass("한 번 더 / again: ") != typed:
        raise CommandError("두 번 입력한 암호 구문이 다릅니다. / The two passphrases differ.")
    if not typed:
        raise CommandError("암호 구문이 비어 있습니다. / The passphrase is empty.")
    return typed


class Command(BaseCommand):
    help = (
        "대회 전체를 보관 파일 하나로 내보냅니다. 정답은 빼거나 암호화해서 담습니다. "
        f"/ Writes a competition as one archive, references left out or encrypted ({PASSPHRASE_VARIABLE} or typed)."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("competition", help="대회의 주소 이름 / its slug")
        parser.add_argument("path", type=Path, help="만들 zip 파일 / the zip file to write")
        parser.add_argument("--references", action="store_true", help="정답을 암호화해 담기 / include them encrypted")

    def handle(self, *args: Any, competition: str, path: Path, references: bool, **options: Any) -> None:
        passphrase = passphrase_of(wanted=references, twice=True)
        try:
            done = _write(path, competition, passphrase)
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        except OSError as error:
            raise CommandError(f"파일을 쓰지 못했습니다 / cannot write the file: {error.strerror}: {path}") from error
        counts = ", ".join(f"{name} {count}" for name, count in done.counts.items() if count)
        self.stdout.write(f"{path}: {counts}")
        if done.missing_files:
            missing = "\n".join(done.missing_files)
            self.stderr.write(f"서버에 없거나 손상된 파일 / files missing or damaged on this site:\n{missing}")


def _write(path: Path, slug: str, passphrase: str) -> Exported:
    """Write to another name and rename to ``path``: never an incomplete archive. Readable only by its owner."""
    found = get_competition(slug, include_unpublished=True)
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".malpan-", delete=False) as target:
        try:
            done = export_competition(competition=found, actor=None, target=target, passphrase=passphrase)
        except BaseException:
            os.unlink(target.name)
            raise
    os.replace(target.name, path)
    return done
