"""``manage.py restore``: a site from its backup, compared with what it was, without who has left since."""

from __future__ import annotations

from argparse import ArgumentParser
from datetime import datetime
from pathlib import Path
from typing import Any

from django.core.management import BaseCommand, CommandError

from malpan.core.asking import add_yes, ask
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.core.times import kst_text
from malpan.operation.backup.errors import BackupError
from malpan.operation.backup.manifest import Manifest
from malpan.operation.backup.present import Present, present
from malpan.operation.backup.restoring import checked_manifest, restore_backup
from malpan.privacy.records import reach
from malpan.privacy.redoing import redo
from malpan.privacy.telling import out_of_reach, told, untold


class Command(BaseCommand):
    help = (
        "백업에서 사이트를 복원하고 순위표와 해시 사슬을 확인합니다. 사이트를 멈추고 실행하십시오. "
        "/ Restores a site from its backup and verifies boards and chains. Stop the site first. "
        "Exit status 1 when something is not as it was."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("folder", type=Path, help="백업 폴더 / the folder of the backup")
        parser.add_argument(
            "--replace", action="store_true", help="있는 자료를 지웁니다 / erase the data that is there"
        )
        parser.add_argument("--check", action="store_true", help="백업만 확인합니다 / only check the backup")
        add_yes(parser)

    def handle(self, *args: Any, folder: Path, replace: bool, check: bool, is_sure: bool, **options: Any) -> None:
        try:
            if check:
                checked_manifest(folder)
                self.stdout.write(f"{folder}: 온전한 백업입니다. / a sound backup.")
                return
            if replace:
                self._ask(folder, is_sure)
            manifest, different, held = restore_backup(folder, replaces=replace)
        except BackupError as error:
            raise CommandError(str(error)) from error
        except DomainError as error:
            raise CommandError(f"{text_of(error)} ({error.code})") from error
        except OSError as error:
            raise CommandError(f"파일을 읽거나 쓰지 못했습니다 / cannot read or write: {error}") from error
        if manifest.missing_files:
            names = "\n".join(manifest.missing_files)
            self.stderr.write(f"백업한 사이트에도 없던 파일 / files that the site of the backup lacked:\n{names}")
        if held:
            self.stderr.write(
                f"백업 뒤에 올라온 것으로 보이는, 어떤 기록에도 없는 파일 {held}개가 있습니다. "
                "밤마다 하는 정리를 멈추었으니 지워지지 않습니다. "
                "필요 없다고 확인한 뒤 manage.py collect_files --adopt를 실행하십시오.\n"
                f"{held} files are there that no row names, maybe of uploads after the backup. They are kept: "
                "nothing is collected until you say manage.py collect_files --adopt."
            )
        troubles = [out_of_reach(datetime.fromisoformat(manifest.made_at), reach()), self._erase_again()]
        self.stderr.write("\n".join(filter(None, troubles)), ending="\n" if any(troubles) else "")
        if different:
            raise CommandError(
                "복원했지만 백업할 때와 다른 것이 있습니다. / Restored, but not all is as it was:\n"
                + "\n".join(different)
            )
        if troubles[-1]:
            raise CommandError("복원했지만 위에 적은 일이 남았습니다. / Restored; what is said above is left to do.")
        facts = manifest.facts
        self.stdout.write(
            f"복원했습니다. 순위표 {len(facts.boards)}개와 사슬 {len(facts.chains)}개가 백업할 때와 같고, 파일 "
            f"{len(manifest.stored_files)}개가 모두 있습니다. / Restored: {len(facts.boards)} boards and "
            f"{len(facts.chains)} chains are as they were, all {len(manifest.stored_files)} files are there."
        )

    def _ask(self, folder: Path, is_sure: bool) -> None:
        backup = Manifest.read(folder)
        now = present(datetime.fromisoformat(backup.made_at))
        if now:
            ask(self, what=_question(folder, backup, now), word=now.database, is_sure=is_sure)

    def _erase_again(self) -> str:
        """Erase who left after the backup; returns what could not be done."""
        try:
            done = redo()
        except DomainError as error:
            return (
                f"{text_of(error)} ({error.code})\n백업 뒤에 탈퇴한 사람을 다시 지우지 못했습니다. 사이트를 켜기 전에 "
                "manage.py redo_erasures --apply를 실행하십시오.\n"
                "People who left after the backup were not erased again. Before you start the site, say manage.py "
                "redo_erasures --apply."
            )
        self.stdout.write(told(done, is_trial=False))
        return untold(done)


def _question(folder: Path, backup: Manifest, now: Present) -> str:
    """What the restore erases, what takes its place and what stays."""
    made = kst_text(datetime.fromisoformat(backup.made_at))
    boards, files = len(backup.facts.boards), len(backup.stored_files)
    last = kst_text(now.newest) if now.newest else "–"
    return (
        f"데이터베이스 ‘{now.database}’의 모든 자료를 지우고, {made}에 만든 백업 {folder}(순위표 {boards}개, 파일 "
        f"{files}개)의 것으로 바꿉니다.\n"
        f"- 지워지는 것: 대회 {now.competitions}개, 팀 {now.teams}개, 사람 {now.people}명, 제출 {now.submissions}건. "
        f"그중 제출 {now.later}건은 백업 뒤의 것이라 백업에 없습니다(마지막 제출 {last}).\n"
        "- 남는 것: 저장소의 파일 전부. 백업 뒤에 탈퇴한 사람은 다시 지웁니다.\n"
        f"All data of the database “{now.database}” are erased, and those of the backup {folder} of {made} ({boards} "
        f"boards, {files} files) take their place.\n"
        f"- Erased: {now.competitions} competitions, {now.teams} teams, {now.people} people, {now.submissions} "
        f"submissions, of which {now.later} are later than the backup and not in it (the last {last}).\n"
        "- Stays: every file in the store. Who left after the backup is erased again."
    )
