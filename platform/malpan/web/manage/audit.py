"""The audit log of the competition, searchable."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe

from malpan.competitions.permissions import Permission
from malpan.core import audit, audit_selectors
from malpan.core.models import AuditEntry
from malpan.web.csv_export import csv_response
from malpan.web.forms.audit import AuditSearchForm
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.manage.tables import filters_only
from malpan.web.pages.context import MemberRequest, page_of
from malpan.web.presenters.audit import field_label

EXPORT_LIMIT: Final = 50_000
SHOWN_NAMES: Final = 6


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One entry as the table shows it."""

    entry: AuditEntry
    object_label: str
    names: list[str]
    more: int


def line_of(entry: AuditEntry) -> AuditLine:
    names = [field_label(entry.object_type, name) for name in audit_selectors.changed_names(entry)]
    return AuditLine(
        entry, audit_selectors.object_label(entry.object_type), names[:SHOWN_NAMES], max(0, len(names) - SHOWN_NAMES)
    )


@require_safe
@manage_page(Permission.VIEW)
def audit_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = AuditSearchForm(access.competition, request.GET)
    search = form.search()
    page = page_of(request, audit_selectors.search_entries(access.competition.pk, search))
    context = access.context("manage_audit") | {
        "form": form,
        "page": page,
        "lines": [line_of(entry) for entry in page],
        "is_filtered": bool(search),
        "export_query": filters_only(request),
    }
    return render(request, "manage/audit.html", context)


@require_safe
@manage_page(Permission.VIEW)
def entry_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    entry = audit_selectors.get_entry(access.competition.pk, pk)
    context = access.context("manage_audit") | {
        "entry": entry,
        "object_label": audit_selectors.object_label(entry.object_type),
        "changes": audit_selectors.changes_of(entry),
        "same_object_query": f"?object_type={entry.object_type}&object_id={entry.object_id}",
    }
    return render(request, "manage/audit_entry.html", context)


@require_safe
@manage_page(Permission.VIEW)
def audit_csv(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The entries that the page finds under the same search, newest first, without who judged in a human evaluation."""
    search = AuditSearchForm(access.competition, request.GET).search()
    rows = audit_selectors.search_entries(access.competition.pk, search)[:EXPORT_LIMIT]
    header = ["id", "created_at", "actor", "actor_email", "action", "object_type", "object_id"]
    header += ["person", "person_email", "before", "after"]
    return csv_response(f"{access.competition.slug}-audit.csv", header, (_csv_row(entry) for entry in rows))


def _csv_row(entry: AuditEntry) -> list[Any]:
    people = audit.leaving(entry.object_type, entry.actor, entry.person)
    actor, person = ((each, each.email) if each else ("", "") for each in people)
    return [
        entry.pk, entry.created_at, *actor, entry.action, entry.object_type, entry.object_id, *person,
        json.dumps(entry.before, ensure_ascii=False), json.dumps(entry.after, ensure_ascii=False),
    ]  # fmt: skip


urlpatterns: list[URLPattern] = [
    path("audit/", audit_page, name="manage_audit"),
    path("audit/export.csv", audit_csv, name="manage_audit_csv"),
    path("audit/<int:pk>/", entry_page, name="manage_audit_entry"),
]
