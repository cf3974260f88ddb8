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

from malpan.competitions.models import Notice
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import all_notices, notice_of
from malpan.competitions.services import post_notice, update_notice, withdraw_notice
from malpan.web.forms.manage import ConfirmForm, NoticeForm
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.manage.wizard import posted
from malpan.web.pages.context import MemberRequest

TAB = ManageTab("manage_notices", gettext_lazy("공지"))
form_page: Final = require_http_methods(["GET", "HEAD", "POST"])


@require_safe
@manage_page(Permission.VIEW)
def notices_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Every notice, also those whose moment is yet to come."""
    context = access.context("manage_notices") | {"notices": all_notices(access.competition), "now": timezone.now()}
    return render(request, "manage/notices.html", context)


@form_page
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Write a notice. ``preview`` shows it as readers will see it and posts nothing."""
    form = NoticeForm(posted(request), initial={"published_at": timezone.now()})
    if request.method == "POST" and form.is_valid() and "preview" not in request.POST:
        post_notice(competition=access.competition, actor=request.user, **form.cleaned_data)
        messages.success(request, _("공지를 올렸습니다."))
        return redirect("manage_notices", access.competition.slug)
    return _notice_page(request, access, form, None)


@form_page
@manage_page(Permission.MANAGE)
def notice_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Change a notice of this competition. Raises ``NoticeNotFound``."""
    notice = notice_of(access.competition, pk)
    form = NoticeForm(posted(request), instance=notice_of(access.competition, pk))
    if request.method == "POST" and form.is_valid() and "preview" not in request.POST:
        update_notice(notice=notice, actor=request.user, **form.cleaned_data)
        messages.success(request, _("저장했습니다."))
        return redirect("manage_notices", access.competition.slug)
    return _notice_page(request, access, form, notice)


@require_POST
@manage_page(Permission.MANAGE)
def pin_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Put a notice above the others, or back among them. Raises ``NoticeNotFound``."""
    notice = notice_of(access.competition, pk)
    update_notice(notice=notice, actor=request.user, is_pinned=request.POST.get("pinned") == "1")
    return redirect("manage_notices", access.competition.slug)


@require_POST
@manage_page(Permission.MANAGE)
def withdraw_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Take a notice down, when the box beside the button is ticked. Raises ``NoticeNotFound``."""
    notice = notice_of(access.competition, pk)
    form = ConfirmForm(request.POST, words=_removal_words(), auto_id="remove_%s")
    if not form.is_valid():
        return _notice_page(request, access, NoticeForm(instance=notice), notice, form)
    withdraw_notice(notice=notice, actor=request.user)
    messages.success(request, _("공지를 내렸습니다."))
    return redirect("manage_notices", access.competition.slug)


def _removal_words() -> str:
    return _("이 공지를 지웁니다. 참가자는 더 볼 수 없고, 내용은 감사 기록에만 남습니다.")


def _notice_page(
    request: MemberRequest,
    access: ManageAccess,
    form: NoticeForm,
    notice: Notice | None,
    removal: ConfirmForm | None = None,
) -> HttpResponse:
    is_preview = form.is_bound and "preview" in request.POST and form.is_valid()
    is_refused = (form.is_bound and not form.is_valid()) or removal is not None
    context = access.context("manage_notices") | {
        "form": form,
        "edited": notice,
        "preview": form.cleaned_data if is_preview else None,
        "removal": removal or ConfirmForm(words=_removal_words(), auto_id="remove_%s"),
    }
    return render(request, "manage/notices_edit.html", context, status=422 if is_refused else 200)


urlpatterns = [
    path("notices/", notices_page, name="manage_notices"),
    path("notices/new/", new_page, name="manage_notice_new"),
    path("notices/<int:pk>/", notice_page, name="manage_notice"),
    path("notices/<int:pk>/pin/", pin_action, name="manage_notice_pin"),
    path("notices/<int:pk>/withdraw/", withdraw_action, name="manage_notice_withdraw"),
]
