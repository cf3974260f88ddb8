"""Notices: dated, pinned, in two languages. One with a later date is hidden until then."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.competitions.models import Notice
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import all_notices, notice_of
from malpan.competitions.services import post_notice, update_notice, withdraw_notice
from malpan.web.acting import act, posted
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.notices import NoticeForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of

PAGE_SIZE: Final = 50


@require_safe
@manage_page(Permission.VIEW)
def notices_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Every notice, also those with a later date."""
    page = page_of(request, all_notices(access.competition), PAGE_SIZE)
    context = access.context("manage_notices") | {"page": page, "now": timezone.now()}
    return render(request, "manage/notices.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Write a notice."""
    form = NoticeForm(posted(request), initial={"published_at": timezone.now()})
    if not form.is_bound:
        return _notice_page(request, access, form, None)
    return act(
        request,
        lambda values: post_notice(competition=access.competition, actor=request.user, **values),
        form=form,
        success=_("공지를 올렸습니다."),
        to=access.url("manage_notices"),
        render_again=lambda status: _notice_page(request, access, form, None, status=status),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def notice_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Change a notice of this competition. Raises ``NoticeNotFound``."""
    notice = notice_of(access.competition, pk)
    form = NoticeForm(posted(request), instance=notice_of(access.competition, pk))
    if not form.is_bound:
        return _notice_page(request, access, form, notice)
    return act(
        request,
        lambda values: update_notice(notice=notice, actor=request.user, **values),
        form=form,
        success=_("저장했습니다."),
        to=access.url("manage_notices"),
        render_again=lambda status: _notice_page(request, access, form, notice, status=status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def pin_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Put a notice above the others, or back among them. Raises ``NoticeNotFound``."""
    notice, is_pinned = notice_of(access.competition, pk), request.POST.get("pinned") == "1"
    return act(
        request,
        lambda _values: update_notice(notice=notice, actor=request.user, is_pinned=is_pinned),
        to=access.url("manage_notices"),
    )


@require_POST
@manage_page(Permission.MANAGE)
def withdraw_action(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """Delete a notice if the box beside the button is ticked. Raises ``NoticeNotFound``."""
    notice = notice_of(access.competition, pk)
    form = _removal_form(request.POST)
    return act(
        request,
        lambda _values: withdraw_notice(notice=notice, actor=request.user),
        form=form,
        success=_("공지를 내렸습니다."),
        to=access.url("manage_notices"),
        render_again=lambda status: _notice_page(
            request, access, NoticeForm(instance=notice), notice, removal=form, status=status
        ),
    )


def _removal_form(data: object = None) -> ConfirmForm:
    sentence = _("이 공지를 지웁니다. 참가자는 더 볼 수 없고, 내용은 감사 기록에만 남습니다.")
    return ConfirmForm(data, key="remove", sentence=sentence)


def _notice_page(
    request: MemberRequest,
    access: ManageAccess,
    form: NoticeForm,
    notice: Notice | None,
    *,
    removal: ConfirmForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context = access.context("manage_notices") | {
        "form": form,
        "edited": notice,
        "removal": removal or _removal_form(),
    }
    return render(request, "manage/notices_edit.html", context, status=status)


urlpatterns = [
    path("notices/", notices_page, name="manage_notices"),
    path("notices/new/", new_page, name="manage_notice_new"),
    path("notices/<int:pk>/", notice_page, name="manage_notice"),
    path("notices/<int:pk>/pin/", pin_action, name="manage_notice_pin"),
    path("notices/<int:pk>/withdraw/", withdraw_action, name="manage_notice_withdraw"),
]
