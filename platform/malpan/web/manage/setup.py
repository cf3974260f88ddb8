"""Setting a competition up, step by step: texts, tracks, phases, files, and publishing by the checklist."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Final

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import path, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from malpan.accounts.models import User
from malpan.competitions import readiness, setup
from malpan.competitions.checklist import Item, State
from malpan.competitions.errors import CompetitionNotReady, ManageNotFound
from malpan.competitions.models import Competition
from malpan.competitions.permissions import Permission
from malpan.competitions.roles import competitions_of
from malpan.competitions.services import update_competition
from malpan.core.messages import text_of
from malpan.teams.selectors import competing_with_a_role
from malpan.web.forms.manage import NewCompetitionForm, TextsForm
from malpan.web.manage import setup_files, setup_tracks
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.manage.wizard import posted, steps_of
from malpan.web.pages.context import MemberRequest, members_only

TAB = ManageTab("manage_setup", gettext_lazy("대회 설정"), Permission.MANAGE)
form_page: Final = require_http_methods(["GET", "HEAD", "POST"])


# --- a new competition ------------------------------------------------------------------------------------------------
@form_page
@members_only
def new_page(request: MemberRequest) -> HttpResponse:
    """Found a competition, empty or after an existing one. Raises ``ManageNotFound`` for people who may not."""
    if not setup.may_create(request.user):
        raise ManageNotFound
    form = NewCompetitionForm(posted(request), sources=_sources(request.user))
    if request.method == "POST" and form.is_valid():
        competition = setup.create_owned_competition(owner=request.user, **form.cleaned_data)
        messages.success(request, _("대회를 만들었습니다. 공개하기 전에는 역할을 맡은 사람만 볼 수 있습니다."))
        return redirect("manage_setup_texts", competition.slug)
    return render(request, "manage/setup_new.html", {"form": form}, status=422 if form.is_bound else 200)


def _sources(user: User) -> QuerySet[Competition]:
    """The competitions whose definition ``user`` may copy."""
    every = Competition.objects.all()
    return every if user.is_superuser else every.filter(pk__in=competitions_of(user))


# --- the steps --------------------------------------------------------------------------------------------------------
@require_safe
@manage_page(Permission.MANAGE)
def setup_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    return _setup_page(request, access)


def _setup_page(request: MemberRequest, access: ManageAccess, refusal: str = "", status: int = 200) -> HttpResponse:
    items = checklist_of(access.competition)
    context = access.context("manage_setup") | {
        "steps": steps_of(access, "publish", items),
        "groups": groups_of(access, items),
        "gaps": sum(item.is_gap for item in items),
        "refusal": refusal,
    }
    return render(request, "manage/setup.html", context, status=status)


@form_page
@manage_page(Permission.MANAGE)
def texts_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Step 1: texts, organiser, team size, blind names, prize places, terms."""
    form = TextsForm(posted(request), instance=copy.copy(access.competition))
    if request.method == "POST" and form.is_valid():
        fields = dict(form.cleaned_data)
        renews = fields.pop("renews_terms", False)
        competition = update_competition(
            competition=access.competition, actor=request.user, renews_terms=renews, **fields
        )
        messages.success(request, _("저장했습니다."))
        return redirect(_after(request, "manage_setup_texts", "manage_setup_tracks"), competition.slug)
    items = checklist_of(access.competition)
    context = access.context("manage_setup") | {"steps": steps_of(access, "texts", items), "form": form}
    return render(request, "manage/setup_texts.html", context, status=422 if form.is_bound else 200)


def _after(request: HttpRequest, stay: str, go_on: str) -> str:
    return go_on if "next" in request.POST else stay


@require_POST
@manage_page(Permission.MANAGE)
def publish_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Publish; with gaps in the checklist only when the box beside the button says so."""
    try:
        setup.publish_competition(
            competition=access.competition, actor=request.user, accepts_gaps="accepts_gaps" in request.POST
        )
    except CompetitionNotReady as error:
        return _setup_page(request, access, text_of(error), error.http_status)
    messages.success(request, _("대회를 공개했습니다. 이제 누구나 볼 수 있습니다."))
    return redirect("manage_setup", access.competition.slug)


@require_POST
@manage_page(Permission.MANAGE)
def hide_action(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """Take the competition out of public sight, when the box beside the button says so."""
    if "confirmed" not in request.POST:
        return _setup_page(request, access, _("확인란에 표시해 주십시오."), 422)
    setup.hide_competition(competition=access.competition, actor=request.user)
    messages.success(request, _("대회를 감췄습니다. 역할을 맡은 사람만 볼 수 있습니다."))
    return redirect("manage_setup", access.competition.slug)


# --- the checklist ----------------------------------------------------------------------------------------------------
@dataclass(frozen=True, slots=True)
class Group:
    """The items of one place, worst first, with the page where they are mended."""

    label: str | Promise
    href: str | None
    items: list[Item]


PLACES: Final[dict[str, tuple[str | Promise, str | None]]] = {
    "texts": (gettext_lazy("글과 약관"), "manage_setup_texts"),
    "tracks": (gettext_lazy("트랙"), "manage_setup_tracks"),
    "phases": (gettext_lazy("단계"), "manage_setup_phases"),
    "files": (gettext_lazy("정답과 자료"), "manage_setup_files"),
    "roles": (gettext_lazy("역할"), "manage_roles"),
    "site": (gettext_lazy("사이트"), None),
}
_WORST_FIRST: Final = (State.MISSING, State.WARN, State.NOTE, State.OK)


def checklist_of(competition: Competition) -> list[Item]:
    return readiness.items_of(readiness.facts_of(competition, competing_with_a_role(competition).values()))


def groups_of(access: ManageAccess, items: list[Item]) -> list[Group]:
    """The checklist as the page shows it; links only where the viewer may follow them."""
    groups = []
    for place, (label, name) in PLACES.items():
        needed = Permission.OWN if place == "roles" else Permission.MANAGE
        href = reverse(name, args=[access.competition.slug]) if name and access.may(needed) else None
        found = sorted((item for item in items if item.place == place), key=_badness)
        groups += [Group(label, href, found)] if found else []
    return groups


def _badness(item: Item) -> int:
    return _WORST_FIRST.index(item.state)


urlpatterns = [
    path("setup/", setup_page, name="manage_setup"),
    path("setup/texts/", texts_page, name="manage_setup_texts"),
    path("setup/publish/", publish_action, name="manage_setup_publish"),
    path("setup/hide/", hide_action, name="manage_setup_hide"),
    *setup_tracks.urlpatterns,
    *setup_files.urlpatterns,
]
