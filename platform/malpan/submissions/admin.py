"""Submissions and runs in the admin, read-only: of all competitions, for the operators of the site."""

from __future__ import annotations

from django.contrib import admin

from malpan.core.admin import RecordAdmin
from malpan.submissions.models import MetricResult, QuotaEntry, Rejection, ScoringRun, Submission


@admin.register(Submission)
class SubmissionAdmin(RecordAdmin):
    list_display = ["created_at", "team", "phase", "file_name", "item_count", "refunded_at", "live_run"]
    list_filter = ["phase__track__competition", "phase"]
    search_fields = ["public_id", "team__name", "submitted_by__email", "file_sha256"]
    list_select_related = ["team", "phase__track__competition", "live_run__submission__team"]
    date_hierarchy = "created_at"


@admin.register(Rejection)
class RejectionAdmin(RecordAdmin):
    list_display = ["created_at", "team", "phase", "file_name", "file_size", "error_count"]
    list_filter = ["phase__track__competition"]
    search_fields = ["team__name", "submitted_by__email"]
    list_select_related = ["team", "phase__track__competition"]


@admin.register(QuotaEntry)
class QuotaEntryAdmin(RecordAdmin):
    list_display = ["moment", "team", "phase", "kind", "slots", "day", "submission", "reason", "actor"]
    list_filter = ["kind", "phase__track__competition"]
    search_fields = ["team__name", "reason", "submission__public_id", "actor__email"]
    list_select_related = ["team", "phase__track__competition", "submission__team", "actor"]
    date_hierarchy = "moment"
    ordering = ["-pk"]


@admin.register(ScoringRun)
class ScoringRunAdmin(RecordAdmin):
    list_display = [
        "id", "submission", "state", "final_score", "recipe", "profile", "queued_at", "finished_at",
        "error_code", "job",
    ]  # fmt: skip
    list_filter = ["state", "recipe", "is_demo_models", "error_code"]
    search_fields = ["submission__public_id", "submission__team__name", "signature_hash"]
    list_select_related = ["submission__team", "job"]
    date_hierarchy = "queued_at"


@admin.register(MetricResult)
class MetricResultAdmin(RecordAdmin):
    list_display = ["submission", "reference_version", "metric", "metric_signature", "created_at"]
    list_filter = ["metric"]
    list_select_related = ["submission__team", "reference_version__phase__track__competition"]
