"""The versions of a phase's reference answers."""

from typing import Final

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models.phase import Phase
from malpan.core.fields import StoredFileField


class ReferenceVersion(models.Model):
    """One immutable set of reference answers of a phase. Its file is write-only: no page or API gives it back."""

    FILES: Final = ("file_sha256", "media_sha256", "synonyms_sha256")

    phase = models.ForeignKey(
        Phase, on_delete=models.PROTECT, related_name="reference_versions", verbose_name=_("단계")
    )
    number = models.PositiveSmallIntegerField(_("판"))
    file_sha256 = StoredFileField(_("파일 sha256"), size="file_size", competition="phase__track__competition")
    file_size = models.PositiveBigIntegerField(_("크기(바이트)"), default=0)
    media_sha256 = StoredFileField(  # zip of frames, for CLIPScore
        _("프레임 sha256"), size="media_size", competition="phase__track__competition", blank=True
    )
    media_size = models.PositiveBigIntegerField(_("프레임 크기(바이트)"), default=0)
    synonyms_sha256 = StoredFileField(  # of METEOR's synonym stage; empty: the table of the instrument
        _("유의어 표 sha256"), size="synonyms_size", competition="phase__track__competition", blank=True, db_default=""
    )
    synonyms_size = models.PositiveBigIntegerField(_("유의어 표 크기(바이트)"), default=0, db_default=0)
    item_count = models.PositiveIntegerField(_("문항 수"))
    is_current = models.BooleanField(_("현재 판"), default=False)
    public_ids = models.JSONField(_("공개 문항"), null=True, blank=True)  # ids of the public split; None: no split
    erratum_ko = models.TextField(_("정오 안내"), blank=True)
    erratum_en = models.TextField(_("정오 안내(영어)"), blank=True)
    published_at = models.DateTimeField(_("반영 시각"), null=True, blank=True)  # None: a draft, for rescoring
    note = models.CharField(_("메모"), max_length=300, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("등록한 사람"),
    )
    created_at = models.DateTimeField(_("등록 시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("정답 판")
        verbose_name_plural = _("정답 판")
        ordering = ["phase", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["phase", "number"], name="reference_number_unique_in_phase"),
            models.UniqueConstraint(
                fields=["phase"], condition=models.Q(is_current=True), name="one_current_reference_per_phase"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.phase} v{self.number}"
