"""Competitions in the admin. Reference files go in and never come out."""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from malpan.competitions.errors import MediaTooLarge
from malpan.competitions.models import Competition, DataFile, Notice, Phase, ReferenceVersion, TermsAcceptance, Track
from malpan.competitions.references import recipe_named
from malpan.competitions.services import add_data_file, publish_reference_version, scores_that_count, set_board
from malpan.core.admin import AuditedAdmin, RecordAdmin, actor_of, become
from malpan.core.uploads import body_size, was_too_large
from scoring.recipes import RECIPES


@admin.register(Competition)
class CompetitionAdmin(AuditedAdmin):
    list_display = ["title_ko", "slug", "is_published", "is_demo", "created_at"]
    list_filter = ["is_published", "is_demo"]
    search_fields = ["title_ko", "title_en", "slug"]
    readonly_fields = ["created_at"]


class TrackForm(forms.ModelForm):
    recipe = forms.ChoiceField(
        label=_("채점 방식"),
        choices=lambda: [(each.id, f"{each.id} — {each.name.ko}") for each in RECIPES.values()],
    )

    class Meta:
        model = Track
        fields = (
            "competition",
            "slug",
            "title_ko",
            "title_en",
            "description_ko",
            "description_en",
            "recipe",
            "profile",
            "score_scale",
            "score_decimals",
            "position",
        )


@admin.register(Track)
class TrackAdmin(AuditedAdmin):
    form = TrackForm
    list_display = ["title_ko", "competition", "recipe", "profile", "position"]
    list_filter = ["competition", "recipe"]
    list_select_related = ["competition"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["recipe", "profile"] if obj is not None and scores_that_count(obj) else []

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        recipe_named(obj.recipe)
        super().save_model(request, obj, form, change)


@admin.register(Phase)
class PhaseAdmin(AuditedAdmin):
    list_display = ["title_ko", "track", "starts_at", "ends_at", "daily_limit", "total_limit", "board"]
    list_filter = ["board", "track__competition"]
    list_select_related = ["track__competition"]
    readonly_fields = ["board", "frozen_at", "final_published_at"]
    actions = ["show_board", "freeze_board", "hide_board"]

    @admin.action(description=_("순위표 실시간 공개"), permissions=["change"])
    def show_board(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._set_boards(request, queryset, Phase.Board.LIVE)

    @admin.action(description=_("순위표 고정"), permissions=["change"])
    def freeze_board(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._set_boards(request, queryset, Phase.Board.FROZEN)

    @admin.action(description=_("순위표 비공개"), permissions=["change"])
    def hide_board(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._set_boards(request, queryset, Phase.Board.HIDDEN)

    def _set_boards(self, request: HttpRequest, queryset: QuerySet[Any], board: str) -> None:
        for phase in queryset:
            set_board(phase=phase, board=board, actor=actor_of(request))


class ReferenceUpload(forms.ModelForm):
    file = forms.FileField(
        label=_("정답 파일"), help_text=_("올린 파일은 채점에만 쓰이며 다시 내려받거나 볼 수 없습니다.")
    )
    frames = forms.FileField(
        label=_("프레임 파일(zip)"),
        required=False,
        help_text=_(
            "CLIPScore에 쓸 이미지입니다. 모든 문항의 이미지를 <id>.jpg 또는 <id>/ 폴더로 넣은 zip 파일을 "
            "올려 주십시오."
        ),
    )
    replace_in_use = forms.BooleanField(
        label=_("이미 제출이 있어도 정답을 바꿉니다"),
        required=False,
        help_text=_("기존 점수는 다시 채점할 때까지 순위표에서 빠집니다."),
    )

    class Meta:
        model = ReferenceVersion
        fields = ("phase", "note")


@admin.register(ReferenceVersion)
class ReferenceVersionAdmin(AuditedAdmin):
    """Add only: a published version is immutable, and its file has no way out."""

    list_display = ["phase", "number", "is_current", "item_count", "created_by", "created_at"]
    list_filter = ["is_current", "phase__track__competition"]
    list_select_related = ["phase__track__competition", "created_by"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **(kwargs if obj else {"form": ReferenceUpload, **kwargs}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        if obj:
            shown = ["phase", "number", "is_current", "item_count", "file_sha256", "media_sha256"]
            return [*shown, "note", "created_by", "created_at"]
        return ["phase", "file", "frames", "note", "replace_in_use"]

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if was_too_large(request):  # the frames were dropped; without them it would be another version than meant
            raise MediaTooLarge(size_bytes=body_size(request), limit_bytes=settings.UPLOAD_MAX_BYTES)
        chosen = form.cleaned_data
        version = publish_reference_version(
            phase=chosen["phase"],
            data=chosen["file"].read(),
            actor=actor_of(request),
            note=chosen["note"],
            replace_in_use=chosen["replace_in_use"],
            media=chosen["frames"],
        )
        become(obj, version)


@admin.register(Notice)
class NoticeAdmin(AuditedAdmin):
    list_display = ["title_ko", "competition", "is_pinned", "published_at"]
    list_filter = ["competition"]
    list_select_related = ["competition"]


class DataFileUpload(forms.ModelForm):
    file = forms.FileField(label=_("파일"))

    class Meta:
        model = DataFile
        fields = ("track", "kind", "title_ko", "title_en", "position")


@admin.register(DataFile)
class DataFileAdmin(AuditedAdmin):
    list_display = ["file_name", "title_ko", "track", "kind", "file_size", "created_at"]
    list_filter = ["kind", "track__competition"]
    list_select_related = ["track__competition"]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        return super().get_form(request, obj, change, **(kwargs if obj else {"form": DataFileUpload, **kwargs}))

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        shared = ["track", "kind", "title_ko", "title_en", "position"]
        return [*shared, "file_name", "file_size", "file_sha256", "created_at"] if obj else [*shared, "file"]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["track", "file_name", "file_size", "file_sha256", "created_at"] if obj else []

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change:
            super().save_model(request, obj, form, change)
            return
        chosen = dict(form.cleaned_data)
        upload = chosen.pop("file")
        become(obj, add_data_file(actor=actor_of(request), file_name=upload.name, data=upload, **chosen))


@admin.register(TermsAcceptance)
class TermsAcceptanceAdmin(RecordAdmin):
    list_display = ["user", "competition", "version", "accepted_at"]
    fields = ["user", "competition", "version", "accepted_at"]
    list_filter = ["competition", "version"]
    list_select_related = ["user", "competition"]
