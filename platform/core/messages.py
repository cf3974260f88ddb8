"""What people read for each error: the one place where a code becomes words.

A text says what happened, where, and what to do next. ``text_of`` answers in the active language at the moment of the
call; the Korean text is the msgid.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from django.template.defaultfilters import filesizeformat
from django.utils.functional import Promise
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from core.errors import DomainError, SubmissionError, SystemFault
from core.times import kst_text

HEADINGS: Final[tuple[tuple[type[DomainError], Promise], ...]] = (
    (SubmissionError, _("제출 오류")),
    (SystemFault, _("시스템 오류")),
    (DomainError, _("요청 오류")),
)


def _ours(text: Promise) -> Promise:
    """``text`` and what every fault of ours promises."""
    return format_lazy("{} {}", text, _("참가자의 잘못이 아니며 제출 횟수는 차감되지 않습니다."))


TEXTS: Final[dict[str, Promise]] = {
    "domain_error": _("요청을 처리하지 못했습니다. 입력한 내용을 확인하고 다시 시도해 주십시오."),
    "submission_error": _("제출을 접수하지 못했습니다. 파일과 제출 기간을 확인해 주십시오."),
    "system_fault": _ours(_("서버에 문제가 생겼습니다. 잠시 뒤에 다시 시도해 주십시오.")),
    "request_error": _("요청을 처리할 수 없습니다. 주소와 입력한 내용을 확인해 주십시오."),
    # submissions
    "phase_not_open.not_begun": _("아직 제출 기간이 아닙니다. 제출은 %(starts_at)s부터 받습니다."),
    "phase_not_open.over": _("제출 기간이 %(ends_at)s에 끝났습니다. 더 이상 제출할 수 없습니다."),
    "quota_exceeded.daily": _(
        "하루 제출 한도 %(limit)s회를 모두 썼습니다. %(next_allowed_at)s부터 다시 제출할 수 있습니다."
    ),
    "quota_exceeded.daily_last": _(
        "하루 제출 한도 %(limit)s회를 모두 썼고, 다음 날이 되기 전에 이 단계가 끝납니다. 더 이상 제출할 수 없습니다."
    ),
    "quota_exceeded.interval": _(
        "제출 간 최소 간격은 %(limit)s입니다. %(next_allowed_at)s부터 다시 제출할 수 있습니다."
    ),
    "quota_exceeded.interval_last": _(
        "제출 간 최소 간격은 %(limit)s이고, 그 전에 이 단계가 끝납니다. 더 이상 제출할 수 없습니다."
    ),
    "quota_exceeded.total_last": _("전체 제출 한도 %(limit)s회를 모두 썼습니다. 더 이상 제출할 수 없습니다."),
    "duplicate_upload": _(
        "이 업로드는 %(submitted_at)s에 이미 접수되었습니다(제출 %(public_id)s). "
        "제출 횟수는 다시 차감되지 않았습니다. ‘내 제출’에서 결과를 확인해 주십시오."
    ),
    "upload_too_large": _(
        "파일 크기(%(size_bytes)s)가 상한(%(limit_bytes)s)을 넘습니다. 제출에 필요한 항목만 담아 다시 올려 주십시오."
    ),
    "file_rejected": _(
        "파일에서 오류 %(total)s건을 찾았습니다. 아래 줄과 id를 고쳐 다시 올려 주십시오. "
        "제출 횟수는 차감되지 않았습니다."
    ),
    # our side
    "storage_full": _ours(_("서버의 저장 공간이 부족해 파일을 저장하지 못했습니다. 운영자에게 알려 주십시오.")),
    "storage_unavailable": _ours(_("서버가 파일을 저장하거나 읽지 못했습니다. 잠시 뒤에 다시 시도해 주십시오.")),
    "stored_file_missing": _ours(_("서버에 저장된 파일을 찾지 못했습니다. 운영자에게 알려 주십시오.")),
    "stored_file_corrupt": _ours(_("서버에 저장된 파일이 손상되었습니다. 운영자에게 알려 주십시오.")),
    "references_not_published": _ours(
        _("이 단계의 정답이 아직 등록되지 않아 제출을 받을 수 없습니다. 주최 측에 알려 주십시오.")
    ),
    "model_missing": _ours(_("채점 서버에 채점 모델이 준비되지 않았습니다. 운영자가 조치하고 있습니다.")),
    "scoring_crashed": _ours(_("채점 중에 서버 오류가 생겼습니다. 운영자가 조치하고 있습니다.")),
    "worker_lost": _ours(_("채점 서버와 연결이 끊겼습니다. 운영자가 조치하고 있습니다.")),
    # organisers
    "references_rejected": _("정답 파일에서 오류 %(total)s건을 찾았습니다. 아래 줄과 id를 고쳐 다시 올려 주십시오."),
    "media_rejected": _("프레임 파일을 등록하지 않았습니다. %(reason)s"),
    "media_too_large": _(
        "올린 파일의 크기(%(size_bytes)s)가 상한(%(limit_bytes)s)을 넘습니다. 이미지를 줄여 다시 올리거나, "
        "운영자에게 업로드 상한(UPLOAD_MAX_BYTES)을 늘려 달라고 요청해 주십시오."
    ),
    "references_in_use": _(
        "이 단계에는 현재 정답으로 접수된 제출이 %(count)s건 있습니다. "
        "정답을 바꾸면 기존 점수가 순위표에서 빠집니다. 그래도 바꾸려면 확인란에 표시해 주십시오."
    ),
    "answers_would_leak": _(
        "이 파일은 정답 파일과 같은 파일이라 공개 자료로 쓸 수 없습니다. 두 파일을 확인하고 다른 파일을 올려 주십시오."
    ),
    "unknown_recipe": _("채점 방식 ‘%(recipe)s’이(가) 없습니다. 트랙의 채점 방식을 확인해 주십시오."),
    "run_not_retryable": _("결과 없이 실패한 채점만 다시 시도할 수 있습니다(현재 상태: %(state)s)."),
    # the organiser's desk
    "desk_not_found": _("이 주소에는 페이지가 없습니다."),
    "not_allowed": _("이 대회에서 맡은 역할로는 할 수 없는 일입니다. 대회 소유자에게 요청해 주십시오."),
    # teams and people
    "not_team_member": _("이 대회에 참가하는 팀의 구성원만 할 수 있습니다. 팀을 만들거나 초대를 받아 주십시오."),
    "not_team_leader": _("팀장만 할 수 있습니다. 팀장에게 요청해 주십시오."),
    "already_in_team": _("이 대회에서 이미 팀에 속해 있습니다. 한 대회에는 한 팀으로만 참가할 수 있습니다."),
    "team_name_taken": _("‘%(name)s’은(는) 이미 쓰는 팀 이름입니다. 다른 이름을 입력해 주십시오."),
    "team_name_invalid": _("팀 이름은 1자 이상 %(limit)s자 이하로, 제어 문자 없이 입력해 주십시오."),
    "team_full": _("팀 인원이 상한 %(limit)s명에 이르렀습니다. 팀장에게 문의해 주십시오."),
    "invitation_not_found": _("초대 링크가 올바르지 않습니다. 팀장에게 새 링크를 요청해 주십시오."),
    "invitation_expired": _("초대 링크가 %(expired_at)s에 만료되었습니다. 팀장에게 새 링크를 요청해 주십시오."),
    "invitation_used": _("이미 사용한 초대 링크입니다. 팀장에게 새 링크를 요청해 주십시오."),
    # addresses and keys
    "competition_not_found": _("대회를 찾을 수 없습니다. 주소를 확인해 주십시오."),
    "track_not_found": _("트랙을 찾을 수 없습니다. 주소를 확인해 주십시오."),
    "submission_not_found": _("제출을 찾을 수 없습니다. 주소와 로그인한 계정을 확인해 주십시오."),
    "data_file_not_found": _("자료를 찾을 수 없습니다. 데이터 탭에서 다시 내려받아 주십시오."),
    "api_token_invalid": _(
        "API 토큰이 없거나 올바르지 않습니다. Authorization: Bearer <토큰> 머리글을 확인해 주십시오."
    ),
    "api_request_invalid": _("요청에 ‘%(field)s’이(가) 없거나 올바르지 않습니다."),
    "address_not_found": _("이런 주소는 없습니다."),
    "method_not_allowed": _("이 주소는 %(allowed)s 요청만 받습니다."),
}


def text_of(error: DomainError) -> str:
    """The sentence for ``error`` in the active language."""
    return _filled(error.text_key, error.params)


def text_of_code(code: str) -> str:
    """The sentence for a stored ``code`` that needs no data, such as the fault of a failed run."""
    return _filled(code if code in TEXTS else SystemFault.code, {})


def heading_of(error: DomainError) -> str:
    """제출 오류, 시스템 오류 or 요청 오류: whose it is to mend."""
    return next(str(heading) for root, heading in HEADINGS if isinstance(error, root))


def _filled(key: str, params: Mapping[str, Any]) -> str:
    return str(TEXTS[key]) % {name: _shown(name, value) for name, value in params.items()}


def _shown(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        return kst_text(value)
    if isinstance(value, timedelta):
        return duration_text(value)
    if name.endswith("_bytes"):
        return filesizeformat(value)
    return str(value)


def duration_text(span: timedelta) -> str:
    """``72시간``, ``90분``, ``30초``: the largest unit that divides ``span`` evenly."""
    seconds = int(span.total_seconds())
    if seconds % 3600 == 0:
        return ngettext("%(count)d시간", "%(count)d시간", seconds // 3600) % {"count": seconds // 3600}
    if seconds % 60 == 0:
        return ngettext("%(count)d분", "%(count)d분", seconds // 60) % {"count": seconds // 60}
    return ngettext("%(count)d초", "%(count)d초", seconds) % {"count": seconds}
