"""The audit log in words: what was done, and the names of what changed. What has no words here is shown as stored."""

from __future__ import annotations

from typing import Final

from django.apps import apps
from django.core.exceptions import FieldDoesNotExist
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

ACTIONS: Final[dict[str, Promise]] = {
    "api_token.create": _("API 토큰을 만듦"),
    "api_token.revoke": _("API 토큰을 없앰"),
    "competition.create": _("대회를 만듦"),
    "competition.export": _("대회를 내보냄"),
    "competition.hide": _("대회를 감춤"),
    "competition.import": _("대회를 가져옴"),
    "competition.publish": _("대회를 공개함"),
    "competition.remove": _("대회를 지움"),
    "competition.set_storage_limit": _("대회의 저장 한도를 정함"),
    "competition.update": _("대회를 고침"),
    "data_file.add": _("자료 파일을 올림"),
    "data_file.remove": _("자료 파일을 지움"),
    "data_file.update": _("자료 파일을 고침"),
    "invitation.create": _("팀에 초대함"),
    "invitation.revoke": _("팀 초대를 취소함"),
    "notice.post": _("공지를 올림"),
    "notice.update": _("공지를 고침"),
    "notice.withdraw": _("공지를 내림"),
    "phase.create": _("단계를 만듦"),
    "phase.publish_final_board": _("최종 순위표를 발표함"),
    "phase.remove": _("단계를 지움"),
    "phase.set_board": _("순위표의 공개를 바꿈"),
    "phase.update": _("단계를 고침"),
    "question.answer": _("문의에 답함"),
    "question.ask": _("문의를 올림"),
    "question.close": _("문의를 닫음"),
    "question.reopen": _("문의를 다시 엶"),
    "quota.grant": _("제출 횟수를 더 줌"),
    "quota.grant_all": _("모든 팀에 제출 횟수를 더 줌"),
    "quota.reset": _("제출 횟수를 초기화함"),
    "quota.reset_all": _("모든 팀의 제출 횟수를 초기화함"),
    "reference_version.discard": _("정답 초안을 버림"),
    "reference_version.draft": _("정답 초안을 올림"),
    "reference_version.edit_erratum": _("정오표를 고침"),
    "reference_version.publish": _("정답을 반영함"),
    "reference_version.split": _("공개 문항과 비공개 문항을 나눔"),
    "rescoring.apply": _("재채점을 적용함"),
    "rescoring.cancel": _("재채점을 취소함"),
    "rescoring.exclude": _("재채점에서 제출을 뺌"),
    "rescoring.retry": _("실패한 재채점을 다시 시도함"),
    "rescoring.start": _("재채점을 시작함"),
    "role.appoint": _("역할을 맡김"),
    "role.change": _("역할을 바꿈"),
    "role.dismiss": _("역할을 거둠"),
    "run.cancel": _("채점을 취소함"),
    "run.retry": _("채점을 다시 시도함"),
    "stage.confirm_table": _("심사 점수표를 확인함"),
    "stage.create": _("심사를 만듦"),
    "stage.enter_table": _("심사 점수표를 입력함"),
    "stage.publish": _("심사 결과를 발표함"),
    "stage.reject_table": _("심사 점수표를 돌려보냄"),
    "stage.remove": _("심사를 지움"),
    "stage.update": _("심사를 고침"),
    "submission.charge_again": _("제출 횟수를 다시 차감함"),
    "submission.create": _("제출을 접수함"),
    "submission.download": _("제출 파일을 내려받음"),
    "submission.refund": _("제출 횟수를 돌려줌"),
    "submission.withdraw": _("제출을 철회함"),
    "team.ask_merge": _("팀 합치기를 요청함"),
    "team.choose_finals": _("최종 제출을 고름"),
    "team.create": _("팀을 만듦"),
    "team.decline_merge": _("팀 합치기를 거절함"),
    "team.disqualify": _("팀을 실격시킴"),
    "team.hand_over": _("팀장을 넘김"),
    "team.join": _("팀에 들어감"),
    "team.leave": _("팀에서 나감"),
    "team.mark_baseline": _("기준 모델의 팀인지 정함"),
    "team.merge": _("팀을 합침"),
    "team.reinstate": _("팀의 실격을 거둠"),
    "team.remove": _("팀을 지움"),
    "team.remove_member": _("팀원을 내보냄"),
    "team.rename": _("팀 이름을 바꿈"),
    "team.withdraw_merge": _("팀 합치기 요청을 취소함"),
    "terms.accept": _("규정에 동의함"),
    "track.create": _("과제를 만듦"),
    "track.publish_stages": _("종합 결과를 발표함"),
    "track.remove": _("과제를 지움"),
    "track.set_targets": _("기준선과 이정표를 정함"),
    "track.update": _("과제를 고침"),
    "user.confirm_email": _("이메일을 인증함"),
    "user.create": _("계정을 만듦"),
    "user.erase": _("계정을 지움"),
    "user.relate": _("계정의 권한을 바꿈"),
    "user.set_password": _("비밀번호를 바꿈"),
    "user.update": _("계정을 고침"),
}

# Facts that are no column of the row. A column is called as its model calls it.
FACTS: Final[dict[str, Promise]] = {
    "answer": _("답변"),
    "changed_rows": _("바뀐 줄"),
    "choices_lapsed": _("풀린 최종 선택"),
    "competition": _("대회"),
    "counts": _("건수"),
    "current_number": _("지금의 판"),
    "day": _("날짜"),
    "dropped_runs": _("그만둔 채점"),
    "failed_run": _("실패한 채점"),
    "file_sha256": _("파일의 sha256"),
    "grants_slots": _("더 준 횟수"),
    "invitation": _("초대"),
    "is_mailed": _("메일로 보냄"),
    "is_superuser": _("관리자"),
    "leader": _("팀장"),
    "made_at": _("만든 시각"),
    "note": _("메모"),
    "number": _("번호"),
    "phase": _("단계"),
    "prefix": _("앞부분"),
    "profile": _("모델 프로필"),
    "public_count": _("공개 문항 수"),
    "reason": _("사유"),
    "recipe": _("채점 방식"),
    "references": _("정답"),
    "resets_quota": _("제출 횟수 초기화"),
    "role": _("역할"),
    "rows": _("줄"),
    "sha256": _("sha256"),
    "slots": _("횟수"),
    "slug": _("주소 이름"),
    "source": _("합쳐지는 팀"),
    "storage_limit": _("저장 한도"),
    "submission": _("제출"),
    "submissions": _("제출"),
    "target": _("합치는 팀"),
    "targets": _("기준선과 이정표"),
    "team": _("팀"),
    "teams": _("팀 수"),
    "url": _("주소"),
    "user": _("사람"),
    "version": _("판"),
    "worker": _("채점 서버"),
}


def action_label(action: str) -> str:
    """What was done, in the reader's language."""
    return str(ACTIONS.get(action, action))


def field_label(object_type: str, name: str) -> str:
    """The name of a column or fact of a row of ``object_type``, in the reader's language."""
    try:
        column = apps.get_model(object_type)._meta.get_field(name)
    except (LookupError, ValueError, FieldDoesNotExist):
        return str(FACTS.get(name.removesuffix("_id"), name))
    return str(getattr(column, "verbose_name", name))
