"""What on the operators' page wants somebody now: pure rules, and their words: what happened and what to do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from malpan.core.mail_state import MailState
from malpan.core.models import Chore
from malpan.core.times import kst_text
from malpan.jobs.errors import VersionMissing
from malpan.jobs.heartbeat import Scorers
from malpan.operation.site_page.facts import Disk, Held, LackingModels, Lane
from malpan.submissions.errors import JudgeAway, JudgeBudgetUsedUp

LONG_WAIT: Final = timedelta(minutes=15)  # of a submission
CHORE_EVERY: Final = timedelta(hours=26)  # a day, and the time that it takes
SILENCE: Final = timedelta(minutes=3)  # of the programs that say every half minute that they are there


# the events of which staff are told (``operation.incidents``)
QUEUE_STUCK: Final = "queue_stuck"
WORKER_SILENT: Final = "worker_silent"
DISK_LOW: Final = "disk_low"
CHAIN_BROKEN: Final = "chain_broken"
CHAIN_UNCHECKED: Final = "chain_unchecked"
MAIL_FAILING: Final = "mail_failing"


@dataclass(frozen=True, slots=True)
class Alarm:
    """A sentence for the operators. ``is_urgent``: participants notice it already. ``event``: what is told of it, to
    those who do not look, for each of ``subjects``; empty if nothing is.
    """

    text: str
    is_urgent: bool = False
    event: str = ""
    subjects: tuple[str, ...] = ("",)


def alarms(
    *,
    scorers: Scorers,
    lanes: Sequence[Lane],
    lacking: Sequence[LackingModels],
    held: Sequence[Held],
    disk: Disk | None,
    mail: MailState | None,
    no_room_at: datetime | None,
    chores: Mapping[str, Chore],
    now: datetime,
) -> list[Alarm]:
    """All that is wrong, what is urgent first. ``mail`` is ``None`` if the cache that knows it is away;
    ``no_room_at``: when the database last had no room.
    """
    found = [
        *_of_database(no_room_at),
        *_of_scorers(scorers),
        *_of_queue(lanes),
        *_of_models(lacking),
        *_of_held(held, now),
        *_of_programs(chores, now),
        *_of_disk(disk),
        *_of_mail(mail),
        *_of_backup(chores.get(Chore.Name.BACKUP), now),
        *_of_chains(chores.get(Chore.Name.CHAIN_CHECK), now),
    ]
    return sorted(found, key=lambda alarm: not alarm.is_urgent)


def _of_database(no_room_at: datetime | None) -> Iterator[Alarm]:
    if no_room_at is not None:
        text = _(
            "데이터베이스 디스크가 가득 찼습니다. 읽기만 되고, 제출을 받지 못하며 채점이 멈춰 있습니다(마지막 거절 "
            "%(at)s). 그 디스크에 자리를 마련하면 나머지는 저절로 이어집니다(deploy/OPERATIONS.md, A disk is full)."
        )
        yield Alarm(text % {"at": kst_text(no_room_at)}, is_urgent=True)


def _of_scorers(scorers: Scorers) -> Iterator[Alarm]:
    if not scorers.working:
        yield Alarm(
            _(
                "채점하는 서버가 없습니다. 올라온 파일은 접수되어 기다립니다. 채점 서버를 다시 켜고 기록을 확인하십시오"
                "(systemctl status malpan-worker@0)."
            ),
            is_urgent=True,
            event=WORKER_SILENT,
        )
    elif silent := scorers.silent:
        yield Alarm(
            ngettext(
                "채점 프로세스 %(count)d개가 보고하지 않습니다. 나머지가 채점을 이어 가지만 느려집니다. "
                "그 서버가 켜져 있는지 확인하십시오.",
                "채점 프로세스 %(count)d개가 보고하지 않습니다. 나머지가 채점을 이어 가지만 느려집니다. "
                "그 서버가 켜져 있는지 확인하십시오.",
                len(silent),
            )
            % {"count": len(silent)},
            event=WORKER_SILENT,
        )


def _of_queue(lanes: Sequence[Lane]) -> Iterator[Alarm]:
    for lane in lanes:
        if lane.lane == lane.lane.LIVE and lane.oldest_wait is not None and lane.oldest_wait > LONG_WAIT:
            minutes = int(lane.oldest_wait.total_seconds() // 60)
            text = _("%(minutes)d분 넘게 기다린 제출이 있습니다. 채점 서버를 늘리거나 멈춘 것이 없는지 확인하십시오.")
            yield Alarm(text % {"minutes": minutes}, is_urgent=True, event=QUEUE_STUCK)


def _of_models(lacking: Sequence[LackingModels]) -> Iterator[Alarm]:
    for each in lacking:
        text = ngettext(
            "프로필 %(profile)s의 모델이 있는 채점 서버를 찾지 못해 채점 %(runs)d건이 기다립니다. 채점 서버의 "
            "SCORING_PROFILE을 확인하고 모델을 받으십시오(python -m scoring models list).",
            "프로필 %(profile)s의 모델이 있는 채점 서버를 찾지 못해 채점 %(runs)d건이 기다립니다. 채점 서버의 "
            "SCORING_PROFILE을 확인하고 모델을 받으십시오(python -m scoring models list).",
            each.runs,
        )
        yield Alarm(text % {"profile": each.profile, "runs": each.runs}, is_urgent=True, event=QUEUE_STUCK)


def _of_held(held: Sequence[Held], now: datetime) -> Iterator[Alarm]:
    for each in held:
        if now - each.since > LONG_WAIT:
            minutes = int((now - each.since).total_seconds() // 60)
            text = _held_text(each.code) % {"jobs": each.jobs, "minutes": minutes}
            yield Alarm(text, is_urgent=True, event=QUEUE_STUCK)


def _held_text(code: str) -> str:
    if code == JudgeAway.code:
        return _(
            "심사 모델의 서버가 답하지 않아 채점 %(jobs)d건이 %(minutes)d분 넘게 기다립니다. "
            "그 서버와 JUDGE_URL, JUDGE_API_KEY를 확인하십시오."
        )
    if code == JudgeBudgetUsedUp.code:
        return _(
            "심사 모델의 예산을 다 써 채점 %(jobs)d건이 %(minutes)d분 넘게 기다립니다. "
            "프로필 [judge]의 max_requests나 max_tokens_total을 늘리면 저절로 이어집니다."
        )
    if code == VersionMissing.code:
        return _(
            "이 채점 방식을 아는 버전의 채점 프로세스가 없어 작업 %(jobs)d건이 %(minutes)d분 넘게 기다립니다. 사이트와 "
            "채점 서버의 버전이 다르니, 채점 서버를 사이트의 버전으로 올려 다시 켜고 기록을 확인하십시오. 사이트를 전 "
            "버전으로 되돌렸다면 새 버전의 채점 서버를 하나 남겨 두십시오."
        )
    return _(
        "채점 서버가 파일 저장소에 닿지 못해 채점 %(jobs)d건이 %(minutes)d분 넘게 기다립니다. 채점 서버의 "
        "MALPAN_STORAGE와 S3_로 시작하는 설정, 그 서버에서 저장소까지의 연결을 확인하십시오."
    )


def _of_programs(chores: Mapping[str, Chore], now: datetime) -> Iterator[Alarm]:
    """Beat orders through the chores: where these are silent nothing is known of it."""
    if _is_silent(chores.get(Chore.Name.CHORES), now):
        text = _(
            "정리 프로그램(chores)이 답하지 않습니다. 끊긴 채점을 되찾지 못하고 메일도 나가지 않습니다. "
            "다시 켜고 기록을 확인하십시오(systemctl status malpan-chores)."
        )
        yield Alarm(text, is_urgent=True)
    elif _is_silent(chores.get(Chore.Name.BEAT), now):
        text = _(
            "예약 프로그램(beat)이 답하지 않습니다. 정해진 시각의 일이 시작되지 않습니다. "
            "다시 켜고 기록을 확인하십시오(systemctl status malpan-beat)."
        )
        yield Alarm(text, is_urgent=True)


def _is_silent(sign: Chore | None, now: datetime) -> bool:
    return sign is None or now - sign.done_at > SILENCE


def _of_disk(disk: Disk | None) -> Iterator[Alarm]:
    if disk is not None and disk.is_low:
        text = _("파일을 두는 디스크가 %(share)d%%만 남았습니다. 가득 차면 제출을 받지 못하니 공간을 늘리십시오.")
        yield Alarm(text % {"share": int(100 * disk.share)}, is_urgent=True, event=DISK_LOW)


def _of_mail(mail: MailState | None) -> Iterator[Alarm]:
    if mail is None:
        yield Alarm(_("캐시(Redis)에 연결할 수 없습니다. 로그인이 되지 않을 수 있으니 Redis를 확인하십시오."), True)
    elif mail.is_failing:
        text = _("마지막 메일을 보내지 못했습니다(%(fault)s, %(at)s). 메일 서버와 EMAIL_URL을 확인하십시오.")
        said = text % {"fault": mail.fault, "at": kst_text(mail.failed_at)} if mail.failed_at else text
        yield Alarm(said, event=MAIL_FAILING)


def _of_backup(chore: Chore | None, now: datetime) -> Iterator[Alarm]:
    if chore is None:
        yield Alarm(_("백업한 기록이 없습니다. manage.py backup을 날마다 실행하도록 하십시오."))
    elif now - chore.done_at > CHORE_EVERY:
        text = _("마지막 백업이 %(at)s입니다. 예약한 작업이 돌고 있는지 확인하십시오.")
        yield Alarm(text % {"at": kst_text(chore.done_at)})
    elif chore.facts.get("missing"):
        text = _("마지막 백업에 데이터베이스가 가리키는 파일 %(count)d개가 빠져 있습니다. 백업 기록을 확인하십시오.")
        yield Alarm(text % {"count": chore.facts["missing"]})


def _of_chains(chore: Chore | None, now: datetime) -> Iterator[Alarm]:
    if chore is None:
        yield Alarm(_("해시 사슬을 검사한 기록이 없습니다. manage.py verify_chain을 날마다 실행하도록 하십시오."))
    elif broken := chore.facts.get("broken"):
        text = _("해시 사슬의 기록과 다른 대회가 있습니다: %(names)s. 순위를 발표하지 말고 원인을 찾으십시오.")
        yield Alarm(text % {"names": ", ".join(broken)}, True, CHAIN_BROKEN, tuple(broken))
    elif now - chore.done_at > CHORE_EVERY:
        text = _(
            "해시 사슬을 마지막으로 검사한 때가 %(at)s입니다. 백업은 되어도 뒤따르는 검사가 끝나지 않은 것일 수 "
            "있으니, 백업의 기록과 manage.py verify_chain이 끝나는지 확인하십시오."
        )
        yield Alarm(text % {"at": kst_text(chore.done_at)}, event=CHAIN_UNCHECKED)
