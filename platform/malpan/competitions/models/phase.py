"""A phase of a track: the window in which teams submit, its limits and its board."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from decimal import Decimal

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models.track import Track
from malpan.core.language import in_language


class Phase(models.Model):
    """A window of a track in which teams submit, with its limits. Times are absolute; days are KST days.

    A frozen board counts only what was submitted before ``frozen_at``. ``shows_own_score``: while the board is frozen
    or hidden a team still sees its own scores. With a split (``ReferenceVersion.public_ids``) every score shown is
    that of the public split; the private split is scored too and kept apart (``submissions.HiddenResult``) until the
    final board is published (``final_published_at``). ``finals_limit``: how many submissions a team may choose for the
    final board; ``None``: all count, the best shows. ``score_step`` and ``is_ladder``: what the public sees of scores
    before that (``submissions.release``); a step is one of scores 0-1. ``counting``: which submission of a team counts
    where a composite ranks, with ``counting_score`` the score by which one is best (empty: the final score); where the
    final score ranks, it is always the best. ``ties``: how the board shows teams that no test tells apart
    (``leaderboard.sureness``); the order and its ranks are shown in any case. ``item_scores``: how a team sees what its
    own items scored, of the public split until the final board is published.
    """

    class Board(models.TextChoices):
        LIVE = "live", _("실시간 공개")
        FROZEN = "frozen", _("고정")
        HIDDEN = "hidden", _("비공개")

    class Counting(models.TextChoices):
        BEST = "best", _("가장 좋은 제출")
        LATEST = "latest", _("가장 최근 제출")
        CHOSEN = "chosen", _("팀이 고른 제출")

    class Ties(models.TextChoices):
        BAND = "band", _("통계적 동률을 표시")
        SHARED = "shared", _("통계적 동률이면 같은 순위")
        NONE = "none", _("표시하지 않음")

    class ItemScores(models.TextChoices):
        CLOSED = "closed", _("보이지 않음")
        BINNED = "binned", _("네 구간으로만")
        OPEN = "open", _("점수 그대로")

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
    private_covers_all = models.BooleanField(_("최종 순위에 모든 문항"), default=False)
    finals_limit = models.PositiveSmallIntegerField(_("최종 선택 한도"), null=True, blank=True)
    score_step = models.DecimalField(_("공개 점수의 단위"), max_digits=7, decimal_places=6, null=True, blank=True)
    is_ladder = models.BooleanField(_("오른 점수만 공개(사다리 방식)"), default=False)
    counting = models.CharField(_("반영할 제출"), max_length=6, choices=Counting.choices, default=Counting.BEST)
    counting_score = models.CharField(_("가장 좋은 제출을 가리는 점수"), max_length=60, blank=True)
    ties = models.CharField(_("통계적 동률"), max_length=6, choices=Ties.choices, default=Ties.BAND)
    item_scores = models.CharField(
        _("팀에게 보이는 문항별 점수"), max_length=6, choices=ItemScores.choices,
        default=ItemScores.CLOSED, db_default=ItemScores.CLOSED,
    )  # fmt: skip
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
            models.CheckConstraint(
                condition=models.Q(score_step=None) | models.Q(score_step__gt=0, score_step__lte=Decimal("0.1")),
                name="score_step_is_small",
            ),
            models.CheckConstraint(
                condition=models.Q(is_ladder=False) | models.Q(score_step__isnull=False), name="ladder_has_a_step"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.track} · {self.title_ko}"

    def clean(self) -> None:
        """Say in words what the constraints refuse."""
        if self.starts_at and self.ends_at and self.ends_at <= self.starts_at:
            raise ValidationError({"ends_at": _("마감은 시작보다 뒤여야 합니다.")})
        if self.public_percent is not None and not 1 <= self.public_percent <= 99:
            raise ValidationError({"public_percent": _("1부터 99까지의 수를 적어 주십시오.")})
        if self.score_step is not None and not 0 < self.score_step <= Decimal("0.1"):
            raise ValidationError({"score_step": _("0보다 크고 0.1 이하인 수를 적어 주십시오.")})
        if self.is_ladder and self.score_step is None:
            raise ValidationError({"score_step": _("오른 점수만 공개하려면 단위를 적어 주십시오.")})

    def unique_error_message(self, model_class: type[models.Model], unique_check: Sequence[str]) -> ValidationError:
        if "slug" in unique_check:
            return ValidationError(_("이 트랙의 다른 단계가 쓰는 주소 이름입니다."), code="unique")
        return super().unique_error_message(model_class, unique_check)

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    def is_open(self, now: datetime | None = None) -> bool:
        """Whether a file may be submitted at ``now``: from ``starts_at``, up to but not at ``ends_at``."""
        return self.starts_at <= (now or timezone.now()) < self.ends_at

    def is_over(self, now: datetime | None = None) -> bool:
        return (now or timezone.now()) >= self.ends_at
