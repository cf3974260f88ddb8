"""What every page of the admin shares. People are edited there; every other row is changed on the manage pages."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from malpan.core.models import AuditEntry, SiteText

admin.site.site_header = _("말판 관리")
admin.site.site_title = _("말판 관리")
admin.site.index_title = _("관리")


class RecordAdmin(admin.ModelAdmin):
    """Read-only rows: the services create, change and delete them."""

    hidden: ClassVar[frozenset[str]] = frozenset()  # columns not shown

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return [field.name for field in self.model._meta.concrete_fields if field.name not in self.hidden]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return self.get_fields(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(RecordAdmin):
    list_display = ["created_at", "actor", "person", "action", "object_type", "object_id", "competition_pk"]
    list_filter = ["action", "object_type", "competition_pk"]
    search_fields = ["object_id", "actor__email", "actor__name", "before", "after"]
    list_select_related = ["actor", "person"]
    date_hierarchy = "created_at"


@admin.register(SiteText)
class SiteTextAdmin(RecordAdmin):
    list_display = ["kind", "changed_at"]
