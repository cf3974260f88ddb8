"""What is scored: tracks, their phases, the versions of their references, their data files."""

from datetime import datetime, timedelta

from django.conf import settings
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models.competition import Competition
from malpan.core.language import in_language


class Track(models.Model):
    """One task of a competition, scored by one immutable recipe with one model profile."""

    class Scale(models.IntegerChoices):
        UNIT = 1, _("0–1")
        PERCENT = 100, _("0–100")

    competition = models.ForeignKey(
        Competition, on_delete=models.PROTECT, related_name="tracks", verbose_name=_("대회")
    )
    slug = models.SlugField(_("주소 이름"))
    title_ko = models.CharField(_("제목"), max_length=120)
    title_en = models.CharField(_("제목(영어)"), max_length=120, blank=True)
    description_ko = models.TextField(_("과제 안내"), blank=True)
    description_en = models.TextField(_("과제 안내(영어)"), blank=True)
    recipe = models.CharField(_("채점 방식"), max_length=60)
    profile = models.CharField(_("모델 프로필"), max_length=200, blank=True, help_text=_("비우면 서버의 기본 프로필"))
    score_scale = models.PositiveSmallIntegerField(_("점수 배율"), choices=Scale.choices, default=Scale.PERCENT)
    score_decimals = models.PositiveSmallIntegerField(_("소수 자릿수"), default=7)
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

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    @property
    def description(self) -> str:
        return in_language(self.description_ko, self.description_en)


class Phase(models.Model):
    """A window of a track in which teams submit, with its limits. Times are absolute; days are KST days.

    A frozen board counts only what was submitted before ``frozen_at``. ``shows_own_score``: while the board is frozen
    or hidden a team still sees its own scores. With a split (``ReferenceVersion.public_ids``) every score shown is that
    of the public split; the private split is scored too and stored separately (``submissions.HiddenResult``) until the
    final board is published (``final_published_at``). ``finals_limit``: how many submissions a team may choose for the
    final board; ``None``: all count, and the best is used.
    """

    class Board(models.TextChoices):
        LIVE = "live", _("실시간 공개")
        FROZEN = "frozen", _("고정")
        HIDDEN = "hidden", _("비공개")

    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="phases", verbose_name=_("트랙"))
    slug = models.SlugField(_("주소 이름"))
    title_ko = models.CharField(_("제목"), max_length=120)
    title_en = models.CharField(_("제목(영어)"), max_length=120, blank=True)
    starts_at = models.DateTimeField(_("시작"))
    ends_at = models.DateTimeField(_("마감"))
    daily_limit = models.PositiveSmallIntegerField(_("하루 제출 한도"), null=True, blank=True)
    total_limit = models.PositiveSmallIntegerField(_("전체 제출 한도"), null=True, blank=True)
    min_interval = models.DurationField(_("제출 간 최소 간격"), default=timedelta(0))
    board = models.CharField(_("순위표 공개"), max_length=8, choices=Board.choices, default=Board.LIVE)
    frozen_at = models.DateTimeField(_("순위표 고정 시각"), null=True, blank=True)
    shows_own_score = models.BooleanField(_("고정·비공개 중 내 점수 공개"), default=True)
    public_percent = models.PositiveSmallIntegerField(
        _("공개 문항 비율(%)"), null=True, blank=True, help_text=_("비우면 모든 문항이 공개 점수에 들어갑니다.")
    )
    split_seed = models.CharField(_("나누기 시드"), max_length=64, blank=True)
    private_covers_all = models.BooleanField(_("최종 점수에 모든 문항"), default=False)
    finals_limit = models.PositiveSmallIntegerField(_("최종 선택 한도"), null=True, blank=True)
    final_published_at = models.DateTimeField(_("최종 발표 시각"), null=True, blank=True)
    position = models.PositiveSmallIntegerField(_("순서"), default=0)

    class Meta:
        verbose_name = _("단계")
        verbose_name_plural = _("단계")
        ordering = ["position", "starts_at", "id"]
        constraints = [
            models.UniqueConstraint(fields=["track", "slug"], name="phase_slug_unique_in_track"),
            models.CheckConstraint(
                condition=models.Q(ends_at__gt=models.F("starts_at")), name="phase_ends_after_it_starts"
            ),
            models.CheckConstraint(
                condition=~models.Q(board="frozen") | models.Q(frozen_at__isnull=False),
                name="frozen_board_has_its_moment",
            ),
            models.CheckConstraint(
                condition=models.Q(public_percent=None) | models.Q(public_percent__gte=1, public_percent__lte=99),
                name="public_share_is_a_part",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.track} · {self.title_ko}"

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    def is_open(self, now: datetime | None = None) -> bool:
        """Whether a file may be submitted at ``now``: from ``starts_at``, up to but not at ``ends_at``."""
        return self.starts_at <= (now or timezone.now()) < self.ends_at

    def is_over(self, now: datetime | None = None) -> bool:
        return (now or timezone.now()) >= self.ends_at


class ReferenceVersion(models.Model):
    """One immutable set of reference answers of a phase. Its file is write-only: no page or API returns it."""

    phase = models.ForeignKey(
        Phase, on_delete=models.PROTECT, related_name="reference_versions", verbose_name=_("단계")
    )
    number = models.PositiveSmallIntegerField(_("판"))
    file_sha256 = models.CharField(_("파일 sha256"), max_length=64)
    media_sha256 = models.CharField(_("프레임 sha256"), max_length=64, blank=True)  # zip of frames, for CLIPScore
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
    file_sha256 = models.CharField(_("파일 sha256"), max_length=64)
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
