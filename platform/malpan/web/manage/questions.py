"""문의: questions of participants and their answers."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions import questions
from malpan.competitions.errors import QuestionInvalid
from malpan.competitions.models import Question
from malpan.competitions.permissions import Permission
from malpan.core.messages import text_of
from malpan.teams.selectors import team_of
from malpan.web.forms.manage import AnswerForm
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.pages.context import MemberRequest, page_of

TAB = ManageTab("manage_questions", gettext_lazy("문의와 답변"))
PAGE_SIZE: Final = 50


@require_safe
@manage_page(Permission.VIEW)
def questions_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """All questions, those that wait on top."""
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
    """Answer, privately or for everybody; a second answer takes the place of the first."""
    question = questions.question_for_organisers(access.competition, pk)
    form = AnswerForm(request.POST, instance=questions.question_for_organisers(access.competition, pk))
    if not form.is_valid():
        return _question_page(request, access, question, form, 422)
    try:
        questions.answer_question(question=question, actor=request.user, **form.cleaned_data)
    except QuestionInvalid as error:
        form.add_error(error.params["field"], text_of(error))
        return _question_page(request, access, question, form, error.http_status)
    messages.success(request, _("답변했습니다. 질문한 사람에게 이메일로 알립니다."))
    return redirect("manage_questions", access.competition.slug)


@require_POST
@manage_page(Permission.MANAGE)
def mark_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Close a question without an answer, or put one back among those that wait."""
    question = questions.question_for_organisers(access.competition, pk)
    if "reopen" in request.POST:
        questions.reopen_question(question=question, actor=request.user)
        messages.success(request, _("답변을 기다리는 문의로 되돌렸습니다. 답변은 다시 저장할 때까지 보이지 않습니다."))
    else:
        questions.close_question(question=question, actor=request.user)
        messages.success(request, _("답변 없이 처리한 문의로 표시했습니다."))
    return redirect("manage_questions", access.competition.slug)


urlpatterns = [
    path("questions/", questions_page, name="manage_questions"),
    path("questions/<int:pk>/", question_page, name="manage_question"),
    path("questions/<int:pk>/answer/", answer_action, name="manage_question_answer"),
    path("questions/<int:pk>/mark/", mark_action, name="manage_question_mark"),
]
