"""Restoring a backup: everything is checked before anything is changed.

The files come first, as they harm nobody. Then the database is emptied and filled in two transactions: whoever is
interrupted between them has an empty database, never half of one, and restores again. The first of them commits when
nothing is collected any more (``collecting.hold``): rows that are gone, or not compared yet, name no files.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from django.contrib.contenttypes.models import ContentType
from django.core.management import call_command
from django.db import transaction
from django.db.migrations.loader import MigrationLoader

from malpan.competitions.models import Competition
from malpan.core.storage import store_private
from malpan.core.storage.collecting import files_stay, give_back, hold
from malpan.core.storage.local_disk import LocalDisk
from malpan.core.storage.moving import copy_notes
from malpan.core.storage.places import configured
from malpan.jobs.models import Worker
from malpan.local.schema import differing_columns
from malpan.operation.backup import postgres
from malpan.operation.backup.errors import BackupError
from malpan.operation.backup.facts import differences, read_facts
from malpan.operation.backup.manifest import DUMP, FILES, Manifest
from malpan.stages.verification import verify_competition

PATIENCE_SECONDS: Final = 5.0  # for other sessions to end
POLL_SECONDS: Final = 0.1
COLUMNS_NAMED: Final = 20  # of those that differ
WRITTEN_BY_MIGRATING: Final = frozenset({"auth_permission", "django_content_type", "django_migrations"})


def checked_manifest(folder: Path) -> Manifest:
    """The manifest of the backup in ``folder``, each of whose files is as it says. Raises ``BackupError``."""
    manifest = Manifest.read(folder)
    manifest.verify(folder)
    return manifest


def restore_backup(folder: Path, *, replaces: bool = False) -> tuple[Manifest, list[str], int]:
    """Make the site what it was when the backup in ``folder`` was made; then compare.

    Returns the manifest, a line for each difference from it, and how many files are held that no row names
    (``collecting.give_back``). Raises ``BackupError`` if the backup is damaged or of
    a newer version, if somebody else uses the database, or if it holds data and ``replaces`` is not set; and where all
    is restored, but its tables are not those of this version.
    """
    manifest = checked_manifest(folder)
    _require_known(manifest)
    _require_unused()
    if not replaces:
        _require_empty()
    for sha256 in manifest.stored_files:
        _store(folder, sha256)
    copy_notes(LocalDisk(folder), configured())
    with files_stay(), transaction.atomic():  # no collector that asked for rows earlier is still at work
        postgres.drop_everything()
        hold()  # last: what refuses to be dropped, or a store that is away, leaves all as it was
    form = ("--single-transaction", "--no-owner", "--no-privileges")
    postgres.run("pg_restore", *form, folder / DUMP)
    ContentType.objects.clear_cache()
    call_command("migrate", interactive=False, verbosity=0)  # what this version adds to that of the backup
    _require_own_columns()
    Worker.objects.all().delete()  # they worked for the site as it was; those of this one report by themselves
    return manifest, _compared(manifest), give_back()


def _compared(manifest: Manifest) -> list[str]:
    """What is not as it was, and what the chains of the competitions say of the scores."""
    lines = list(differences(manifest.facts, read_facts()))
    for competition in Competition.objects.order_by("slug"):
        lines += [f"{competition.slug}: {each.code} {each.where}" for each in verify_competition(competition)]
    return lines


def _store(folder: Path, sha256: str) -> None:
    with (folder / FILES / sha256[:2] / sha256[2:4] / sha256).open("rb") as file:
        if store_private(file).sha256 != sha256:  # it was right a moment ago
            raise BackupError(f"백업이 바뀌고 있습니다: {sha256}\nThe backup changes while it is read: {sha256}")


def _require_known(manifest: Manifest) -> None:
    known = {".".join(key) for key in MigrationLoader(None).disk_migrations}
    if unknown := sorted(set(manifest.migrations) - known):
        raise BackupError(
            f"이 프로그램이 모르는 변경이 있는 백업입니다: {unknown[0]}. 백업을 만든 판의 프로그램으로 복원하십시오.\n"
            f"The backup has a change that this program does not know: {unknown[0]}. Restore it with the version that "
            "made it."
        )


def _require_own_columns() -> None:
    """Raise ``BackupError`` where the tables are of a version whose migrations have the same names as ours."""
    differing = differing_columns()
    if not differing:
        return
    rest = len(differing) - COLUMNS_NAMED
    names = "\n".join([*differing[:COLUMNS_NAMED], *([f"… + {rest}"] if rest > 0 else [])])
    raise BackupError(
        "자료는 복원했지만, 이 프로그램과 다른 판이 만든 표입니다. 이 프로그램으로 사이트를 켜지 마십시오. 백업을 만든 "
        "판의 프로그램에서 manage.py restore --replace를 다시 실행하십시오. 백업은 그대로이며, 순위표와 사슬의 비교와 "
        "백업 뒤에 탈퇴한 사람을 지우는 일은 그때 합니다.\n"
        "The data are restored, but in tables of another version. Do not start the site with this one: run manage.py "
        "restore --replace again with the version that made the backup, which is as it was. Boards and chains are "
        "compared, and those who left after the backup erased, only then.\n"
        f"서로 다른 열 / columns that differ:\n{names}"
    )


def _require_unused() -> None:
    """Raise ``BackupError`` if others use the database. The session of a program that has ended lasts a moment more."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while sessions := postgres.other_sessions():
        if time.monotonic() > deadline:
            raise BackupError(
                f"다른 프로그램이 데이터베이스를 쓰고 있습니다(연결 {len(sessions)}개). 사이트를 멈추고 다시 "
                "실행하십시오.\n"
                f"Other programs use the database ({len(sessions)} sessions). Stop the site and try again.\n"
                + "\n".join(sessions)
            )
        time.sleep(POLL_SECONDS)


def _require_empty() -> None:
    table = postgres.first_table_with_rows(WRITTEN_BY_MIGRATING)
    if table is not None:
        raise BackupError(
            f"이 사이트에는 자료가 있습니다({table}). 지우고 복원하려면 --replace를 붙이십시오.\n"
            f"This site holds data ({table}). To have it replaced, add --replace."
        )
