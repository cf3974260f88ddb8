"""Withdrawing a submission: what it means, and the box to tick."""

from __future__ import annotations

import uuid

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from malpan.submissions.selectors import submission_for
from malpan.submissions.withdrawal import withdraw
from malpan.web.acting import act, posted
from malpan.web.forms.fields import ConfirmForm
from malpan.web.pages.context import MemberRequest, members_only, page_context


@require_http_methods(["GET", "HEAD", "POST"])
def withdrawal_page(request: HttpRequest, public_id: uuid.UUID) -> HttpResponse:
    return _page(request, public_id)


@members_only
def _page(request: MemberRequest, public_id: uuid.UUID) -> HttpResponse:
    submission = submission_for(request.user, public_id)
    sentence = _("이 제출을 철회합니다. 되돌릴 수 없고 제출 횟수도 돌려받지 않는다는 것을 확인했습니다.")
    form = ConfirmForm(posted(request), key="withdraw", sentence=sentence)

    def shown(status: int = 200) -> HttpResponse:
        track = submission.phase.track
        context = page_context(request, track.competition.slug).context("submissions", track)
        context |= {"submission": submission, "phase": submission.phase, "form": form}
        return render(request, "pages/withdrawal.html", context, status=status)

    if not form.is_bound:
        return shown()
    return act(
        request,
        lambda _values: withdraw(submission=submission, actor=request.user),
        form=form,
        success=_("제출을 철회했습니다. 순위표에서 빠지며 제출 횟수는 그대로입니다."),
        to=reverse("submission", args=[public_id]),
        render_again=shown,
        refused_above=True,
    )
