"""What was wrong with the site in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin

from malpan.core.admin import RecordAdmin
from malpan.operation.models import Incident


@admin.register(Incident)
class IncidentAdmin(RecordAdmin):
    list_display = ["id", "event", "subject", "is_urgent", "began_at", "told_at", "ended_at"]
    list_filter = ["event"]
    date_hierarchy = "began_at"
