"""What is evaluated: a campaign with its rubric, its systems and its items."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase, Track
from malpan.core.language import in_language
from malpan.core.text import MARKDOWN_MAX_CHARS
from malpan.core.times import kst_text
from malpan.submissions.models import Submission

TITLE_MAX = 120
SHARE_MAX = 30  # percent of a queue that may be controls, and that may be repeats


class Rubric(models.Model):
    """A version of what judges go by in a track: the guideline, the criteria and the reasons. Never changed.

    ``criteria`` (protocol rubric): ``{"key", "label_ko", "label_en", "low", "high", "weight", "anchors"}``, anchors by
    number as text: ``{"1": {"ko", "en"}}``. ``reasons`` (optional reasons of a choice): ``{"key", "label_ko",
    "label_en"}``.
    """

    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="rubrics", verbose_name=_("트랙"))
    number = models.PositiveSmallIntegerField(_("판"))
    title_ko = models.CharField(_("제목"), max_length=TITLE_MAX)
    title_en = models.CharField(_("제목(영어)"), max_length=TITLE_MAX, blank=True)
    guideline_ko = models.TextField(_("평가 지침"), max_length=MARKDOWN_MAX_CHARS)
    guideline_en = models.TextField(_("평가 지침(영어)"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    criteria = models.JSONField(_("평가 기준"), default=list, blank=True)
    reasons = models.JSONField(_("선택의 까닭"), default=list, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("만든 사람")
    )
    created_at = models.DateTimeField(_("만든 시각"))

    class Meta:
        verbose_name = _("평가 기준표")
        verbose_name_plural = _("평가 기준표")
        ordering = ["track", "-number"]
        constraints = [models.UniqueConstraint(fields=["track", "number"], name="rubric_number_unique_in_track")]

    def __str__(self) -> str:
        return f"{self.track} · {self.title_ko} #{self.number}"

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    @property
    def guideline(self) -> str:
        return in_language(self.guideline_ko, self.guideline_en)


class Campaign(models.Model):
    """A human evaluation of submissions of one phase: a draft, then open, closed and published.

    ``group_size`` systems are shown together: 2 in pairs, 1 for rubric and errors. ``seed`` is secret until the
    campaign is closed, and not known where it was imported before that without the passphrase of its archive;
    ``seed_sha256`` enters the public chain when the campaign is made. ``masked_words``: names to hide in outputs
    besides those of teams and members. ``practice``: the calibration items of the organiser (``arena.own_practice``),
    where there are any instead of ``calibration_count`` made by rule. Once open, only planned times and texts change.
    """

    class Protocol(models.TextChoices):
        PAIRWISE = "pairwise", _("쌍 비교")
        RUBRIC = "rubric", _("기준별 점수")
        RANKING = "ranking", _("순위 매기기")
        ERRORS = "errors", _("오류 표시")

    class Part(models.TextChoices):
        PUBLIC = "public", _("공개 문항")
        PRIVATE = "private", _("비공개 문항")
        ALL = "all", _("모든 문항")

    class State(models.TextChoices):
        DRAFT = "draft", _("준비 중")
        OPEN = "open", _("진행 중")
        CLOSED = "closed", _("마감")
        PUBLISHED = "published", _("발표")

    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="campaigns", verbose_name=_("트랙"))
    number = models.PositiveSmallIntegerField(_("번호"))
    title_ko = models.CharField(_("제목"), max_length=TITLE_MAX)
    title_en = models.CharField(_("제목(영어)"), max_length=TITLE_MAX, blank=True)
    notice_ko = models.TextField(_("안내"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    notice_en = models.TextField(_("안내(영어)"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    protocol = models.CharField(_("평가 방식"), max_length=8, choices=Protocol.choices)
    rubric = models.ForeignKey(
        Rubric, on_delete=models.PROTECT, related_name="campaigns", verbose_name=_("평가 기준표")
    )
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="campaigns", verbose_name=_("단계"))
    part = models.CharField(_("문항의 범위"), max_length=7, choices=Part.choices, default=Part.ALL)
    item_count = models.PositiveSmallIntegerField(_("문항 수"), default=100)
    units_per_item = models.PositiveSmallIntegerField(_("문항마다 묶음 수"), default=1)
    judges_per_unit = models.PositiveSmallIntegerField(_("묶음마다 평가자 수"), default=2)
    group_size = models.PositiveSmallIntegerField(_("함께 보이는 출력 수"), default=2)
    control_percent = models.PositiveSmallIntegerField(_("확인 문항(%)"), default=5)
    repeat_percent = models.PositiveSmallIntegerField(_("되풀이 문항(%)"), default=5)
    calibration_count = models.PositiveSmallIntegerField(_("연습 문항 수"), default=3)
    practice = models.JSONField(_("직접 쓴 연습 문항"), default=list, blank=True)
    shows_input = models.BooleanField(_("입력을 보임"), default=True)
    shows_reference = models.BooleanField(_("정답을 보임"), default=False)
    min_seconds = models.PositiveSmallIntegerField(_("읽는 데 드는 최소 시간(초)"), default=5)
    masked_words = models.JSONField(_("가릴 이름"), default=list, blank=True)
    resamples = models.PositiveSmallIntegerField(
        _("재표집 횟수"), default=2000, validators=[MinValueValidator(200), MaxValueValidator(20000)]
    )
    seed = models.CharField(max_length=64, editable=False)
    seed_sha256 = models.CharField(_("시드의 sha256"), max_length=64, editable=False)
    design_sha256 = models.CharField(_("배정의 sha256"), max_length=64, blank=True, editable=False)
    starts_at = models.DateTimeField(_("시작 예정"), null=True, blank=True)
    ends_at = models.DateTimeField(_("마감 예정"), null=True, blank=True)
    opened_at = models.DateTimeField(_("연 시각"), null=True, blank=True, editable=False)
    closed_at = models.DateTimeField(_("마감한 시각"), null=True, blank=True, editable=False)
    published_at = models.DateTimeField(_("발표한 시각"), null=True, blank=True, editable=False)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("만든 사람")
    )
    created_at = models.DateTimeField(_("만든 시각"))

    class Meta:
        verbose_name = _("평가")
        verbose_name_plural = _("평가")
        ordering = ["track", "-number"]
        constraints = [
            models.UniqueConstraint(fields=["track", "number"], name="campaign_number_unique_in_track"),
            models.CheckConstraint(
                condition=models.Q(protocol="pairwise", group_size=2)
                | models.Q(protocol__in=["rubric", "errors"], group_size=1)
                | models.Q(protocol="ranking", group_size__range=(3, 8)),
                name="campaign_group_fits_protocol",
            ),
            models.CheckConstraint(
                condition=models.Q(item_count__gte=1, units_per_item__gte=1, judges_per_unit__gte=1),
                name="campaign_has_units",
            ),
            models.CheckConstraint(
                condition=models.Q(control_percent__lte=SHARE_MAX, repeat_percent__lte=SHARE_MAX),
                name="campaign_checks_are_few",
            ),
            models.CheckConstraint(
                condition=(models.Q(closed_at=None) | models.Q(opened_at__isnull=False))
                & (models.Q(published_at=None) | models.Q(closed_at__isnull=False)),
                name="campaign_opens_closes_publishes",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.track} · {self.title_ko}"

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    @property
    def notice(self) -> str:
        return in_language(self.notice_ko, self.notice_en)

    @property
    def practice_drawn(self) -> int:
        """How many calibration items are made by rule."""
        return 0 if self.practice else self.calibration_count

    @property
    def practice_count(self) -> int:
        """How many calibration items a judge has."""
        return len(self.practice) or self.calibration_count

    def is_over(self, now: datetime) -> bool:
        """Whether the planned end has passed at ``now``: from then on nothing is judged."""
        return self.ends_at is not None and self.ends_at <= now

    @property
    def end_text(self) -> str:
        """The planned end in words, empty without one."""
        return "" if self.ends_at is None else kst_text(self.ends_at)

    @property
    def is_judged_now(self) -> bool:
        """Whether judgements are taken."""
        return self.state == self.State.OPEN and not self.is_over(timezone.now())

    @property
    def tells_labels(self) -> bool:
        """Whether organisers may know which label is whose: from the closing on."""
        return self.closed_at is not None

    @property
    def state(self) -> Campaign.State:
        if self.published_at is not None:
            return self.State.PUBLISHED
        if self.closed_at is not None:
            return self.State.CLOSED
        return self.State.DRAFT if self.opened_at is None else self.State.OPEN


class CampaignSystem(models.Model):
    """A submission that takes part, under a label that names nobody (``S01``, drawn by the seed at the opening; empty
    in a draft). ``institution``: where its team is from, as organisers know it; judges from there never see it.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="systems", verbose_name=_("평가"))
    submission = models.ForeignKey(
        Submission, on_delete=models.PROTECT, related_name="campaign_systems", verbose_name=_("제출")
    )
    label = models.CharField(_("가림 이름"), max_length=4, blank=True)
    position = models.PositiveSmallIntegerField(_("차례"))
    institution = models.CharField(_("소속 기관"), max_length=120, blank=True)

    class Meta:
        verbose_name = _("평가할 제출")
        verbose_name_plural = _("평가할 제출")
        ordering = ["campaign", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "label"], condition=~models.Q(label=""), name="system_label_unique_in_campaign"
            ),
            models.UniqueConstraint(fields=["campaign", "submission"], name="system_submission_unique_in_campaign"),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id} {self.label or self.position}"


