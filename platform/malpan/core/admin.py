"""What every page of the admin shares: changes are audited, refusals are shown, records are read-only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.db import models
from django.db.models import QuerySet
from django.forms import BaseModelFormSet, ModelForm
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from malpan.core import audit
from malpan.core.errors import DomainError
from malpan.core.messages import heading_of, text_of
from malpan.core.models import AuditEntry
from scoring.errors import FileError, Language

if TYPE_CHECKING:
    from malpan.accounts.models import User

SHOWN_FILE_ERRORS = 10

admin.site.site_header = _("말판 관리")
admin.site.site_title = _("말판 관리")
admin.site.index_title = _("관리")


class AuditedAdmin(admin.ModelAdmin):
    """Every change made through it stands in the audit log; a domain error becomes a message over the form."""

    def changeform_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return super().changeform_view(request, *args, **kwargs)  # in a transaction of its own
        except DomainError as error:
            self.tell(request, error)
            return HttpResponseRedirect(request.get_full_path())

    def save_model(self, request: HttpRequest, obj: Any, form: ModelForm, change: bool) -> None:
        before = audit.snapshot(type(obj)._default_manager.get(pk=obj.pk)) if change else {}
        super().save_model(request, obj, form, change)
        self.note(request, obj, "update" if change else "create", before)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        before = _links_of(form.instance)
        super().save_related(request, form, formsets, change)
        after = _links_of(form.instance)
        if before != after:
            action = _action(form.instance, "relate")
            audit.record(actor=actor_of(request), action=action, obj=form.instance, before=before, after=after)

    def save_formset(self, request: HttpRequest, form: Any, formset: BaseModelFormSet, change: bool) -> None:
        for each in formset.deleted_forms:
            self.note_deletion(request, each.instance)
        known = [each.instance.pk for each in formset.initial_forms]
        before = {obj.pk: audit.snapshot(obj) for obj in formset.get_queryset().filter(pk__in=known)}
        super().save_formset(request, form, formset, change)
        for obj in formset.new_objects:
            self.note(request, obj, "create", {})
        for obj, _fields in formset.changed_objects:
            self.note(request, obj, "update", before[obj.pk])

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        self.note_deletion(request, obj)
        super().delete_model(request, obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for obj in queryset:
            self.delete_model(request, obj)

    def note(self, request: HttpRequest, obj: Any, verb: str, before: dict[str, Any]) -> None:
        """Record the columns that differ from ``before``; nothing when none does."""
        old, new = audit.changed(before, audit.snapshot(obj))
        if new:
            audit.record(actor=actor_of(request), action=_action(obj, verb), obj=obj, before=old, after=new)

    def note_deletion(self, request: HttpRequest, obj: Any) -> None:
        """Record what is about to be deleted, while it still has its key."""
        audit.record(actor=actor_of(request), action=_action(obj, "delete"), obj=obj, before=audit.snapshot(obj))

    def tell(self, request: HttpRequest, error: DomainError) -> None:
        """Show ``error``; of a file also where its first defects stand."""
        self.message_user(request, f"{heading_of(error)}: {text_of(error)}", messages.ERROR)
        for each in getattr(error, "errors", ())[:SHOWN_FILE_ERRORS]:
            self.message_user(request, _located(each), messages.ERROR)


class RecordAdmin(admin.ModelAdmin):
    """A record of what happened: to be read, never to be made, changed or deleted by hand."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(AuditEntry)
class AuditEntryAdmin(RecordAdmin):
    list_display = ["created_at", "actor", "action", "object_type", "object_id", "competition_pk"]
    list_filter = ["action", "object_type", "competition_pk"]
    search_fields = ["object_id", "actor__email", "actor__name", "before", "after"]
    list_select_related = ["actor"]
    date_hierarchy = "created_at"


def actor_of(request: HttpRequest) -> User:
    """The organiser behind an admin request: the admin lets nobody else in."""
    return cast("User", request.user)


def become(obj: models.Model, saved: models.Model) -> None:
    """Make the admin's unsaved ``obj`` the row that a service has saved."""
    for field in saved._meta.concrete_fields:
        setattr(obj, field.attname, getattr(saved, field.attname))
    obj._state.adding = False


def _links_of(obj: models.Model) -> dict[str, list[Any]]:
    """The keys behind every plain many-to-many column, such as a user's permissions."""
    plain = [field for field in obj._meta.many_to_many if _is_plain(field)]
    return {field.name: sorted(each.pk for each in field.value_from_object(obj)) for field in plain}


def _is_plain(field: models.ManyToManyField[Any, Any]) -> bool:
    """Whether the link has no columns of its own; one that has (a membership) is audited as a row."""
    through = field.remote_field.through
    return through is not None and bool(through._meta.auto_created)


def _located(error: FileError) -> str:
    """``3행 · id 12 · output: …``"""
    line = _("%(line)s행") % {"line": error.line} if error.line else ""
    item = f"id {error.item_id}" if error.item_id else ""
    place = " · ".join(str(part) for part in (line, item, error.field) if part)
    language: Language = "en" if (get_language() or "ko").startswith("en") else "ko"
    return f"{place}: {error.reason(language)}" if place else error.reason(language)


def _action(obj: models.Model, verb: str) -> str:
    return f"{obj._meta.model_name}.{verb}"
