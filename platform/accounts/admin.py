"""People, teams, invitations and tokens in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.forms import AdminUserCreationForm, UserChangeForm
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.models import ApiToken, Invitation, Membership, MergeRequest, Team, TermsAcceptance, User
from accounts.services import create_team, revoke_api_token
from core import audit
from core.admin import AuditedAdmin, RecordAdmin, actor_of, become

DECIDED_AT_THE_DESK = [
    "disqualified_at",
    "disqualification_note_ko",
    "disqualification_note_en",
    "merged_into",
]


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


class MembershipInline(admin.TabularInline):
    """The members; a person is taken out here and comes in by an invitation."""

    model = Membership
    extra = 0
    fields = ["user", "role", "joined_at"]
    readonly_fields = ["user", "role", "joined_at"]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class TeamCreation(forms.ModelForm):
    leader = forms.ModelChoiceField(label=_("팀장"), queryset=User.objects.order_by("email"))

    class Meta:
        model = Team
        fields = ("competition", "name", "is_baseline")


@admin.register(Team)
class TeamAdmin(AuditedAdmin):
    list_display = ["number", "name", "competition", "is_baseline", "member_count", "disqualified_at", "merged_into"]
    list_display_links = ["number", "name"]
    list_filter = ["competition", "is_baseline"]
    search_fields = ["name", "memberships__user__email"]
    list_select_related = ["competition", "merged_into"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        return super().get_queryset(request).annotate(members_in_all=Count("memberships", distinct=True))

    @admin.display(description=_("인원"))
    def member_count(self, team: Any) -> int:
        return int(team.members_in_all)

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **(kwargs if change else {"form": TeamCreation, **kwargs}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj is None:
            return ["competition", "name", "is_baseline", "leader"]
        return ["competition", "number", "name", "is_baseline", "created_at", *DECIDED_AT_THE_DESK]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["competition", "number", "created_at", *DECIDED_AT_THE_DESK] if obj else []

    def get_inlines(self, request: HttpRequest, obj: Any) -> list[Any]:
        return [MembershipInline] if obj else []

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        chosen = form.cleaned_data
        become(
            obj,
            create_team(
                competition=chosen["competition"],
                name=chosen["name"],
                leader=chosen["leader"],
                is_baseline=chosen["is_baseline"],
                actor=actor_of(request),
            ),
        )


@admin.register(Invitation)
class InvitationAdmin(RecordAdmin):
    list_display = ["team", "email", "created_by", "created_at", "expires_at", "used_by", "used_at", "revoked_at"]
    fields = ["team", "email", "created_by", "created_at", "expires_at", "used_by", "used_at", "revoked_at"]
    list_select_related = ["team", "created_by", "used_by"]


@admin.register(MergeRequest)
class MergeRequestAdmin(RecordAdmin):
    list_display = ["source", "target", "state", "asked_by", "created_at", "answered_by", "answered_at"]
    fields = ["source", "target", "state", "asked_by", "created_at", "answered_by", "answered_at"]
    list_select_related = ["source", "target", "asked_by", "answered_by"]


@admin.register(TermsAcceptance)
class TermsAcceptanceAdmin(RecordAdmin):
    list_display = ["user", "competition", "version", "accepted_at"]
    fields = ["user", "competition", "version", "accepted_at"]
    list_filter = ["competition", "version"]
    list_select_related = ["user", "competition"]


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
