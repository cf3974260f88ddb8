"""People, teams, invitations and tokens in the admin."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import ApiToken, User
from malpan.accounts.services import revoke_api_token
from malpan.core import audit
from malpan.core.admin import AuditedAdmin, RecordAdmin, actor_of


class UserCreation(AdminUserCreationForm):
    class Meta:
        model = User
        fields = ("email", "name")


class UserChange(UserChangeForm):
    class Meta:
        model = User
        fields = ("email", "name", "password", "is_active", "is_staff", "is_superuser", "groups", "user_permissions")


@admin.register(User)
class UserAdmin(AuditedAdmin, DjangoUserAdmin):
    form = UserChange
    add_form = UserCreation
    ordering = ["email"]
    list_display = ["email", "name", "is_staff", "is_active", "date_joined"]
    list_filter = ["is_staff", "is_superuser", "is_active"]
    search_fields = ["email", "name"]
    readonly_fields = ["last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["email", "name", "password"]}),
        (_("권한"), {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]}),
        (_("시각"), {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "name", "usable_password", "password1", "password2"]})]

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Django calls this after every change; that of a password is the one that ``save_model`` does not see."""
        resolved = request.resolver_match
        if resolved is not None and resolved.url_name == "auth_user_password_change":
            audit.record(actor=actor_of(request), action="user.set_password", obj=obj)
        return super().log_change(request, obj, message)


@admin.register(ApiToken)
class ApiTokenAdmin(RecordAdmin):
    list_display = ["prefix", "label", "user", "created_at", "last_used_at", "revoked_at"]
    fields = ["user", "label", "prefix", "created_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    actions = ["revoke"]

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("accounts.change_apitoken")

    @admin.action(description=_("선택한 토큰 폐기"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        for api_token in queryset:
            revoke_api_token(api_token=api_token, actor=actor_of(request))
