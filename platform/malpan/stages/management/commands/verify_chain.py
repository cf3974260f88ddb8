"""``manage.py verify_chain``: whether the published scores in the database are those that the chain recorded."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management import BaseCommand, CommandError
from django.db import transaction
from django.utils.translation import override

from malpan.competitions.models import Competition
from malpan.core.chores import record_chore
from malpan.core.models import Chore
from malpan.leaderboard.verification import unrecorded_submissions
from malpan.stages.verification import TEXTS, verify_competition
from malpan.submissions.integrity import chain
from malpan.submissions.integrity.receipts import issue_receipt


class Command(BaseCommand):
    help = (
        "점수와 발표된 순위표, 심사 결과가 해시 사슬의 기록과 같은지 확인합니다. "
        "/ Checks published scores, boards and stages against the hash chain. Exit status 1 when something differs."
    )
    requires_system_checks = ()  # they import every page

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("competitions", nargs="*", help="대회의 주소 이름, 없으면 모두 / slugs; all when none")
        parser.add_argument(
            "--record",
            action="store_true",
            help="사슬이 생기기 전의 제출을 먼저 기록합니다 / first record submissions from before there was a chain",
        )

    def handle(self, *args: Any, competitions: list[str], record: bool, **options: Any) -> None:
        rows = Competition.objects.order_by("slug")
        if competitions:
            rows = rows.filter(slug__in=competitions)
            if missing := set(competitions) - set(rows.values_list("slug", flat=True)):
                raise CommandError(f"그런 대회가 없습니다 / no such competition: {', '.join(sorted(missing))}")
        broken = [competition.slug for competition in rows if not self._is_sound(competition, record)]
        if not competitions:  # a check of some says nothing of the site
            record_chore(name=Chore.Name.CHAIN_CHECK, facts={"competitions": len(rows), "broken": broken})
        if broken:
            raise CommandError(f"기록과 다른 대회 / not as recorded: {', '.join(broken)}", returncode=1)

    def _is_sound(self, competition: Competition, record: bool) -> bool:
        if record:
            self._record(competition)
        findings = verify_competition(competition)
        for finding in findings:
            with override("ko"):
                korean = str(TEXTS[finding.code])
            with override("en"):
                english = str(TEXTS[finding.code])
            self.stdout.write(f"{competition.slug}: {finding.where}: {korean} / {english}")
        if not findings:
            self.stdout.write(f"{competition.slug}: 기록과 같습니다. / as recorded.")
        return not findings

    def _record(self, competition: Competition) -> None:
        with transaction.atomic():
            submissions = unrecorded_submissions(competition)
            for submission in submissions:
                issue_receipt(submission=submission)
            chain.append_scores(submissions)
        self.stdout.write(
            f"{competition.slug}: 제출 {len(submissions)}개 기록 / {len(submissions)} submissions recorded"
        )
