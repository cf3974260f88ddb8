"""The set-up of a competition: creating it, its texts and terms, and publishing it by the checklist."""

from __future__ import annotations

import copy
from typing import Any

from django.db.models import QuerySet
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.accounts.models import User
from malpan.competitions import setup
from malpan.competitions.errors import ManageNotFound
from malpan.competitions.models import Competition
from malpan.competitions.permissions import Permission
from malpan.competitions.roles import competitions_of
from malpan.competitions.services import update_competition
from malpan.web.acting import act, posted
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.setup import GapsForm, NewCompetitionForm, TextsForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.wizard import checklist_of, groups_of, steps_of
from malpan.web.pages.context import MemberRequest, members_only


# --- a new competition ------------------------------------------------------------------------------------------------
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def new_page(request: MemberRequest) -> HttpResponse:
    """Create a competition, empty or as a copy of an existing one. Raises ``ManageNotFound`` without the permission."""
    if not setup.may_create(request.user):
        raise ManageNotFound
    form = NewCompetitionForm(posted(request), sources=_sources(request.user))
    if not form.is_bound:
        return _new_page(request, form)
    return act(
        request,
        lambda values: setup.create_owned_competition(owner=request.user, **values),
        form=form,
        success=_("대회를 만들었습니다. 공개하기 전에는 역할을 맡은 사람만 볼 수 있습니다."),
        to=lambda competition: reverse("manage_setup_texts", args=[competition.slug]),
        render_again=lambda status: _new_page(request, form, status),
    )


def _new_page(request: MemberRequest, form: NewCompetitionForm, status: int = 200) -> HttpResponse:
    return render(request, "manage/setup_new.html", {"form": form}, status=status)


def _sources(user: User) -> QuerySet[Competition]:
    """The competitions that ``user`` may copy."""
    every = Competition.objects.all()
    return every if user.is_superuser else every.filter(pk__in=competitions_of(user))


# --- its texts --------------------------------------------------------------------------------------------------------
@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def texts_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Step 1: texts, organiser, team size, blind names, prize places, terms."""
    form = TextsForm(posted(request), instance=copy.copy(access.competition))
    if not form.is_bound:
        return _texts_page(request, access, form)
    target = "manage_setup_tracks" if "next" in request.POST else "manage_setup_texts"
    return act(
        request,
        lambda values: update_competition(competition=access.competition, actor=request.user, **values),
        form=form,
        success=_("저장했습니다."),
        to=lambda competition: reverse(target, args=[competition.slug]),
        render_again=lambda status: _texts_page(request, access, form, status),
    )


def _texts_page(request: MemberRequest, access: ManageAccess, form: TextsForm, status: int = 200) -> HttpResponse:
    context = access.context("manage_setup") | {"steps": steps_of(access, "texts"), "form": form}
    return render(request, "manage/setup_texts.html", context, status=status)


# --- publishing -------------------------------------------------------------------------------------------------------
@require_safe
@manage_page(Permission.MANAGE)
def setup_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Step 5: the checklist; publishing, hiding, deleting."""
    return _setup_page(request, access, {})


def _setup_page(request: MemberRequest, access: ManageAccess, forms: dict[str, Any], status: int = 200) -> HttpResponse:
    items = checklist_of(access.competition)
    gaps = sum(item.is_gap for item in items)
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "publish", items),
        "groups": groups_of(access, items),
        "gaps": gaps,
        "publish": GapsForm(gaps=gaps),
        "hide": _hide_form(),
        "removal": _removal_form(),
        "can_own": access.may(Permission.OWN),
    }
    return render(request, "manage/setup.html", context | forms, status=status)


@require_POST
@manage_page(Permission.MANAGE)
def publish_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Publish; with gaps in the checklist only if the box beside the button is ticked."""
    form = GapsForm(request.POST, gaps=sum(item.is_gap for item in checklist_of(access.competition)))
    return act(
        request,
        lambda values: setup.publish_competition(
            competition=access.competition, actor=request.user, accepts_gaps=values.get("accepts_gaps", False)
        ),
        form=form,
        success=_("대회를 공개했습니다. 이제 누구나 볼 수 있습니다."),
        to=access.url("manage_setup"),
        render_again=lambda status: _setup_page(request, access, {"publish": form}, status),
    )


@require_POST
@manage_page(Permission.MANAGE)
def hide_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Hide the competition if the box beside the button is ticked."""
    form = _hide_form(request.POST)
    return act(
        request,
        lambda _values: setup.hide_competition(competition=access.competition, actor=request.user),
        form=form,
        success=_("대회를 감췄습니다. 역할을 맡은 사람만 볼 수 있습니다."),
        to=access.url("manage_setup"),
        render_again=lambda status: _setup_page(request, access, {"hide": form}, status),
    )


@require_POST
@manage_page(Permission.OWN)
def remove_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Delete a hidden competition without any content."""
    form = _removal_form(request.POST)
    return act(
        request,
        lambda _values: setup.remove_competition(competition=access.competition, actor=request.user),
        form=form,
        success=_("대회를 지웠습니다."),
        to=reverse("home"),
        render_again=lambda status: _setup_page(request, access, {"removal": form}, status),
    )


def _hide_form(data: Any = None) -> ConfirmForm:
    return ConfirmForm(data, sentence=_("이 대회를 참가자에게서 감춥니다."), key="hide")


def _removal_form(data: Any = None) -> ConfirmForm:
    sentence = _("이 대회를 지웁니다. 되돌릴 수 없으며, 트랙과 팀이 없는 대회만 지울 수 있습니다.")
    return ConfirmForm(data, sentence=sentence, key="remove")


urlpatterns = [
    path("setup/", setup_page, name="manage_setup"),
    path("setup/texts/", texts_page, name="manage_setup_texts"),
    path("setup/publish/", publish_action, name="manage_setup_publish"),
    path("setup/hide/", hide_action, name="manage_setup_hide"),
    path("setup/remove/", remove_action, name="manage_setup_remove"),
]
