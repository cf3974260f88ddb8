"""A competition, its notices, and questions with their answers."""

from collections.abc import Sequence

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.core.fields import NameField
from malpan.core.language import in_language
from malpan.core.text import MARKDOWN_MAX_CHARS


class Competition(models.Model):
    """A competition of teams. Descriptions are Markdown, rendered and sanitised by the page."""

    class Cover(models.TextChoices):
        """The colour of its head and card, which tell it from others."""

        BLUE = "blue", _("쪽빛")
        GREEN = "green", _("풀빛")
        PURPLE = "purple", _("보랏빛")
        ROSE = "rose", _("꽃빛")
        GOLD = "gold", _("금빛")

    slug = models.SlugField(_("주소 이름"), unique=True)
    title_ko = NameField(_("제목"), max_length=120)
    title_en = NameField(_("제목(영어)"), max_length=120, blank=True)
    summary_ko = models.CharField(_("한 줄 소개"), max_length=300, blank=True)
    summary_en = models.CharField(_("한 줄 소개(영어)"), max_length=300, blank=True)
    description_ko = models.TextField(_("대회 안내"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    description_en = models.TextField(_("대회 안내(영어)"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    organiser_ko = NameField(_("주최"), max_length=120, blank=True)
    organiser_en = NameField(_("주최(영어)"), max_length=120, blank=True)
    cover = models.CharField(
        _("표지 색"), max_length=6, choices=Cover, blank=True, default="", db_default="",
        help_text=_("대회 화면의 머리와 첫 화면의 카드에 쓰는 색입니다. 고르지 않으면 회색입니다."),
    )  # fmt: skip
    team_size_max = models.PositiveSmallIntegerField(_("팀 최대 인원"), default=5, validators=[MinValueValidator(1)])
    is_published = models.BooleanField(_("공개"), default=False)
    terms_ko = models.TextField(_("참가 약관"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    terms_en = models.TextField(_("참가 약관(영어)"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    terms_version = models.PositiveSmallIntegerField(_("약관 판"), default=0)  # 0: no terms to accept
    has_blind_names = models.BooleanField(
        _("팀 이름 가리기"), default=False, help_text=_("단계가 열려 있는 동안 순위표에 팀 번호만 보입니다.")
    )
    personal_data_months = models.PositiveSmallIntegerField(  # None: as long as the competition is here
        _("개인정보 보관 개월"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_(
            "대회가 끝나고 이만큼 지나면 초대, 반려된 파일, 공개로 답하지 않은 문의, 제출의 메모와 파일 이름을 지우고, "
            "그동안 로그인하지 않았고 다른 대회에 참여하지 않는 참가자의 이메일과 이름을 지웁니다. 점수와 순위표는 "
            "남습니다. 비우면 지우지 않습니다."
        ),
    )
    prize_places = models.JSONField(_("시상 순위"), default=list, blank=True)  # ranks below which a line is drawn
    is_demo = models.BooleanField(_("데모"), default=False)
    storage_limit = models.PositiveBigIntegerField(  # None: the site's COMPETITION_STORAGE_BYTES; 0: no limit
        _("저장 한도(바이트)"), null=True, blank=True
    )
    created_at = models.DateTimeField(_("만든 시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("대회")
        verbose_name_plural = _("대회")
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return self.title_ko

    def unique_error_message(self, model_class: type[models.Model], unique_check: Sequence[str]) -> ValidationError:
        if "slug" in unique_check:
            return ValidationError(_("다른 대회가 쓰는 주소 이름입니다."), code="unique")
        return super().unique_error_message(model_class, unique_check)

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    @property
    def summary(self) -> str:
        return in_language(self.summary_ko, self.summary_en)

    @property
    def description(self) -> str:
        return in_language(self.description_ko, self.description_en)

    @property
    def organiser(self) -> str:
        return in_language(self.organiser_ko, self.organiser_en)


class Notice(models.Model):
    """An organiser's announcement, bilingual, newest first, pinned ones on top."""

    competition = models.ForeignKey(
        Competition, on_delete=models.CASCADE, related_name="notices", verbose_name=_("대회")
    )
    title_ko = models.CharField(_("제목"), max_length=200)
    title_en = models.CharField(_("제목(영어)"), max_length=200, blank=True)
    body_ko = models.TextField(_("내용"), max_length=MARKDOWN_MAX_CHARS)
    body_en = models.TextField(_("내용(영어)"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    is_pinned = models.BooleanField(_("상단 고정"), default=False)
    published_at = models.DateTimeField(_("게시"), default=timezone.now)

    class Meta:
        verbose_name = _("공지")
        verbose_name_plural = _("공지")
        ordering = ["-is_pinned", "-published_at"]

    def __str__(self) -> str:
        return self.title_ko

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    @property
    def body(self) -> str:
        return in_language(self.body_ko, self.body_en)


class Question(models.Model):
    """문의: a participant's question to the organisers. Public if an organiser answers it publicly."""

    competition = models.ForeignKey(
        Competition, on_delete=models.CASCADE, related_name="questions", verbose_name=_("대회")
    )
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="questions", verbose_name=_("질문한 사람")
    )
    title = models.CharField(_("제목"), max_length=200)
    body = models.TextField(_("내용"))
    answer_ko = models.TextField(_("답변"), blank=True)
    answer_en = models.TextField(_("답변(영어)"), blank=True)
    is_public = models.BooleanField(_("공개 답변"), default=False)
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("답한 사람"),
    )
    created_at = models.DateTimeField(_("질문 시각"), auto_now_add=True)
    answered_at = models.DateTimeField(_("답변 시각"), null=True, blank=True)

    class Meta:
        verbose_name = _("문의")
        verbose_name_plural = _("문의")
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return self.title

    @property
    def answer(self) -> str:
        return in_language(self.answer_ko, self.answer_en)
