"""Teams, invitations and requests to merge in the admin."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import Count, QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.core.admin import AuditedAdmin, RecordAdmin, actor_of, become
from malpan.teams.models import Invitation, Membership, MergeRequest, Team
from malpan.teams.services import create_team

DECIDED_ON_MANAGE_PAGES = [
    "disqualified_at",
    "disqualification_note_ko",
    "disqualification_note_en",
    "merged_into",
]


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
        return ["competition", "number", "name", "is_baseline", "created_at", *DECIDED_ON_MANAGE_PAGES]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["competition", "number", "created_at", *DECIDED_ON_MANAGE_PAGES] if obj else []

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
