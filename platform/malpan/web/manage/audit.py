"""The audit log of the competition, searchable."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import URLPattern, path
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from malpan.competitions.permissions import Permission
from malpan.core import audit_selectors
from malpan.core.models import AuditEntry
from malpan.web.csv_export import csv_response
from malpan.web.forms.manage import KstMinuteField
from malpan.web.manage.access import ManageAccess, ManageTab, manage_page
from malpan.web.manage.filters import FilterForm, filters_only
from malpan.web.pages.context import MemberRequest, page_of

TAB = ManageTab("manage_audit", gettext_lazy("감사 로그"))
EXPORT_LIMIT: Final = 50_000
SHOWN_NAMES: Final = 6


class AuditSearchForm(FilterForm):
    actor = forms.CharField(
        label=gettext_lazy("행위자"),
        required=False,
        max_length=120,
        help_text=gettext_lazy("이름이나 이메일의 일부. 시스템이 한 일은 system."),
    )
    action = forms.ChoiceField(label=gettext_lazy("행위"), required=False)
    object_type = forms.ChoiceField(label=gettext_lazy("대상 종류"), required=False)
    object_id = forms.CharField(label=gettext_lazy("대상 번호"), required=False, max_length=64)
    since = KstMinuteField(label=gettext_lazy("이때부터(KST)"), required=False)
    until = KstMinuteField(label=gettext_lazy("이때 전까지(KST)"), required=False)
    text = forms.CharField(label=gettext_lazy("이전·이후 값에 든 글"), required=False, max_length=200)

    def __init__(self, access: ManageAccess, data: Any) -> None:
        pk = access.competition.pk
        actions = [(each, each) for each in audit_selectors.known_actions(pk)]
        types = [(each, audit_selectors.object_label(each)) for each in audit_selectors.known_object_types(pk)]
        super().__init__(
            data,
            choices={
                "action": [("", gettext_lazy("모든 행위")), *actions],
                "object_type": [("", gettext_lazy("모든 대상")), *types],
            },
        )

    def search(self) -> audit_selectors.AuditSearch:
        values = {name: self.cleaned_data.get(name) or "" for name in ("actor", "action", "object_type")}
        return audit_selectors.AuditSearch(
            **values,
            object_id=self.value("object_id"),
            since=self.value("since") or None,
            until=self.value("until") or None,
            text=self.value("text"),
        )


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One entry as the table shows it."""

    entry: AuditEntry
    object_label: str
    names: list[str]
    more: int


def line_of(entry: AuditEntry) -> AuditLine:
    names = audit_selectors.changed_names(entry)
    return AuditLine(
        entry, audit_selectors.object_label(entry.object_type), names[:SHOWN_NAMES], max(0, len(names) - SHOWN_NAMES)
    )


@require_safe
@manage_page(Permission.VIEW)
def audit_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    form = AuditSearchForm(access, request.GET)
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
    """The entries that the page finds under the same search, newest first."""
    search = AuditSearchForm(access, request.GET).search()
    rows = audit_selectors.search_entries(access.competition.pk, search)[:EXPORT_LIMIT]
    header = ["id", "created_at", "actor", "actor_email", "action", "object_type", "object_id", "before", "after"]
    return csv_response(f"{access.competition.slug}-audit.csv", header, (_csv_row(entry) for entry in rows))


def _csv_row(entry: AuditEntry) -> list[Any]:
    name, email = (entry.actor.name, entry.actor.email) if entry.actor else ("", "")
    return [
        entry.pk, entry.created_at, name, email, entry.action, entry.object_type, entry.object_id,
        json.dumps(entry.before, ensure_ascii=False), json.dumps(entry.after, ensure_ascii=False),
    ]  # fmt: skip


urlpatterns: list[URLPattern] = [
    path("audit/", audit_page, name="manage_audit"),
    path("audit/export.csv", audit_csv, name="manage_audit_csv"),
    path("audit/<int:pk>/", entry_page, name="manage_audit_entry"),
]
