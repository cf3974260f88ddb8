"""The versions of a track's rubric: what judges go by. A new version starts from the last one."""

from __future__ import annotations

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import path
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from malpan.arena.errors import RubricInvalid, RubricUnchanged
from malpan.arena.progress import rubric_uses
from malpan.arena.rubrics import create_rubric
from malpan.arena.selectors import rubric_of, rubrics_of
from malpan.competitions.models import Track
from malpan.competitions.permissions import Permission
from malpan.competitions.selectors import get_track
from malpan.core.errors import DomainError
from malpan.core.messages import text_of
from malpan.web.acting import PREVIEW, posted, refuse
from malpan.web.forms.arena_rubrics import RubricForms
from malpan.web.forms.fields import preview
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of


@require_safe
@manage_page(Permission.VIEW)
def rubrics_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """The versions of a track, the newest first, with the campaigns that use each. Raises ``TrackNotFound``."""
    track = get_track(access.competition, track_slug)
    page = page_of(request, rubrics_of(track), 50)
    uses = rubric_uses(list(page))
    context = access.context("manage_arena") | {
        "track": track,
        "page": page,
        "rubrics": [(rubric, uses[rubric.pk]) for rubric in page],
    }
    return render(request, "manage/arena_rubrics.html", context)


@require_safe
@manage_page(Permission.VIEW)
def rubric_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """A version as judges read it."""
    rubric = rubric_of(access.competition, pk)
    uses = rubric_uses([rubric])[rubric.pk]
    context = access.context("manage_arena") | {"rubric": rubric, "track": rubric.track, "campaigns": uses}
    return render(request, "manage/arena_rubric.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def new_page(request: MemberRequest, access: ManageAccess, track_slug: str) -> HttpResponse:
    """Write the next version; ``more`` asks for more empty rows; the same text again leads to the version that has it.

    Raises ``TrackNotFound``.
    """
    track = get_track(access.competition, track_slug)
    last = next(iter(rubrics_of(track)), None)
    forms = RubricForms(posted(request), last)
    if "more" in request.POST:
        return _new_page(request, access, track, RubricForms(written=request.POST))
    if not forms.is_bound:
        return _new_page(request, access, track, forms)
    if PREVIEW in request.POST:
        preview(forms.texts)
        return _new_page(request, access, track, forms, 200 if forms.is_valid() else 422)
    if not forms.is_valid():
        return _new_page(request, access, track, forms, 422)
    try:
        made = create_rubric(track=track, actor=request.user, **forms.values())
    except RubricUnchanged as error:  # saved twice, or nothing to save: the version is there
        messages.info(request, text_of(error))
        return redirect("manage_rubric", access.competition.slug, rubrics_of(track)[0].pk)
    except DomainError as error:
        field = error.field if isinstance(error, RubricInvalid) else None
        refuse(forms.texts, error, field if field in forms.texts.fields else None)
        return _new_page(request, access, track, forms, error.http_status)
    messages.success(request, _("평가 기준표 %(number)d판을 만들었습니다.") % {"number": made.number})
    return redirect("manage_rubric", access.competition.slug, made.pk)


def _new_page(
    request: MemberRequest, access: ManageAccess, track: Track, forms: RubricForms, status: int = 200
) -> HttpResponse:
    number = next((each.number for each in rubrics_of(track)), 0) + 1
    context = access.context("manage_arena") | {"track": track, "forms": forms, "number": number}
    return render(request, "manage/arena_rubric_new.html", context, status=status)


urlpatterns = [
    path("arena/rubrics/<slug:track_slug>/", rubrics_page, name="manage_rubrics"),
    path("arena/rubrics/<slug:track_slug>/new/", new_page, name="manage_rubric_new"),
    path("arena/rubric/<int:pk>/", rubric_page, name="manage_rubric"),
]
