"""What operators are told of erasures that were done again, in Korean and English."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from django.utils import timezone

from malpan.privacy.redoing import Redone

SHOWN: Final = 20


def told(done: Redone, *, is_trial: bool) -> str:
    """What was found and done; with ``is_trial`` what would be."""
    numbers = ", ".join(map(str, done.people[:SHOWN])) + (" …" if len(done.people) > SHOWN else "")
    count, records = len(done.people), done.records
    if not count:
        return (
            f"삭제 기록 {records}건을 보았고, 다시 지울 사람이 없습니다. / {records} records of erasures: nobody is to "
            "be erased again."
        )
    if is_trial:
        return (
            f"삭제 기록 {records}건 가운데 {count}명의 개인정보가 이 데이터베이스에 다시 있습니다(번호 {numbers}). "
            "아직 지우지 않았습니다. 다시 지우려면 manage.py redo_erasures --apply를 실행하십시오.\n"
            f"Of {records} records of erasures, {count} people are in this database again (numbers {numbers}). "
            "Nothing was erased yet: manage.py redo_erasures --apply does it."
        )
    lines = [
        f"삭제 기록 {records}건을 보고 {count}명의 개인정보를 다시 지웠습니다(번호 {numbers}).",
        f"Of {records} records of erasures, {count} people were erased again (numbers {numbers}).",
    ]
    if done.leaves_no_administrator:
        lines += [
            "관리자가 한 명도 남지 않았습니다. manage.py createsuperuser로 만드십시오.",
            "No administrator is left: manage.py createsuperuser makes one.",
        ]
    return "\n".join(lines)


def untold(done: Redone) -> str:
    """What was not done for want of a key, and what to do; empty if all was."""
    if not done.unreadable:
        return ""
    count = len(done.unreadable)
    return (
        f"삭제 기록 {count}건은 다른 키로 만든 것이라 누구의 것인지 알 수 없습니다. 이 사람들은 지우지 않았습니다. "
        "예전 SECRET_KEY(또는 ERASURE_KEY)를 ERASURE_KEY_FALLBACKS에 넣고 manage.py redo_erasures --apply를 "
        "실행하십시오. 예전 키가 없으면, 아래 시각의 로그에서 ‘the personal data of person N were erased’를 찾아 "
        "manage.py erase_person N을 실행하십시오.\n"
        f"{count} records of erasures were made under another key, and do not say whose they are: these people were "
        "not erased. Put the earlier SECRET_KEY (or ERASURE_KEY) into ERASURE_KEY_FALLBACKS and say manage.py "
        "redo_erasures --apply. Without that key: look for “the personal data of person N were erased” in the logs of "
        "these times, and say manage.py erase_person N.\n" + "\n".join(_moments(done.unreadable))
    )


def out_of_reach(made_at: datetime, reach: datetime) -> str:
    """What to say of a backup made before the oldest record that is kept; empty if it was made after."""
    if made_at >= reach:
        return ""
    day = timezone.localtime(reach).strftime("%Y-%m-%d")
    return (
        f"이 백업은 {day}보다 오래되었고, 그 전의 삭제 기록은 남아 있지 않습니다(RETENTION_ERASURE_RECORDS_DAYS). "
        "그 사이에 탈퇴한 사람이 다시 나타났을 수 있으니 로그를 확인하십시오.\n"
        f"This backup is older than {day}, and records of erasures before are not kept "
        "(RETENTION_ERASURE_RECORDS_DAYS): people who left in between may be back. Look at the logs."
    )


def _moments(moments: list[datetime]) -> list[str]:
    shown = [timezone.localtime(each).isoformat(timespec="seconds") for each in moments[:SHOWN]]
    return [*shown, f"… ({len(moments)})"] if len(moments) > SHOWN else shown
