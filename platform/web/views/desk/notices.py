"""Notices: dated, pinned, in two languages. One for later is hidden until its moment."""

from __future__ import annotations

from typing import Final

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.permissions import Permission
from competitions.models import Notice
from competitions.selectors import all_notices, notice_of
from competitions.services import post_notice, update_notice, withdraw_notice
from web.desk_forms import ConfirmForm, NoticeForm
from web.views.desk.frame import Desk, DeskTab, desk_page
from web.views.desk.setup_frame import posted
from web.views.shared import MemberRequest

TAB = DeskTab("desk_notices", gettext_lazy("공지"))
form_page: Final = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@desk_page(Permission.VIEW_DESK)
def notices_page(request: MemberRequest, desk: Desk) -> HttpResponse:
    """Every notice, also those whose moment is yet to come."""
    context = desk.context("desk_notices") | {"notices": all_notices(desk.competition), "now": timezone.now()}
    return render(request, "desk/notices.html", context)


@form_page
@desk_page(Permission.MANAGE)
def new_page(request: MemberRequest, desk: Desk) -> HttpResponse:
    """Write a notice. ``preview`` shows it as readers will see it and posts nothing."""
    form = NoticeForm(posted(request), initial={"published_at": timezone.now()})
    if request.method == "POST" and form.is_valid() and "preview" not in request.POST:
        post_notice(competition=desk.competition, actor=request.user, **form.cleaned_data)
        messages.success(request, _("공지를 올렸습니다."))
        return redirect("desk_notices", desk.competition.slug)
    return _notice_page(request, desk, form, None)


@form_page
@desk_page(Permission.MANAGE)
def notice_page(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    """Change a notice of this competition. Raises ``NoticeNotFound``."""
    notice = notice_of(desk.competition, pk)
    form = NoticeForm(posted(request), instance=notice_of(desk.competition, pk))
    if request.method == "POST" and form.is_valid() and "preview" not in request.POST:
        update_notice(notice=notice, actor=request.user, **form.cleaned_data)
        messages.success(request, _("저장했습니다."))
        return redirect("desk_notices", desk.competition.slug)
    return _notice_page(request, desk, form, notice)


@require_POST
@desk_page(Permission.MANAGE)
def pin_action(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    """Put a notice above the others, or back among them. Raises ``NoticeNotFound``."""
    notice = notice_of(desk.competition, pk)
    update_notice(notice=notice, actor=request.user, is_pinned=request.POST.get("pinned") == "1")
    return redirect("desk_notices", desk.competition.slug)


@require_POST
@desk_page(Permission.MANAGE)
def withdraw_action(request: MemberRequest, desk: Desk, pk: int) -> HttpResponse:
    """Take a notice down, when the box beside the button is ticked. Raises ``NoticeNotFound``."""
    notice = notice_of(desk.competition, pk)
    form = ConfirmForm(request.POST, words=_removal_words(), auto_id="remove_%s")
    if not form.is_valid():
        return _notice_page(request, desk, NoticeForm(instance=notice), notice, form)
    withdraw_notice(notice=notice, actor=request.user)
    messages.success(request, _("공지를 내렸습니다."))
    return redirect("desk_notices", desk.competition.slug)


def _removal_words() -> str:
    return _("이 공지를 지웁니다. 참가자는 더 볼 수 없고, 내용은 감사 기록에만 남습니다.")


def _notice_page(
    request: MemberRequest, desk: Desk, form: NoticeForm, notice: Notice | None, removal: ConfirmForm | None = None
) -> HttpResponse:
    is_preview = form.is_bound and "preview" in request.POST and form.is_valid()
    is_refused = (form.is_bound and not form.is_valid()) or removal is not None
    context = desk.context("desk_notices") | {
        "form": form,
        "edited": notice,
        "preview": form.cleaned_data if is_preview else None,
        "removal": removal or ConfirmForm(words=_removal_words(), auto_id="remove_%s"),
    }
    return render(request, "desk/notices_edit.html", context, status=422 if is_refused else 200)


urlpatterns = [
    path("notices/", notices_page, name="desk_notices"),
    path("notices/new/", new_page, name="desk_notice_new"),
    path("notices/<int:pk>/", notice_page, name="desk_notice"),
    path("notices/<int:pk>/pin/", pin_action, name="desk_notice_pin"),
    path("notices/<int:pk>/withdraw/", withdraw_action, name="desk_notice_withdraw"),
]
