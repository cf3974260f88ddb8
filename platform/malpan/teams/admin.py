"""Teams, invitations and requests to merge in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin

from malpan.core.admin import RecordAdmin
from malpan.teams.models import Invitation, Membership, MergeRequest, Team


@admin.register(Team)
class TeamAdmin(RecordAdmin):
    list_display = ["number", "name", "competition", "is_baseline", "is_program", "disqualified_at", "merged_into"]
    list_display_links = ["number", "name"]
    list_filter = ["competition", "is_baseline", "is_program"]
    search_fields = ["name", "memberships__user__email"]
    list_select_related = ["competition", "merged_into"]


@admin.register(Membership)
class MembershipAdmin(RecordAdmin):
    list_display = ["user", "team", "competition", "role", "joined_at"]
    list_filter = ["competition", "role"]
    search_fields = ["user__email", "user__name", "team__name"]
    list_select_related = ["user", "team", "competition"]


@admin.register(Invitation)
class InvitationAdmin(RecordAdmin):
    list_display = ["team", "email", "created_by", "created_at", "expires_at", "used_by", "used_at", "revoked_at"]
    list_select_related = ["team", "created_by", "used_by"]
    hidden = frozenset({"token_sha256"})


@admin.register(MergeRequest)
class MergeRequestAdmin(RecordAdmin):
    list_display = ["source", "target", "state", "asked_by", "created_at", "answered_by", "answered_at"]
    list_select_related = ["source", "target", "asked_by", "answered_by"]
