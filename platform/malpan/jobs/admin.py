"""Jobs in the admin, read-only."""

from __future__ import annotations

from django.contrib import admin

from malpan.core.admin import RecordAdmin
from malpan.jobs.models import Job, Worker


@admin.register(Job)
class JobAdmin(RecordAdmin):
    list_display = [
        "id", "kind", "parent", "number", "state", "lane", "flow", "attempt", "failures", "progress", "queued_at",
        "started_at", "finished_at", "error_code", "worker",
    ]  # fmt: skip
    list_filter = ["state", "kind", "lane", "error_code"]
    list_select_related = ["parent"]
    date_hierarchy = "queued_at"


@admin.register(Worker)
class WorkerAdmin(RecordAdmin):
    list_display = ["name", "seen_at", "numbers"]
