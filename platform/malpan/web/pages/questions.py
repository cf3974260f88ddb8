"""문의: a participant asks and sees their own questions; everybody sees the public answers."""

from __future__ import annotations

from typing import Final

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe

from malpan.competitions import questions
from malpan.competitions.errors import QuestionInvalid
from malpan.web.acting import act
from malpan.web.forms.questions import QuestionForm
from malpan.web.pages.context import MemberRequest, PageContext, members_only, page_context, page_of

PAGE_SIZE: Final = 30


@require_safe
@never_cache
def questions_page(request: HttpRequest, slug: str) -> HttpResponse:
    return _questions_page(request, page_context(request, slug), QuestionForm())


def _questions_page(request: HttpRequest, page: PageContext, form: QuestionForm, status: int = 200) -> HttpResponse:
    context = page.context("questions") | {
        "page": page_of(request, questions.questions_for(request.user, page.competition), PAGE_SIZE),
        "form": form,
        "open_left": questions.OPEN_LIMIT - questions.open_count(request.user, page.competition),
        "open_limit": questions.OPEN_LIMIT,
    }
    return render(request, "pages/questions.html", context, status=status)


@require_POST
@members_only
def ask_action(request: MemberRequest, slug: str) -> HttpResponse:
    """Send a question; a refusal is shown at the field."""
    page = page_context(request, slug)
    form = QuestionForm(request.POST)
    return act(
        request,
        lambda values: questions.ask_question(competition=page.competition, asked_by=request.user, **values),
        form=form,
        success=_("문의를 보냈습니다. 답변하면 이메일로 알려 드립니다."),
        to=reverse("questions", args=[slug]),
        render_again=lambda status: _questions_page(request, page, form, status),
        error_field=lambda error: error.params["field"] if isinstance(error, QuestionInvalid) else None,
    )
