"""Competitions in the admin, read-only. They are changed on the manage pages."""

from __future__ import annotations

from django.contrib import admin

from malpan.competitions.models import Competition, DataFile, Notice, Phase, ReferenceVersion, TermsAcceptance, Track
from malpan.core.admin import RecordAdmin


@admin.register(Competition)
class CompetitionAdmin(RecordAdmin):
    list_display = ["title_ko", "slug", "is_published", "is_demo", "created_at"]
    list_filter = ["is_published", "is_demo"]
    search_fields = ["title_ko", "title_en", "slug"]


@admin.register(Track)
class TrackAdmin(RecordAdmin):
    list_display = ["title_ko", "competition", "recipe", "profile", "position"]
    list_filter = ["competition", "recipe"]
    list_select_related = ["competition"]


@admin.register(Phase)
class PhaseAdmin(RecordAdmin):
    list_display = ["title_ko", "track", "starts_at", "ends_at", "daily_limit", "total_limit", "board"]
    list_filter = ["board", "track__competition"]
    list_select_related = ["track__competition"]
    hidden = frozenset({"split_seed"})


@admin.register(ReferenceVersion)
class ReferenceVersionAdmin(RecordAdmin):
    list_display = ["phase", "number", "is_current", "item_count", "created_by", "created_at"]
    list_filter = ["is_current", "phase__track__competition"]
    list_select_related = ["phase__track__competition", "created_by"]
    hidden = frozenset({"public_ids"})


@admin.register(Notice)
class NoticeAdmin(RecordAdmin):
    list_display = ["title_ko", "competition", "is_pinned", "published_at"]
    list_filter = ["competition"]
    list_select_related = ["competition"]


@admin.register(DataFile)
class DataFileAdmin(RecordAdmin):
    list_display = ["file_name", "title_ko", "track", "kind", "file_size", "created_at"]
    list_filter = ["kind", "track__competition"]
    list_select_related = ["track__competition"]


@admin.register(TermsAcceptance)
class TermsAcceptanceAdmin(RecordAdmin):
    list_display = ["user", "competition", "version", "accepted_at"]
    list_filter = ["competition", "version"]
    list_select_related = ["user", "competition"]
