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

from malpan.core.errors import DomainError, SubmissionError, SystemFault
from malpan.core.times import kst_text

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
    "plan_outdated": _ours(_("채점을 나눌 때와 채점 서버의 모델이나 프로그램이 다릅니다. 운영자가 조치하고 있습니다.")),
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
    # the manage pages
    "manage_not_found": _("이 주소에는 페이지가 없습니다."),
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
    # set-up, roles, questions, notices
    "competition_not_ready": _(
        "점검표에 아직 갖추지 못한 항목이 %(count)s건 있어 공개하지 않았습니다. 항목을 채우거나, 그래도 공개하려면 "
        "확인란에 표시해 주십시오."
    ),
    "person_not_found": _(
        "이 이메일로 가입한 계정이 없습니다. 주소를 확인하거나, 먼저 회원으로 가입하도록 안내해 주십시오."
    ),
    "role_already_held": _("이미 이 대회에서 역할을 맡은 사람입니다. 아래 목록에서 역할을 바꿔 주십시오."),
    "role_not_found": _("이 사람은 이 대회에서 맡은 역할이 없습니다. 목록을 새로 고쳐 확인해 주십시오."),
    "last_owner": _(
        "대회에는 로그인할 수 있는 소유자가 한 명은 있어야 합니다. 다른 사람을 먼저 소유자로 지정해 주십시오."
    ),
    "question_not_found": _("문의를 찾을 수 없습니다. 목록에서 다시 열어 주십시오."),
    "question_invalid": _("문의의 제목과 내용을 모두 입력해 주십시오. 이 항목은 %(limit)s자까지 쓸 수 있습니다."),
    "too_many_questions": _("답변을 기다리는 문의가 이미 %(limit)s건 있습니다. 답변을 받은 뒤에 다시 문의해 주십시오."),
    "notice_not_found": _("공지를 찾을 수 없습니다. 목록에서 다시 열어 주십시오."),
    "rule_in_use": _(
        "이 채점 방식과 모델로 채점한 제출이 %(count)s건 있습니다. 바꾸면 순위표에서 빠지므로, ‘재채점’에서 "
        "새 규칙으로 다시 채점한 뒤 적용해 주십시오."
    ),
    "part_in_use": _("이미 쓰이고 있어 지울 수 없습니다. 딸린 단계, 정답, 제출을 확인해 주십시오."),
    # teams: invitations by mail, leaving, merging, terms, disqualification
    "invitation_revoked": _("취소된 초대 링크입니다. 팀장에게 새 링크를 요청해 주십시오."),
    "invitation_for_another": _(
        "이 초대는 %(email)s 주소로 보낸 것입니다. 그 주소를 내 계정에 등록하고 인증한 사람만 쓸 수 있습니다. "
        "계정의 이메일 페이지에서 인증한 뒤 다시 열어 주십시오."
    ),
    "invitation_address_invalid": _("이메일 주소를 올바른 형식으로 입력해 주십시오."),
    "too_many_invitations": _(
        "한 팀은 열린 초대를 %(limit)s건까지, 초대 메일도 하루에 그만큼만 보낼 수 있습니다. 쓰지 않는 초대를 "
        "취소하거나 내일 다시 시도해 주십시오."
    ),
    "mail_not_sent": _ours(
        _("초대 메일을 보내지 못했습니다. 초대는 취소했으니 잠시 뒤에 다시 시도하거나 초대 링크를 직접 전해 주십시오.")
    ),
    "competition_over": _("대회가 %(ended_at)s에 끝나 팀 구성을 바꿀 수 없습니다."),
    "leader_cannot_leave": _("팀장은 다른 팀원에게 팀장을 넘긴 뒤에 나갈 수 있습니다."),
    "last_member_cannot_leave": _(
        "파일을 보낸 기록이 있는 팀은 마지막 한 사람이 나갈 수 없습니다. 다른 팀과 함께하려면 팀 합치기를 이용해 "
        "주십시오."
    ),
    "team_disqualified": _(
        "실격 처리된 팀은 할 수 없는 일입니다. 사유는 순위표 아래에 있습니다. 이의가 있으면 주최 측에 문의해 주십시오."
    ),
    "team_not_found": _("이 대회에 그런 이름의 팀이 없습니다. 이름을 확인해 주십시오."),
    "disqualification_note_invalid": _("공개할 사유를 한 줄, %(limit)s자까지 입력해 주십시오."),
    "merge_impossible.same": _("같은 팀끼리는 합칠 수 없습니다."),
    "merge_impossible.baseline": _("기준 모델과는 합칠 수 없습니다."),
    "merge_impossible.disqualified": _("실격 처리된 팀과는 합칠 수 없습니다."),
    "merge_impossible.merged": _("이미 다른 팀에 합쳐진 팀입니다."),
    "merge_impossible.size": _("두 팀을 합치면 %(size)s명이 되어 팀 상한 %(limit)s명을 넘습니다."),
    "merge_impossible.over": _("대회의 모든 단계가 끝나 더 이상 팀을 합칠 수 없습니다."),
    "merge_impossible.daily": _(
        "‘%(phase)s’ 단계에서 %(day)s 하루에 두 팀이 제출한 횟수의 합(%(used)s회)이 한 팀의 하루 한도 "
        "%(limit)s회를 넘어 합칠 수 없습니다."
    ),
    "merge_impossible.total": _(
        "‘%(phase)s’ 단계에서 두 팀이 제출한 횟수의 합(%(used)s회)이 한 팀의 전체 한도 %(limit)s회를 넘어 합칠 "
        "수 없습니다."
    ),
    "merge_already_asked": _("답을 기다리는 합치기 요청이 이미 있습니다. 그 요청을 취소한 뒤 다시 요청해 주십시오."),
    "merge_request_not_found": _(
        "합치기 요청을 찾을 수 없습니다. 이미 답했거나 취소된 요청일 수 있습니다. 팀 페이지를 새로 고쳐 확인해 "
        "주십시오."
    ),
    "terms_not_accepted": _(
        "이 대회의 참가 약관(%(version)s판)에 아직 동의하지 않았습니다. 대회의 약관 페이지에서 읽고 동의한 뒤 "
        "다시 시도해 주십시오."
    ),
    "terms_changed": _("읽는 동안 약관이 %(version)s판으로 바뀌었습니다. 바뀐 약관을 읽고 다시 동의해 주십시오."),
    # the manage pages: runs, duplicates, audit log
    "cancelled_by_organiser": _ours(_("운영자가 이 채점을 취소했습니다. 궁금한 점은 주최 측에 문의해 주십시오.")),
    "run_not_found": _("채점을 찾을 수 없습니다. 채점 목록에서 다시 열어 주십시오."),
    "run_not_cancellable": _("대기 중이거나 채점 중인 채점만 취소할 수 있습니다(현재 상태: %(state)s)."),
    "run_belongs_to_batch": _(
        "재채점 묶음에 속한 채점은 따로 취소할 수 없습니다. 재채점 페이지에서 묶음을 취소해 주십시오."
    ),
    "audit_entry_not_found": _("감사 기록을 찾을 수 없습니다. 목록에서 다시 열어 주십시오."),
    # phases, the split, finals, publication
    "phase_settings_invalid": _("단계 설정이 서로 맞지 않습니다(%(fields)s). 시각과 한도를 확인해 주십시오."),
    "phase_already_published": _(
        "최종 순위표를 발표한 단계입니다. 마감, 공개 문항, 최종 선택 한도는 더 이상 바꿀 수 없습니다."
    ),
    "split_invalid.unknown": _(
        "공개 문항 목록에 정답 파일에 없는 id가 %(count)s건 있습니다(첫 번째: ‘%(first)s’). 목록을 확인해 주십시오."
    ),
    "split_invalid.empty": _(
        "공개 문항과 비공개 문항이 모두 1문항 이상이어야 합니다(공개 문항 %(count)s건). "
        "비율이나 목록을 확인해 주십시오."
    ),
    "finals_not_used": _("이 단계에는 최종 선택이 없습니다. 모든 제출이 최종 순위에 반영됩니다."),
    "finals_locked": _("최종 선택은 단계가 끝난 %(ends_at)s에 마감되었습니다. 더 이상 바꿀 수 없습니다."),
    "too_many_finals": _("최종 제출은 %(limit)s건까지 고를 수 있습니다. 수를 줄여 다시 저장해 주십시오."),
    "final_not_eligible": _(
        "고른 제출 가운데 최종 제출로 쓸 수 없는 것이 있습니다(환불되었거나 철회한 제출). 다시 골라 주십시오."
    ),
    "phase_not_over": _("단계가 %(ends_at)s에 끝난 뒤에 최종 순위표를 발표할 수 있습니다."),
    "runs_unfinished": _("아직 끝나지 않은 채점이 %(count)s건 있습니다. 모두 끝난 뒤에 다시 시도해 주십시오."),
    "nothing_to_publish": _("최종 순위표에 올릴 결과가 없습니다. 정답 판과 채점 상태를 확인해 주십시오."),
    # quota and withdrawal
    "grant_without_effect": _(
        "이 단계에는 늘릴 한도가 없습니다. 날짜에 추가하려면 하루 한도가, 단계에 추가하려면 하루 한도나 전체 한도가 "
        "있어야 합니다."
    ),
    "withdrawal_closed": _("제출 기간이 %(ends_at)s에 끝나 제출을 철회할 수 없습니다."),
    # reference drafts and rescoring
    "reference_not_draft": _("이미 반영된 정답 판입니다. 고치려면 새 정답 판을 초안으로 올려 주십시오."),
    "reference_draft_in_use": _("재채점에 쓰인 초안은 지울 수 없습니다. 기록으로 남겨 둡니다."),
    "batch_not_found": _("재채점 묶음을 찾을 수 없습니다. 재채점 목록에서 다시 열어 주십시오."),
    "batch_open_already": _(
        "이 단계에는 아직 적용하거나 취소하지 않은 재채점 묶음(%(number)s번)이 있습니다. 그것부터 적용하거나 취소해 "
        "주십시오."
    ),
    "batch_selects_nothing": _("조건에 맞는 제출이 없습니다. 대상 조건을 넓혀 다시 시도해 주십시오."),
    "batch_not_ready": _(
        "아직 적용할 수 없습니다. 끝나지 않은 채점 %(unfinished)s건, 실패한 채점 %(failed)s건이 있습니다. 실패한 "
        "채점은 다시 시도하거나 사유를 적고 제외해 주십시오."
    ),
    "batch_closed": _("이미 적용했거나 취소한 재채점 묶음입니다."),
    "batch_never_applies": _("반복 채점은 수치의 흔들림을 보기 위한 것이라 적용하지 않습니다."),
    "batch_outdated": _(
        "재채점하는 동안 정답이나 채점 방식, 모델이 다른 경로로 바뀌어 %(count)s건의 점수가 지금 규칙과 맞지 않습니다. "
        "이 묶음을 취소하고 다시 시작해 주십시오."
    ),
    "batch_hurts_other_phases": _(
        "채점 방식과 모델은 트랙 전체에 적용됩니다. 같은 트랙의 다른 단계에 이전 규칙으로 채점된 제출이 %(count)s건 "
        "있어 순위표에서 빠집니다. 그래도 적용하려면 해당 확인란을 선택해 주십시오."
    ),
    "batch_run_not_failed": _("이 묶음에서 실패한 제출만 다시 채점하거나 제외할 수 있습니다."),
    "batch_reason_missing": _("사유를 적어 주십시오. 감사 기록에 남습니다."),
    "batch_references_unfit": _(
        "이 초안으로는 기존 제출을 채점할 수 없습니다(맞지 않는 문항 %(count)s건). 정답 파일의 문항과 채점 방식을 "
        "확인해 주십시오."
    ),
    "rescoring_cancelled": _ours(_("재채점이 취소되어 이 채점은 하지 않았습니다. 제출의 점수는 그대로입니다.")),
    # archives
    "archive_refused.unreadable": _("대회 보관 파일로 읽을 수 없습니다. 내보낸 zip 파일을 그대로 올려 주십시오."),
    "archive_refused.version": _(
        "이 서버가 모르는 형식의 보관 파일입니다(%(version)s). 내보낸 곳과 같거나 새로운 말판에서 가져와 주십시오."
    ),
    "archive_refused.name": _("보관 파일에 있어서는 안 되는 이름(%(name)s)이 들어 있습니다. 가져오지 않았습니다."),
    "archive_refused.damaged": _("보관 파일의 ‘%(name)s’이(가) 손상되었거나 바뀌었습니다. 가져오지 않았습니다."),
    "archive_refused.too_large": _("보관 파일을 풀면 허용된 크기를 넘습니다. 가져오지 않았습니다."),
    "archive_refused.passphrase": _("암호 구문이 다르거나 암호화된 정답 파일이 바뀌었습니다. 가져오지 않았습니다."),
    "archive_refused.slug_taken": _(
        "주소 이름 ‘%(slug)s’을(를) 다른 대회가 쓰고 있습니다. 다른 주소 이름을 정해 주십시오."
    ),
    "archive_refused.slug_invalid": _("주소 이름에는 영문자, 숫자, 붙임표(-), 밑줄(_)만 쓸 수 있습니다."),
    "archive_refused.present": _("이 대회의 제출이 이미 이 서버에 있습니다. 같은 대회를 두 번 가져올 수 없습니다."),
    "archive_refused.foreign_file": _(
        "보관 파일이 담고 있지 않은, 이 서버의 다른 파일을 가리킵니다. 가져오지 않았습니다."
    ),
    "archive_refused.rows": _("보관 파일의 내용이 서로 맞지 않습니다(%(table)s). 가져오지 않았습니다."),
    "passphrase_too_short": _("암호 구문은 %(limit)s자 이상으로 정해 주십시오."),
    # API tokens
    "too_many_api_tokens": _(
        "쓸 수 있는 API 토큰이 이미 %(limit)s개 있습니다. 쓰지 않는 토큰을 폐기한 뒤 다시 만들어 주십시오."
    ),
    "api_token_not_found": _("API 토큰을 찾을 수 없습니다. 토큰 목록에서 다시 골라 주십시오."),
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
