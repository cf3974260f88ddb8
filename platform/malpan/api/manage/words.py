"""Notices, and answers to questions."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed
from malpan.api.reading import paged
from malpan.api.schemas import words as shown
from malpan.api.schemas.kinds import Page, PageNumber, PageSize
from malpan.api.schemas.manage import words as sent
from malpan.competitions import questions
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import all_notices, notice_of
from malpan.competitions.services import post_notice, update_notice, withdraw_notice

operations = ManageOperations(_("운영: 공지와 문의"))
NOTICE = f"{MANAGE}/notices/{{int:pk}}"
QUESTION = f"{MANAGE}/questions/{{int:pk}}"


@operations.get(f"{MANAGE}/notices/", "listAllNotices", _("앞으로 올릴 것까지 모든 공지"), Page[shown.ManagedNotice])
def notices(request: ApiRequest, slug: str, page: PageNumber = 1, page_size: PageSize = 50) -> Any:
    rows = all_notices(managed(request, slug, Permission.VIEW))
    return paged(request, rows, page, page_size, shown.managed_notice)


@operations.post(f"{MANAGE}/notices/", "postNotice", _("공지 올리기"), shown.ManagedNotice, status=201)
def post(request: ApiRequest, slug: str, data: sent.NoticeText) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    return shown.managed_notice(post_notice(competition=competition, actor=request.auth.person, **data.given()))


@operations.patch(f"{NOTICE}/", "updateNotice", _("공지 고치기, 상단에 고정하기"), shown.ManagedNotice)
def change(request: ApiRequest, slug: str, pk: int, data: sent.NoticeChange) -> Any:
    notice = notice_of(managed(request, slug, Permission.MANAGE), pk)
    return shown.managed_notice(update_notice(notice=notice, actor=request.auth.person, **data.given()))


@operations.delete(f"{NOTICE}/", "withdrawNotice", _("공지 내리기"))
def withdraw(request: ApiRequest, slug: str, pk: int) -> Any:
    withdraw_notice(notice=notice_of(managed(request, slug, Permission.MANAGE), pk), actor=request.auth.person)


@operations.get(
    f"{MANAGE}/questions/", "listAllQuestions", _("모든 문의, 기다리는 것부터"), Page[shown.ManagedQuestion]
)
def question_list(request: ApiRequest, slug: str, page: PageNumber = 1, page_size: PageSize = 50) -> Any:
    rows = questions.questions_for_organisers(managed(request, slug, Permission.VIEW))
    return paged(request, rows, page, page_size, shown.managed_question)


@operations.post(f"{QUESTION}/answer/", "answerQuestion", _("문의에 답하기"), shown.ManagedQuestion)
def answer(request: ApiRequest, slug: str, pk: int, data: sent.Answer) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    question = questions.question_for_organisers(competition, pk)
    questions.answer_question(
        question=question,
        answer_ko=data.answer_ko,
        answer_en=data.answer_en,
        is_public=data.is_public,
        actor=request.auth.person,
    )
    return shown.managed_question(questions.question_for_organisers(competition, pk))


@operations.post(f"{QUESTION}/close/", "closeQuestion", _("답변 없이 처리한 문의로 표시"), shown.ManagedQuestion)
def close(request: ApiRequest, slug: str, pk: int) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    questions.close_question(question=questions.question_for_organisers(competition, pk), actor=request.auth.person)
    return shown.managed_question(questions.question_for_organisers(competition, pk))


@operations.post(f"{QUESTION}/reopen/", "reopenQuestion", _("답변을 기다리는 문의로 되돌리기"), shown.ManagedQuestion)
def reopen(request: ApiRequest, slug: str, pk: int) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    questions.reopen_question(question=questions.question_for_organisers(competition, pk), actor=request.auth.person)
    return shown.managed_question(questions.question_for_organisers(competition, pk))
