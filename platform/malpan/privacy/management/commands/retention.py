"""``manage.py retention``: removes personal data that are past their time, as the clock does every night."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any, Final

from django.core.management import BaseCommand, CommandError

from malpan.core.asking import add_yes, ask
from malpan.privacy.retention import let_go

KINDS: Final = {
    "unconfirmed_accounts": "이메일을 확인하지 않은 계정 / accounts whose address was never confirmed",
    "expired_sessions": "끝난 로그인 / sessions that ended",
    "answered_requests": "프로그램에 준 답 / what programs were answered",
    "closed_invitations": "쓰였거나 기한이 지난 초대 / invitations that were used or expired",
    "rejected_files": "끝난 단계에서 반려된 파일의 기록 / what was wrong with rejected files of phases that ended",
    "texts_of_competitions": "보관 기간이 지난 대회의 메모, 파일 이름, 문의 / memos, file names and questions "
    "of competitions past their time",
    "people_of_competitions": "보관 기간이 지난 대회에만 참가한 사람(제출은 ‘탈퇴한 사람’의 것으로 남음) "
    "/ people of such competitions alone (their submissions stay, as a former user's)",
    "erasure_records": "오래된 삭제 기록 / old records of erasures",
}


class Command(BaseCommand):
    help = (
        "보관 기간이 지난 개인정보를 지웁니다. 지우기 전에 묻습니다. "
        "/ Removes personal data that are past their time. Asks before."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="지우지 않고 세기만 / count, remove nothing")
        add_yes(parser)

    def handle(self, *args: Any, dry_run: bool, is_sure: bool, **options: Any) -> None:
        if not dry_run and any((found := let_go(is_trial=True)).values()):
            ask(self, what=_question(found), word=str(sum(found.values())), is_sure=is_sure)
        counts = let_go(is_trial=dry_run)
        for name, count in counts.items():
            self.stdout.write(f"{name}: {count}")
        if failed := ", ".join(KINDS.keys() - counts.keys()):
            raise CommandError(
                f"지우지 못한 것이 있습니다(로그 참고): {failed}. 다시 실행하십시오.\n"
                f"Some were not removed (see the log): {failed}. Run it again."
            )


def _question(found: dict[str, int]) -> str:
    """What goes, a line each, and what stays."""
    return "\n".join(
        [
            "보관 기간이 지난 개인정보를 지금 지웁니다. 그대로 두어도 오늘 밤 04:00에 지웁니다.",
            "Personal data that are past their time are removed now; left alone, tonight at 04:00.",
            *(f"- {KINDS[name]}: {count}" for name, count in found.items() if count),
            "점수, 순위표, 해시 사슬, 감사 로그는 그대로입니다.",
            "Scores, boards, hash chains and the audit log stay as they are.",
        ]
    )
