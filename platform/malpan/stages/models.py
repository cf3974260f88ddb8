"""The stages of a track's final, the tables of scores that are entered for them, what was published, and awards."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.arena.models import Campaign
from malpan.competitions.models import Competition, Phase, Track
from malpan.core.language import in_language
from malpan.core.text import MARKDOWN_MAX_CHARS
from malpan.leaderboard.models import BoardSnapshot, Snapshot
from malpan.teams.models import Team

WEIGHT_MAX = 1000


class Stage(models.Model):
    """One stage of the final of a track. The first reads the published final board of ``phase``; a later one the
    published result of the human evaluation ``campaign`` or scores that are entered (``StageTable``), for the teams
    that went on from the stage before it. In an imported competition ``campaign`` is empty: it stayed where it was run.

    A score becomes a number from 0 to 1, by value between ``scale_min`` and ``scale_max`` or by rank, and counts by
    ``weight`` in the combined standing. ``cut``: how many teams go on; ``None``: all. Once published, a stage is not
    changed any more; another ``StageSnapshot`` corrects it. ``is_announced``: the public sees that there will be this
    stage, and its rule.
    """

    class Source(models.TextChoices):
        BOARD = "board", _("최종 순위표")
        TABLE = "table", _("입력한 점수표")
        CAMPAIGN = "campaign", _("사람 평가의 결과")

    class Normalisation(models.TextChoices):
        VALUE = "value", _("점수의 비율: (점수 - 최저) / (최고 - 최저)")
        RANK = "rank", _("순위의 비율: (n - 순위) / (n - 1)")

    class TieRule(models.TextChoices):
        SHARED = "shared", _("점수가 같으면 순위가 같고, 마지막 자리의 동점 팀은 모두 진출합니다.")
        EARLIER = "earlier", _("점수가 같으면 먼저 제출한 팀이 앞섭니다(순위표에서는 순위표의 순서).")

    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="stages", verbose_name=_("트랙"))
    position = models.PositiveSmallIntegerField(_("차례"), validators=[MinValueValidator(1)])
    title_ko = models.CharField(_("제목"), max_length=120)
    title_en = models.CharField(_("제목(영어)"), max_length=120, blank=True)
    notice_ko = models.TextField(_("안내"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    notice_en = models.TextField(_("안내(영어)"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    source = models.CharField(_("점수의 출처"), max_length=8, choices=Source.choices)
    phase = models.ForeignKey(
        Phase, on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("단계")
    )
    campaign = models.ForeignKey(
        Campaign, on_delete=models.PROTECT, null=True, blank=True, related_name="stages", verbose_name=_("사람 평가")
    )
    normalisation = models.CharField(
        _("환산"), max_length=5, choices=Normalisation.choices, default=Normalisation.VALUE
    )
    scale_min = models.FloatField(_("최저점"), default=0)
    scale_max = models.FloatField(_("최고점"), default=1)
    weight = models.PositiveSmallIntegerField(_("비중"), validators=[MaxValueValidator(WEIGHT_MAX)])
    cut = models.PositiveSmallIntegerField(_("진출 팀 수"), null=True, blank=True, validators=[MinValueValidator(1)])
    tie_rule = models.CharField(_("동점"), max_length=7, choices=TieRule.choices, default=TieRule.SHARED)
    is_announced = models.BooleanField(_("참가자에게 알림"), default=False)
    created_at = models.DateTimeField(_("만든 시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("심사")
        verbose_name_plural = _("심사")
        ordering = ["track", "position"]
        constraints = [
            models.UniqueConstraint(fields=["track", "position"], name="stage_position_unique_in_track"),
            models.CheckConstraint(
                condition=models.Q(position=1, source="board", phase__isnull=False, campaign__isnull=True)
                | models.Q(position__gt=1, source="table", phase__isnull=True, campaign__isnull=True)
                | models.Q(position__gt=1, source="campaign", phase__isnull=True),
                name="stage_first_reads_a_board",
            ),
            models.CheckConstraint(
                condition=models.Q(scale_min__lt=models.F("scale_max")), name="stage_scale_has_a_width"
            ),
            models.CheckConstraint(
                condition=models.Q(cut__isnull=True) | models.Q(cut__gte=1), name="stage_cut_leaves_a_team"
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
    def is_first(self) -> bool:
        return self.position == 1


class StageTable(models.Model):
    """A version of the entered scores of a stage; the newest counts, once a second person confirmed it.

    ``rows`` are ``{"team_number", "score"}`` by number of the team. ``sha256`` is of the canonical JSON of the rows and
    the stage's rule as they were entered. Secret until the stage is published. Never changed, never deleted.
    """

    stage = models.ForeignKey(Stage, on_delete=models.PROTECT, related_name="tables", verbose_name=_("심사"))
    number = models.PositiveSmallIntegerField(_("판"))
    rows = models.JSONField(_("점수"))
    sha256 = models.CharField(_("sha256"), max_length=64)
    reason = models.CharField(_("사유"), max_length=300, blank=True)
    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("입력한 사람")
    )
    created_at = models.DateTimeField(_("입력 시각"))

    class Meta:
        verbose_name = _("심사 점수표")
        verbose_name_plural = _("심사 점수표")
        ordering = ["stage", "-number"]
        constraints = [models.UniqueConstraint(fields=["stage", "number"], name="stage_table_number_unique")]

    def __str__(self) -> str:
        return f"{self.stage} #{self.number}"


class StageDecision(models.Model):
    """What a second person decided about a table, never the one who entered it: the database holds that, too
    (``stages.migrations``). Never changed, never deleted.
    """

    class Verdict(models.TextChoices):
        CONFIRMED = "confirmed", _("확인함")
        REJECTED = "rejected", _("돌려보냄")

    table = models.OneToOneField(
        StageTable, on_delete=models.PROTECT, related_name="decision", verbose_name=_("심사 점수표")
    )
    verdict = models.CharField(_("결정"), max_length=9, choices=Verdict.choices)
    reason = models.CharField(_("사유"), max_length=300, blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("확인한 사람")
    )
    created_at = models.DateTimeField(_("시각"))

    class Meta:
        verbose_name = _("점수표 확인")
        verbose_name_plural = _("점수표 확인")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(verdict="confirmed") | ~models.Q(reason=""), name="stage_rejection_has_a_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.table}: {self.verdict}"


class StageSnapshot(Snapshot):
    """What was published of a stage or, without ``stage``, the combined standing of the track.

    ``rule`` has everything that the ``rows`` follow from, besides those of earlier snapshots, which it names;
    ``sha256`` is of the canonical JSON of ``{"rows", "rule"}``.
    """

    track = models.ForeignKey(Track, on_delete=models.PROTECT, related_name="stage_snapshots", verbose_name=_("트랙"))
    stage = models.ForeignKey(
        Stage, on_delete=models.PROTECT, null=True, blank=True, related_name="snapshots", verbose_name=_("심사")
    )
    rule = models.JSONField(_("규칙"))

    class Meta:
        verbose_name = _("심사 결과")
        verbose_name_plural = _("심사 결과")
        ordering = ["track", "stage", "-number"]
        constraints = [
            models.UniqueConstraint(
                fields=["track", "stage", "number"], name="stage_snapshot_number_unique", nulls_distinct=False
            )
        ]

    def __str__(self) -> str:
        return f"{self.stage or self.track} #{self.number}"


class Award(models.Model):
    """What the organisers give to a team after a final result, in the order of the list.

    ``year`` and ``serial`` are its number: it gets one when it is first published and keeps it, so an award with a
    number is revoked, never deleted, and has no ``position`` then. ``published_at``: since when everybody sees it. It
    rests on the combined standing ``stage_snapshot`` or the final board ``board_snapshot``, where that is known. That
    all of them are of one competition is held by the database, too (``stages.triggers``).
    """

    competition = models.ForeignKey(
        Competition, on_delete=models.PROTECT, related_name="awards", verbose_name=_("대회")
    )
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="awards", verbose_name=_("팀"))
    position = models.PositiveSmallIntegerField(_("차례"), null=True, blank=True, validators=[MinValueValidator(1)])
    title_ko = models.CharField(_("상 이름"), max_length=60)
    title_en = models.CharField(_("상 이름(영어)"), max_length=120, blank=True)
    prize_ko = models.CharField(_("부상"), max_length=120, blank=True)
    prize_en = models.CharField(_("부상(영어)"), max_length=120, blank=True)
    awarded_on = models.DateField(_("시상일"))
    stage_snapshot = models.ForeignKey(
        StageSnapshot, on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("종합 결과")
    )
    board_snapshot = models.ForeignKey(
        BoardSnapshot, on_delete=models.PROTECT, null=True, blank=True, related_name="+",
        verbose_name=_("최종 순위표"),
    )  # fmt: skip
    year = models.PositiveSmallIntegerField(_("번호의 해"), null=True, blank=True)
    serial = models.PositiveIntegerField(_("일련번호"), null=True, blank=True)
    published_at = models.DateTimeField(_("공개 시각"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("취소 시각"), null=True, blank=True)
    created_at = models.DateTimeField(_("만든 시각"), auto_now_add=True)
    updated_at = models.DateTimeField(_("고친 시각"), auto_now=True)

    class Meta:
        verbose_name = _("상")
        verbose_name_plural = _("상")
        ordering = ["competition", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["competition", "position"], name="award_position_unique",
                deferrable=models.Deferrable.DEFERRED,  # moving one renumbers several
            ),
            models.UniqueConstraint(fields=["competition", "year", "serial"], name="award_number_unique"),
            models.CheckConstraint(
                condition=models.Q(year__isnull=True, serial__isnull=True, published_at__isnull=True)
                | models.Q(year__isnull=False, serial__isnull=False),
                name="award_published_has_a_number",
            ),
            models.CheckConstraint(
                condition=models.Q(revoked_at__isnull=True, position__isnull=False, position__gte=1)
                | models.Q(
                    revoked_at__isnull=False, position__isnull=True, published_at__isnull=True, serial__isnull=False
                ),
                name="award_has_a_position_or_is_revoked",
            ),
            models.CheckConstraint(
                condition=models.Q(stage_snapshot__isnull=True) | models.Q(board_snapshot__isnull=True),
                name="award_rests_on_one_result",
            ),
        ]  # fmt: skip

    def __str__(self) -> str:
        return f"{self.title_ko}: {self.team}"

    @property
    def title(self) -> str:
        return in_language(self.title_ko, self.title_en)

    @property
    def prize(self) -> str:
        return in_language(self.prize_ko, self.prize_en)

    @property
    def number(self) -> str:
        """``2026-3``; empty until it was first published."""
        return "" if self.serial is None else f"{self.year}-{self.serial}"
