"""The outbox in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin

from malpan.core.admin import RecordAdmin
from malpan.notifications.models import Endpoint, Letter, Preference


@admin.register(Letter)
class LetterAdmin(RecordAdmin):
    list_display = ["id", "event", "key", "state", "attempts", "not_before", "created_at", "sent_at", "error"]
    list_filter = ["state", "event"]
    date_hierarchy = "created_at"


@admin.register(Endpoint)
class EndpointAdmin(RecordAdmin):
    list_display = ["id", "events", "created_at", "failing_since", "off_at"]


@admin.register(Preference)
class PreferenceAdmin(RecordAdmin):
    list_display = ["id", "language", "muted"]
