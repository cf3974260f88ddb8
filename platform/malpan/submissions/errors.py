"""Errors about submissions: uploads, quota, runs, rescoring, final choices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from django.utils import timezone
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from malpan.core.errors import (
    Conflict,
    NotFound,
    SubmissionError,
    SystemFault,
    Text,
    TooMany,
    TooManyRequests,
    Unprocessable,
)

if TYPE_CHECKING:
    from malpan.submissions.quota.ledger import Elsewhere
    from scoring.errors import FileError

QuotaKind = Literal["daily", "total", "interval"]


class PhaseNotOpen(SubmissionError):
    """Params: ``starts_at``, ``ends_at``. ``is_over``: it has ended, otherwise it has not begun."""

    http_status = 409
    text = {
        "not_begun": _("아직 제출 기간이 아닙니다. 제출은 %(starts_at)s부터 받습니다."),
        "over": _("제출 기간이 %(ends_at)s에 끝났습니다. 더 이상 제출할 수 없습니다."),
    }

    def __init__(self, *, starts_at: datetime, ends_at: datetime, is_over: bool) -> None:
        self.is_over = is_over
        super().__init__(starts_at=starts_at, ends_at=ends_at)

    @property
    def variant(self) -> str:
        return "over" if self.is_over else "not_begun"


class QuotaExceeded(SubmissionError):
    """A limit of the phase is reached. ``next_allowed_at`` is ``None`` if no later moment of the phase allows it.

    ``elsewhere``: the share of this limit that members used in other teams.
    """

    http_status = 429
    text = {
        "daily": _("하루 제출 한도 %(limit)s회를 모두 썼습니다. %(next_allowed_at)s부터 다시 제출할 수 있습니다."),
        "daily_last": _(
            "하루 제출 한도 %(limit)s회를 모두 썼고, 다음 날이 되기 전에 이 단계가 끝납니다. "
            "더 이상 제출할 수 없습니다."
        ),
        "interval": _("제출 간 최소 간격은 %(limit)s입니다. %(next_allowed_at)s부터 다시 제출할 수 있습니다."),
        "interval_last": _(
            "제출 간 최소 간격은 %(limit)s이고, 그 전에 이 단계가 끝납니다. 더 이상 제출할 수 없습니다."
        ),
        "total_last": _("전체 제출 한도 %(limit)s회를 모두 썼습니다. 더 이상 제출할 수 없습니다."),
    }
    also_elsewhere = _("이 팀의 %(people)s님이 다른 팀에서 쓴 %(slots)s회가 포함됩니다.")

    def __init__(
        self, *, kind: QuotaKind, limit: Any, next_allowed_at: datetime | None, elsewhere: Elsewhere | None = None
    ) -> None:
        self.kind = kind
        self.limit = limit
        self.next_allowed_at = next_allowed_at
        if next_allowed_at is not None:
            self.retry_after = max(1, round((next_allowed_at - timezone.now()).total_seconds()))
        params = {"people": ", ".join(elsewhere.people), "slots": elsewhere.slots} if elsewhere else {}
        super().__init__(kind=kind, limit=limit, next_allowed_at=next_allowed_at, **params)

    @property
    def variant(self) -> str:
        return f"{self.kind}{'' if self.next_allowed_at else '_last'}{'+elsewhere' if 'people' in self.params else ''}"

    @classmethod
    def sentence(cls, variant: str = "") -> Text:
        limit, _plus, elsewhere = variant.partition("+")
        sentence = super().sentence(limit)
        return format_lazy("{} {}", sentence, cls.also_elsewhere) if elsewhere else sentence


class DuplicateUpload(SubmissionError):
    """The same upload again: a second click, a resent request. Params: ``public_id``, ``submitted_at``."""

    http_status = 409
    text = _(
        "이 업로드는 %(submitted_at)s에 이미 접수되었습니다(제출 %(public_id)s). "
        "제출 횟수는 다시 차감되지 않았습니다. ‘내 제출’에서 결과를 확인해 주십시오."
    )


class SameFile(SubmissionError):
    """The team submitted these bytes before, and has not said that it means to. Params: ``public_id``,
    ``submitted_at``.
    """

    http_status = 409
    text = _(
        "%(submitted_at)s에 제출한 파일과 한 글자도 다르지 않아 접수하지 않았고, 제출 횟수도 차감하지 않았습니다. 다시 "
        "제출하면 같은 점수에 횟수만 듭니다."
    )


class UploadKeyReused(SubmissionError):
    """The key of an earlier upload with other bytes."""

    http_status = 422
    text = _(
        "이 Idempotency-Key로는 이미 다른 파일을 접수했습니다. 새 파일은 새 키로 보내 주십시오. 제출 횟수는 차감되지 "
        "않았습니다."
    )


class UploadKeyTooLong(SubmissionError):
    """Cut, it would be the key of other uploads too. Params: ``length``, ``limit``."""

    http_status = 422
    text = _(
        "Idempotency-Key가 %(length)s자입니다. %(limit)s자 이하의 키로 다시 보내 주십시오. 제출 횟수는 차감되지 "
        "않았습니다."
    )


class UploadTooLarge(SubmissionError):
    """Params: ``size_bytes``, ``limit_bytes``."""

    http_status = 413
    text = _(
        "파일 크기(%(size_bytes)s)가 상한(%(limit_bytes)s)을 넘습니다. 제출에 필요한 항목만 담아 다시 올려 주십시오."
    )


class FileRejected(SubmissionError):
    """The file breaks the format. ``errors`` are located and capped, ``total`` counts all, ``rejection`` records it."""

    http_status = 422
    text = _(
        "파일에서 오류 %(total)s건을 찾았습니다. 오류가 난 줄과 id를 고쳐 다시 올려 주십시오. "
        "제출 횟수는 차감되지 않았습니다."
    )

    def __init__(self, *, errors: Sequence[FileError], total: int, rejection: Any = None) -> None:
        self.errors = tuple(errors)
        self.total = total
        self.rejection = rejection
        super().__init__(total=total)


class TooManyRejections(SubmissionError):
    """Too many rejected or only checked files in a short time. Params: ``count`` within ``window``; one more in each
    ``pace``, the next after ``wait``.
    """

    http_status = 429
    text = _(
        "최근 %(window)s 동안 반려되었거나 검사만 한 파일이 %(count)s개여서 지금은 %(pace)s에 하나씩만 검사합니다. "
        "오류가 있으면 고쳐서 %(wait)s 뒤에 다시 올려 주십시오. 형식은 malpan check --local이나 python -m "
        "scoring check로 내 컴퓨터에서 정답 파일 없이 확인할 수 있습니다. 제출 횟수는 차감되지 않았습니다."
    )

    def __init__(self, *, count: int, window: timedelta, pace: timedelta, wait: timedelta) -> None:
        self.retry_after = math.ceil(wait.total_seconds())
        super().__init__(count=count, window=window, pace=pace, wait=timedelta(seconds=self.retry_after))


class TooManyUploads(TooManyRequests):
    """Too many files of a person in this minute: this one was not read. Params: ``limit``, ``seconds``."""

    text = _(
        "1분에 올릴 수 있는 파일 %(limit)s개를 모두 올렸습니다. 이번 파일은 읽지 않았고 제출 횟수도 줄지 않았습니다. "
        "%(seconds)s초 뒤에 다시 올려 주십시오."
    )


class TeamCheckRunning(SubmissionError):
    """Another large file of the team is being checked, or as many small ones as may still be rejected."""

    http_status = 429
    retry_after = 10
    text = _(
        "이 팀의 다른 파일을 검사하고 있습니다. 그 결과가 나온 뒤에 다시 올려 주십시오. 제출 횟수는 차감되지 "
        "않았습니다."
    )


class CheckCrashed(SystemFault):
    """The check of a file ended without an answer."""

    text = _("파일을 검사하는 중에 서버에 문제가 생겼습니다. 잠시 뒤에 다시 올려 주십시오.")


class ChecksBusy(SystemFault):
    """Too many large files are being checked at once."""

    retry_after = 15
    text = _("큰 파일이 한꺼번에 몰려 지금은 검사할 수 없습니다. 15초쯤 뒤에 다시 올려 주십시오.")


class ReadsBusy(TooMany):
    """A large file of the team, or too many of others, are being read or checked."""

    retry_after = 5
    text = _("큰 파일을 읽거나 검사하는 중이라 지금은 이 제출의 답을 읽을 수 없습니다. 5초쯤 뒤에 다시 열어 주십시오.")


class ChainBusy(SystemFault):
    """The file of a chain that has just changed is being made for others."""

    retry_after = 5
    text = _("기록 파일을 만드는 요청이 몰려 있습니다. 5초쯤 뒤에 다시 내려받아 주십시오.")


class ModelMissing(SystemFault):
    """A model of the scoring profile is not on the worker's machine: the run waits for a worker that has it. Written to
    the run, not raised.
    """

    text = _("채점 모델이 준비된 채점 서버를 찾지 못해 기다립니다. 운영자가 준비하면 이어서 채점합니다.")


class JudgeBudgetUsedUp(SystemFault):
    """The budget of the LLM judge is used up: the run waits until there is more. Written to the run, not raised."""

    text = _("심사 모델의 예산을 다 써 채점을 멈추고 기다립니다. 운영자가 예산을 늘리면 이어서 채점합니다.")


class JudgeAway(SystemFault):
    """The server of the LLM judge does not answer: the run waits for it, up to ``JUDGE_WAIT_SECONDS``."""

    text = _("심사 모델 서버가 응답하지 않아 기다립니다. 응답하면 이어서 채점합니다.")


class JudgeRejects(SystemFault):
    """The server of the LLM judge refuses its requests: the profile or the key is wrong."""

    text = _("심사 모델 서버가 요청을 거절했습니다. 운영자가 조치하고 있습니다.")


class ScoringCrashed(SystemFault):
    """The engine stopped with an error that the file did not cause."""

    text = _("채점 중에 서버 오류가 생겼습니다. 운영자가 조치하고 있습니다.")


class RunNotRetryable(Conflict):
    """Only a failed run whose submission has no result can be tried again. Params: ``state``."""

    text = _("결과 없이 실패한 채점만 다시 시도할 수 있습니다(현재 상태: %(state)s).")


class SubmissionNotFound(NotFound):
    """No such submission, or the person may not see it: the two are indistinguishable on purpose."""

    text = _("제출을 찾을 수 없습니다. 주소와 로그인한 계정을 확인해 주십시오.")


class CancelledByOrganiser(SystemFault):
    """Not raised but written to a run as its ``error_code``: an organiser cancelled it, the submission is refunded."""

    text = _("운영자가 이 채점을 취소했습니다. 궁금한 점은 주최 측에 문의해 주십시오.")


class RunNotFound(NotFound):
    """No such run in this competition."""

    text = _("채점을 찾을 수 없습니다. 채점 목록에서 다시 열어 주십시오.")


class RunNotCancellable(Conflict):
    """Only a queued or running run can be cancelled. Params: ``state``."""

    text = _("대기 중이거나 채점 중인 채점만 취소할 수 있습니다(현재 상태: %(state)s).")


class RunBelongsToBatch(Conflict):
    """A run of a rescoring batch ends with its batch: cancelled alone it would keep the batch from getting ready."""

    text = _("재채점에 속한 채점은 따로 취소할 수 없습니다. 재채점 페이지에서 재채점을 취소해 주십시오.")


class FinalsNotUsed(Conflict):
    """The phase has no final selection: every submission counts."""

    text = _("이 단계에는 최종 선택이 없습니다. 모든 제출이 최종 순위에 반영됩니다.")


class FinalsLocked(Conflict):
    """Final submissions can be chosen up to the end of the phase. Params: ``ends_at``."""

    text = _("최종 선택은 단계가 끝난 %(ends_at)s에 마감되었습니다. 더 이상 바꿀 수 없습니다.")


class TooManyFinals(Conflict):
    """Params: ``limit``, ``count``."""

    text = _("최종 제출은 %(limit)s건까지 고를 수 있는데 %(count)s건을 골랐습니다. 수를 줄여 다시 저장해 주십시오.")


class FinalNotEligible(Conflict):
    """A submission of another team or phase, or one that was refunded or withdrawn."""

    text = _(
        "고른 제출 가운데 최종 제출로 쓸 수 없는 것이 있습니다(다른 대회나 단계의 제출, 환불되었거나 철회한 제출)."
    )


class GrantWithoutEffect(Unprocessable):
    """The phase has no limit that the grant would raise: one for a day needs a daily limit. Params: none."""

    text = _(
        "이 단계에는 늘릴 한도가 없습니다. 날짜에 추가하려면 하루 한도가, 단계에 추가하려면 하루 한도나 전체 한도가 "
        "있어야 합니다."
    )


class WithdrawalClosed(Conflict):
    """A submission can be withdrawn only up to the end of its phase. Params: ``ends_at``."""

    text = _("제출 기간이 %(ends_at)s에 끝나 제출을 철회할 수 없습니다.")


class JudgementsMissing(Conflict):
    """The submission has no result with values of this judge. Params: none."""

    text = _("이 제출에는 심사 모델의 점수가 없습니다. 심사 모델로 채점이 끝난 제출을 골라 주십시오.")


class HumanScoresRejected(Unprocessable):
    """A file of people's scores breaks the format. ``errors`` are located; ``total`` counts all."""

    text = _("사람 점수 파일에서 오류 %(total)s건을 찾았습니다. 표를 보고 고쳐 다시 올려 주십시오.")

    def __init__(self, *, errors: Sequence[FileError], total: int) -> None:
        self.errors = tuple(errors)
        self.total = total
        super().__init__(total=total)


class HumanScoresMissing(Unprocessable):
    """Too few items have a score by both. Params: ``count``."""

    text = _(
        "심사 모델과 사람이 모두 점수를 매긴 문항이 %(count)s개입니다. 일치도를 내려면 2개 이상이어야 합니다. 파일에 "
        "문항을 더해 주십시오."
    )


class AgreementNotFound(NotFound):
    """The competition has no such record of an agreement."""

    text = _("일치도 기록을 찾을 수 없습니다.")
