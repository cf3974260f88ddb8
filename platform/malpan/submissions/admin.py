"""Submissions and runs in the admin: records to read, and one thing to do about a failed run."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import Func, IntegerField, Q, QuerySet
from django.http import HttpRequest
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext_lazy as _

from malpan.core.admin import RecordAdmin, actor_of
from malpan.core.errors import DomainError
from malpan.core.messages import heading_of, text_of
from malpan.submissions.models import MetricResult, QuotaEntry, Rejection, ScoringRun, Submission
from malpan.submissions.retrying import retry_failed_run
from scoring.errors import Language
from scoring.recipes.warning_texts import INTEGRITY_CODES, warning_text
from scoring.records import ScoreWarning


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


class IntegrityFilter(admin.SimpleListFilter):
    """Runs whose answers are worth reading, by what the instrument noticed about them."""

    title = _("답변 점검")
    parameter_name = "integrity"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("noted", _("살펴볼 점이 있음")), ("clear", _("살펴볼 점이 없음"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        noted = Q()
        for code in sorted(INTEGRITY_CODES):
            noted |= Q(warnings__contains=[{"code": code}])
        if self.value() == "noted":
            return queryset.filter(noted)
        if self.value() == "clear":
            return queryset.filter(~noted, state=ScoringRun.State.FINISHED)
        return queryset


@admin.register(ScoringRun)
class ScoringRunAdmin(RecordAdmin):
    list_display = [
        "id", "submission", "state", "final_score", "recipe", "profile", "queued_at", "finished_at", "warning_count",
        "error_code", "job",
    ]  # fmt: skip
    list_filter = ["state", IntegrityFilter, "recipe", "is_demo_models", "error_code"]
    search_fields = ["submission__public_id", "submission__team__name", "signature_hash"]
    list_select_related = ["submission__team", "job"]
    date_hierarchy = "queued_at"
    actions = ["retry"]
    readonly_fields = ["warning_sentences"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        length = Func("warnings", function="jsonb_array_length", output_field=IntegerField())
        return super().get_queryset(request).annotate(warning_length=length)

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        """The fields of a run, its warnings as sentences in the place of their codes."""
        names = [name for name in super().get_fields(request, obj) if name != "warning_sentences"]
        return ["warning_sentences" if name == "warnings" else name for name in names]

    @admin.display(description=_("알림 수"), ordering="warning_length")
    def warning_count(self, run: ScoringRun) -> int:
        return len(run.warnings)

    @admin.display(description=_("알림"))
    def warning_sentences(self, run: ScoringRun) -> SafeString | str:
        language: Language = "en" if (get_language() or "ko").startswith("en") else "ko"
        texts = [warning_text(ScoreWarning(row["code"], row.get("params", {})), language) for row in run.warnings]
        return format_html_join("\n", "<p>{}</p>", ((text,) for text in texts)) or "-"

    def has_retry_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("submissions.change_scoringrun")

    @admin.action(description=_("다시 채점(재시도)"), permissions=["retry"])
    def retry(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """Queue a new run for each chosen run that was given up; say why for the others."""
        count = 0
        for run in queryset:
            try:
                retry_failed_run(run=run, actor=actor_of(request))
                count += 1
            except DomainError as error:
                self.message_user(request, f"{run.pk} — {heading_of(error)}: {text_of(error)}", messages.ERROR)
        if count:
            text = ngettext(
                "채점 %(count)d건을 다시 대기열에 넣었습니다.", "채점 %(count)d건을 다시 대기열에 넣었습니다.", count
            )
            self.message_user(request, text % {"count": count}, messages.SUCCESS)


@admin.register(MetricResult)
class MetricResultAdmin(RecordAdmin):
    list_display = ["submission", "reference_version", "metric", "metric_signature", "created_at"]
    list_filter = ["metric"]
    list_select_related = ["submission__team", "reference_version__phase__track__competition"]
