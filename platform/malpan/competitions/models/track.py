"""A track, the task that is scored, and its files for download."""

from collections.abc import Sequence

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models.competition import Competition
from malpan.core.fields import StoredFileField
from malpan.core.language import in_language
from malpan.core.text import MARKDOWN_MAX_CHARS


class Track(models.Model):
    """One task of a competition, scored by one immutable recipe with one model profile.

    ``composite``: what it ranks by where that is not what the recipe says: objects of ``score`` and ``weight``
    (``competitions.composites``).
    """

    class Scale(models.IntegerChoices):
        UNIT = 1, _("0–1")
        PERCENT = 100, _("0–100")

    competition = models.ForeignKey(
        Competition, on_delete=models.PROTECT, related_name="tracks", verbose_name=_("대회")
    )
    slug = models.SlugField(_("주소 이름"))
    title_ko = models.CharField(_("제목"), max_length=120)
    title_en = models.CharField(_("제목(영어)"), max_length=120, blank=True)
    description_ko = models.TextField(_("과제 안내"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    description_en = models.TextField(_("과제 안내(영어)"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    recipe = models.CharField(_("채점 방식"), max_length=60)
    profile = models.CharField(_("모델 프로필"), max_length=200, blank=True, help_text=_("비우면 서버의 기본 프로필"))
    score_scale = models.PositiveSmallIntegerField(_("점수 배율"), choices=Scale.choices, default=Scale.PERCENT)
    score_decimals = models.PositiveSmallIntegerField(_("소수 자릿수"), default=7)
    composite = models.JSONField(_("종합 순위의 지표와 가중치"), default=list, blank=True)
    position = models.PositiveSmallIntegerField(_("순서"), default=0)

    class Meta:
        verbose_name = _("트랙")
        verbose_name_plural = _("트랙")
        ordering = ["position", "id"]
        constraints = [
            models.UniqueConstraint(fields=["competition", "slug"], name="track_slug_unique_in_competition"),
            models.CheckConstraint(condition=models.Q(score_scale__in=[1, 100]), name="track_scale_is_1_or_100"),
            models.CheckConstraint(condition=models.Q(score_decimals__lte=9), name="track_decimals_at_most_9"),
        ]

    def __str__(self) -> str:
        return f"{self.competition} · {self.title_ko}"

    def clean(self) -> None:
        """Say in words what the constraints refuse."""
        if self.score_decimals is not None and self.score_decimals > 9:
            raise ValidationError({"score_decimals": _("9 이하여야 합니다.")})

    def unique_error_message(self, model_class: type[models.Model], unique_check: Sequence[str]) -> ValidationError:
        if "slug" in unique_check:
            return ValidationError(_("이 대회의 다른 트랙이 쓰는 주소 이름입니다."), code="unique")
        return super().unique_error_message(model_class, unique_check)

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    @property
    def description(self) -> str:
        return in_language(self.description_ko, self.description_en)


class DataFile(models.Model):
    """A file participants may download: questions, a sample submission, a licence. Never reference answers."""

    class Kind(models.TextChoices):
        DATA = "data", _("데이터")
        SAMPLE = "sample", _("제출 예시")
        DOCUMENT = "document", _("문서")

    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="data_files", verbose_name=_("트랙"))
    kind = models.CharField(_("종류"), max_length=8, choices=Kind.choices, default=Kind.DATA)
    title_ko = models.CharField(_("제목"), max_length=120)
    title_en = models.CharField(_("제목(영어)"), max_length=120, blank=True)
    file_name = models.CharField(_("파일 이름"), max_length=120)
    file_sha256 = StoredFileField(_("파일 sha256"), size="file_size", competition="track__competition")
    file_size = models.PositiveIntegerField(_("크기(바이트)"))
    created_at = models.DateTimeField(_("등록 시각"), auto_now_add=True)
    position = models.PositiveSmallIntegerField(_("순서"), default=0)

    class Meta:
        verbose_name = _("공개 자료")
        verbose_name_plural = _("공개 자료")
        ordering = ["position", "id"]

    def __str__(self) -> str:
        return self.file_name

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)
