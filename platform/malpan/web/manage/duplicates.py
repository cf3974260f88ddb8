"""Equal and nearly equal files across teams."""

from __future__ import annotations

import uuid
from typing import Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe

from malpan.competitions.permissions import Permission
from malpan.submissions import manage_selectors
from malpan.submissions.integrity import alike, duplicates
from malpan.web.forms.duplicates import AnswersForm, PhaseFilterForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest, page_of

SHOWN_CHARS: Final = 600
PAGE_SIZE: Final = 50
SENDERS: Final = 20  # of a file


@require_safe
@manage_page(Permission.VIEW)
def duplicates_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = PhaseFilterForm(access.competition, request.GET)
    phase = form.value("phase") or None
    found = alike.alike_in(phase) if phase else None
    files = page_of(request, manage_selectors.shared_hashes(access.competition), PAGE_SIZE, name="files")
    context = access.context("manage_duplicates") | {
        "shared": manage_selectors.shared_files(access.competition, list(files), senders=SENDERS),
        "files": files,
        "form": form,
        "phase": phase,
        "alike": found,
        "page": page_of(request, found.pairs, PAGE_SIZE) if found else None,
        "least_percent": int(duplicates.LEAST * 100),
        "fewest": duplicates.FEWEST_ITEMS,
    }
    return render(request, "manage/duplicates.html", context)


@require_safe
@manage_page(Permission.VIEW)
def side_by_side_page(
    request: MemberRequest, access: ManageAccess, one_id: uuid.UUID, other_id: uuid.UUID
) -> HttpResponse:
    one, other = (manage_selectors.submission_of(access.competition, each) for each in (one_id, other_id))
    answers = duplicates.readable_answers(one, other)
    form = AnswersForm(request.GET)
    wanted = form.value("show")
    rows = [row for row in answers if not wanted or row.is_same == (wanted == "same")]
    page = page_of(request, rows)
    context = access.context("manage_duplicates") | {
        "one": one,
        "other": other,
        "is_readable": bool(answers),
        "same": sum(row.is_same for row in answers),
        "total": len(answers),
        "form": form,
        "page": page,
        "shown_chars": SHOWN_CHARS,
    }
    return render(request, "manage/duplicates_side_by_side.html", context)


urlpatterns: list[URLPattern] = [
    path("duplicates/", duplicates_page, name="manage_duplicates"),
    path("duplicates/<uuid:one_id>/<uuid:other_id>/", side_by_side_page, name="manage_side_by_side"),
]
