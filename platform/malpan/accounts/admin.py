"""People in the admin: created, edited, enabled and disabled, each with an audit entry. Their tokens are read-only."""

from __future__ import annotations

from typing import Any, cast

from allauth.account.admin import EmailAddress  # this import registers their admin page
from django.contrib import admin, messages
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import ApiToken, User
from malpan.accounts.services import confirm_email, revoke_api_tokens_of
from malpan.core import audit
from malpan.core.admin import RecordAdmin

admin.site.unregister(EmailAddress)


class UserCreation(AdminUserCreationForm):
    class Meta:
        model = User
        fields = ("email", "name")


class UserChange(UserChangeForm):
    class Meta:
        model = User
        fields = ("email", "name", "password", "is_active", "is_staff", "is_superuser", "groups", "user_permissions")


@admin.register(User)
class UserAdmin(DjangoUserAdmin):
    """A change and its audit entry are in one transaction, which Django opens for every form.

    Nobody is deleted: ``malpan.privacy`` erases what identifies a person, and then nothing is left to change.
    """

    form = UserChange
    add_form = UserCreation
    ordering = ["email"]
    list_display = ["email", "__str__", "is_staff", "is_active", "date_joined"]
    list_filter = ["is_staff", "is_superuser", "is_active"]
    search_fields = ["email", "name"]
    readonly_fields = ["last_login", "date_joined"]
    fieldsets = [
        (None, {"fields": ["email", "name", "password"]}),
        (_("권한"), {"fields": ["is_active", "is_staff", "is_superuser", "groups", "user_permissions"]}),
        (_("시각"), {"fields": ["last_login", "date_joined"]}),
    ]
    add_fieldsets = [(None, {"fields": ["email", "name", "usable_password", "password1", "password2"]})]
    actions = ["confirm_emails", "revoke_tokens"]

    @admin.action(description=_("선택한 사람의 이메일을 인증한 것으로 표시"), permissions=["change"])
    def confirm_emails(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        count = sum(confirm_email(user=user, actor=_actor(request)) for user in queryset)
        text = gettext("이메일 %(count)d개를 인증한 것으로 표시했습니다.") % {"count": count}
        self.message_user(request, text, messages.SUCCESS)

    @admin.action(description=_("선택한 사람의 API 토큰을 모두 폐기"), permissions=["change"])
    def revoke_tokens(self, request: HttpRequest, queryset: QuerySet[User]) -> None:
        count = sum(revoke_api_tokens_of(user=user, actor=_actor(request)) for user in queryset)
        self.message_user(request, gettext("API 토큰 %(count)d개를 폐기했습니다.") % {"count": count}, messages.SUCCESS)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or obj.erased_at is None)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        before = audit.snapshot(User.objects.get(pk=obj.pk)) if change else {}
        super().save_model(request, obj, form, change)
        was, then = audit.changed(before, audit.snapshot(obj))
        if then:
            action = "user.update" if change else "user.create"
            audit.record(actor=_actor(request), action=action, obj=obj, before=was, after=then)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        before = _rights_of(form.instance)
        super().save_related(request, form, formsets, change)
        was, then = audit.changed(before, _rights_of(form.instance))
        if then:
            audit.record(actor=_actor(request), action="user.relate", obj=form.instance, before=was, after=then)

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> Any:
        """Django calls this after every change, also of a password, which ``save_model`` does not get."""
        resolved = request.resolver_match
        if resolved is not None and resolved.url_name == "auth_user_password_change":
            audit.record(actor=_actor(request), action="user.set_password", obj=obj)
        return super().log_change(request, obj, message)


@admin.register(EmailAddress)
class EmailAddressAdmin(RecordAdmin):
    """An address is confirmed by its owner, or by the admin action on people."""

    list_display = ["email", "user", "primary", "verified"]
    list_filter = ["primary", "verified"]
    search_fields = ["email"]
    list_select_related = ["user"]


@admin.register(ApiToken)
class ApiTokenAdmin(RecordAdmin):
    list_display = ["prefix", "label", "user", "scopes", "created_at", "expires_at", "last_used_at", "revoked_at"]
    list_select_related = ["user"]
    hidden = frozenset({"token_sha256"})


def _actor(request: HttpRequest) -> User:
    """The logged-in user; the admin admits nobody else."""
    return cast("User", request.user)


def _rights_of(user: User) -> dict[str, list[int]]:
    """The primary keys of the person's groups and permissions."""
    return {name: sorted(getattr(user, name).values_list("pk", flat=True)) for name in ("groups", "user_permissions")}