class CampaignItem(models.Model):
    """An item as judges see it, fixed at the opening. ``outputs``: the blinded text of every system, by its label.

    Of a calibration item ``expected`` is ``{"rule"}``, by which one output is made bad, or of one that an organiser
    wrote the ``{"value"}`` that is expected, and ``outputs`` is what is shown, in its order, by labels of its own; the
    explanation is the feedback that a judge reads afterwards. ``reference_id`` never leaves the manage pages before the
    end.
    """

    class Kind(models.TextChoices):
        REAL = "real", _("평가 문항")
        CALIBRATION = "calibration", _("연습 문항")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="items", verbose_name=_("평가"))
    label = models.CharField(_("가림 이름"), max_length=6)
    reference_id = models.CharField(_("문항 번호"), max_length=200)
    stratum = models.CharField(_("유형"), max_length=120, blank=True)
    input_text = models.TextField(_("입력"), blank=True)
    reference_text = models.TextField(_("정답"), blank=True)
    outputs = models.JSONField(_("출력"))
    kind = models.CharField(_("종류"), max_length=11, choices=Kind.choices, default=Kind.REAL)
    expected = models.JSONField(_("기대하는 답"), null=True, blank=True)
    explanation_ko = models.TextField(_("설명"), blank=True)
    explanation_en = models.TextField(_("설명(영어)"), blank=True)

    class Meta:
        verbose_name = _("평가 문항")
        verbose_name_plural = _("평가 문항")
        ordering = ["campaign", "label"]
        constraints = [models.UniqueConstraint(fields=["campaign", "label"], name="item_label_unique_in_campaign")]

    def __str__(self) -> str:
        return f"{self.campaign_id} {self.label}"

    @property
    def explanation(self) -> str:
        return in_language(self.explanation_ko, self.explanation_en)
