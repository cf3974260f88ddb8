"""문의: a participant asks, sees the own questions, and everybody sees what was answered for all."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from malpan.competitions import questions
from malpan.competitions.errors import QuestionInvalid
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.web.forms.manage import QuestionForm
from malpan.web.pages.context import MemberRequest, Visit, members_only, page_of, visit

PAGE_SIZE: Final = 30


@require_safe
@never_cache
def questions_page(request: HttpRequest, slug: str) -> HttpResponse:
    return _questions_page(request, visit(request, slug), QuestionForm())


def _questions_page(request: HttpRequest, seen: Visit, form: QuestionForm, status: int = 200) -> HttpResponse:
    context = seen.context("questions") | {
        "page": page_of(request, questions.questions_for(request.user, seen.competition), PAGE_SIZE),
        "form": form,
        "open_left": questions.OPEN_LIMIT - questions.open_count(request.user, seen.competition),
        "open_limit": questions.OPEN_LIMIT,
    }
    return render(request, "competitions/questions.html", context, status=status)


@require_POST
@members_only
def ask_action(request: MemberRequest, slug: str) -> HttpResponse:
    """Send a question; what is refused comes back with its words beside the field."""
    seen = visit(request, slug)
    form = QuestionForm(request.POST)
    if not form.is_valid():
        return _questions_page(request, seen, form, 422)
    try:
        questions.ask_question(competition=seen.competition, asked_by=request.user, **form.cleaned_data)
    except DomainError as error:
        form.add_error(error.params["field"] if isinstance(error, QuestionInvalid) else None, text_of(error))
        return _questions_page(request, seen, form, error.http_status)
    messages.success(request, _("문의를 보냈습니다. 답변하면 이메일로 알려 드립니다."))
    return redirect("questions", slug)
