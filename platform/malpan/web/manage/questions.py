"""문의: questions of participants and their answers."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions import questions
from malpan.competitions.models import Question
from malpan.competitions.permissions import Permission
from malpan.teams.selectors import team_of
from malpan.web.acting import act
from malpan.web.forms.questions import AnswerForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of

PAGE_SIZE: Final = 50


@require_safe
@manage_page(Permission.VIEW)
def questions_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """All questions, unanswered ones first."""
    page = page_of(request, questions.questions_for_organisers(access.competition), PAGE_SIZE)
    context = access.context("manage_questions") | {"page": page}
    return render(request, "manage/questions.html", context)


@require_http_methods(["GET", "HEAD"])
@manage_page(Permission.VIEW)
def question_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """One question with who asked it. Raises ``QuestionNotFound``."""
    question = questions.question_for_organisers(access.competition, pk)
    return _question_page(request, access, question, AnswerForm(instance=question))


def _question_page(
    request: MemberRequest, access: ManageAccess, question: Question, form: AnswerForm, status: int = 200
) -> HttpResponse:
    context = access.context("manage_questions") | {
        "question": question,
        "team": team_of(question.asked_by, access.competition),
        "form": form,
    }
    return render(request, "manage/questions_one.html", context, status=status)


@require_POST
@manage_page(Permission.MANAGE)
def answer_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Answer, privately or for everybody; a second answer replaces the first."""
    question = questions.question_for_organisers(access.competition, pk)
    form = AnswerForm(request.POST, instance=questions.question_for_organisers(access.competition, pk))
    return act(
        request,
        lambda values: questions.answer_question(question=question, actor=request.user, **values),
        form=form,
        success=_("답변했습니다. 질문한 사람에게 이메일로 알립니다."),
        to=access.url("manage_questions"),
        render_again=lambda status: _question_page(request, access, question, form, status),
        error_field=lambda error: error.params.get("field"),
    )


@require_POST
@manage_page(Permission.MANAGE)
def mark_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Close a question without an answer, or open it again."""
    question = questions.question_for_organisers(access.competition, pk)
    if "reopen" in request.POST:
        mark = questions.reopen_question
        success = _("답변을 기다리는 문의로 되돌렸습니다. 답변은 다시 저장할 때까지 보이지 않습니다.")
    else:
        mark, success = questions.close_question, _("답변 없이 처리한 문의로 표시했습니다.")
    return act(
        request,
        lambda _values: mark(question=question, actor=request.user),
        success=success,
        to=access.url("manage_questions"),
    )


urlpatterns = [
    path("questions/", questions_page, name="manage_questions"),
    path("questions/<int:pk>/", question_page, name="manage_question"),
    path("questions/<int:pk>/answer/", answer_action, name="manage_question_answer"),
    path("questions/<int:pk>/mark/", mark_action, name="manage_question_mark"),
]
