"""Notices, and questions to the organisers."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_noop as _

from malpan.accounts.models import Scope
from malpan.api.frame import ANYBODY, ApiRequest, Operations
from malpan.api.reading import paged, visible_competition
from malpan.api.schemas import words as shown
from malpan.api.schemas.kinds import Body, Page, PageNumber, PageSize, Text
from malpan.competitions import questions
from malpan.competitions.selectors import notices_of

operations = Operations(_("공지와 문의"))


@operations.get("/competitions/{slug:slug}/notices/", "listNotices", _("공지"), Page[shown.Notice], scope=ANYBODY)
def notices(request: ApiRequest, slug: str, page: PageNumber = 1, page_size: PageSize = 20) -> Any:
    rows = notices_of(visible_competition(request.auth.user, slug)).order_by("-published_at", "-pk")
    return paged(request, rows, page, page_size, shown.notice)


@operations.get(
    "/competitions/{slug:slug}/questions/",
    "listQuestions",
    _("내 문의와 모두에게 공개된 답변"),
    Page[shown.Question],
    scope=ANYBODY,
)
def question_list(request: ApiRequest, slug: str, page: PageNumber = 1, page_size: PageSize = 30) -> Any:
    user = request.auth.user
    rows = questions.questions_for(user, visible_competition(user, slug))
    return paged(request, rows, page, page_size, lambda row: shown.question(row, user))


class NewQuestion(Body):
    title: Text
    body: Text


@operations.post(
    "/competitions/{slug:slug}/questions/",
    "askQuestion",
    _("문의하기"),
    shown.Question,
    status=201,
    scope=Scope.SUBMIT,
)
def ask(request: ApiRequest, slug: str, data: NewQuestion) -> Any:
    person = request.auth.person
    asked = questions.ask_question(
        competition=visible_competition(person, slug), asked_by=person, title=data.title, body=data.body
    )
    return shown.question(asked, person)
