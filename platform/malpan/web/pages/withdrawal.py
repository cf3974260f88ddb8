"""Withdrawing a submission: what it means, and the box to tick."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from malpan.core.messages import text_of
from malpan.submissions.errors import WithdrawalClosed
from malpan.submissions.selectors import submission_for
from malpan.submissions.withdrawal import withdraw
from malpan.web.forms.pages import ConfirmForm
from malpan.web.pages.context import MemberRequest, members_only, visit

SENTENCE = gettext_lazy("이 제출을 철회합니다. 되돌릴 수 없고 제출 횟수도 돌려받지 않는다는 것을 확인했습니다.")


@require_http_methods(["GET", "HEAD", "POST"])
def withdrawal_page(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    return _page(request, public_id)


@members_only
def _page(request: MemberRequest, public_id: uuid.UUID) -> HttpResponse:
    submission = submission_for(request.user, public_id)
    form = ConfirmForm(request.POST if request.method == "POST" else None, key="withdraw", sentence=SENTENCE)
    if request.method == "POST" and form.is_valid():
        try:
            withdraw(submission=submission, actor=request.user)
        except WithdrawalClosed as error:
            messages.error(request, text_of(error))
        else:
            messages.success(request, _("제출을 철회했습니다. 순위표에서 빠지며 제출 횟수는 그대로입니다."))
        return redirect("submission", public_id)
    context = visit(request, submission.phase.track.competition.slug).context("submissions")
    context |= {"submission": submission, "phase": submission.phase, "form": form}
    status = 422 if request.method == "POST" else 200
    return render(request, "submissions/withdrawal.html", context, status=status)
