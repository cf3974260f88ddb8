"""Rescoring of many submissions."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase, ReferenceVersion


class RescoreBatch(models.Model):
    """A rescoring of many submissions that leaves the live board unchanged: running → applied | cancelled.

    Whether a running one is ready to be applied follows from its runs (``rescoring.batches.state_of``) and is not
    stored. ``selection`` says which submissions (track, phase, teams, from/until, states, signature);
    ``reference_version`` (a draft or a published one), ``recipe`` and ``profile`` say what they are scored with. Empty:
    unchanged. ``repeats`` > 1 scores each selected submission that many times, to show numeric noise; such a batch is
    never applied.
    """

    class State(models.TextChoices):
        RUNNING = "running", _("채점 중")
        READY = "ready", _("적용 대기")  # computed, never stored
        APPLIED = "applied", _("적용됨")
        CANCELLED = "cancelled", _("취소됨")

    competition = models.ForeignKey(
        "competitions.Competition", on_delete=models.PROTECT, related_name="rescore_batches", verbose_name=_("대회")
    )
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="rescore_batches", verbose_name=_("단계"))
    reason = models.CharField(_("사유"), max_length=300)
    selection = models.JSONField(_("대상"), default=dict)
    reference_version = models.ForeignKey(
        ReferenceVersion,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("새 정답 판"),
    )
    recipe = models.CharField(_("새 채점 방식"), max_length=60, blank=True)
    profile = models.CharField(_("새 모델 프로필"), max_length=200, blank=True)
    repeats = models.PositiveSmallIntegerField(_("반복"), default=1)
    state = models.CharField(_("상태"), max_length=9, choices=State.choices, default=State.RUNNING)
    resets_quota = models.BooleanField(_("제출 횟수 초기화"), default=False)
    grants_slots = models.PositiveSmallIntegerField(_("추가 횟수"), default=0)
    notice_title_ko = models.CharField(_("공지 제목"), max_length=200, blank=True)
    notice_title_en = models.CharField(_("공지 제목(영어)"), max_length=200, blank=True)
    notice_body_ko = models.TextField(_("공지 내용"), blank=True)
    notice_body_en = models.TextField(_("공지 내용(영어)"), blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("시작한 사람")
    )
    closed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("끝낸 사람"),
    )
    created_at = models.DateTimeField(_("시작 시각"), auto_now_add=True)
    closed_at = models.DateTimeField(_("끝난 시각"), null=True, blank=True)

    class Meta:
        verbose_name = _("재채점")
        verbose_name_plural = _("재채점")
        ordering = ["-created_at", "-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["phase"],
                condition=models.Q(state="running", repeats=1),
                name="one_open_batch_per_phase",
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["running", "applied", "cancelled"]), name="batch_state_is_kept"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.phase} · {self.reason} · {self.get_state_display()}"

    @property
    def is_open(self) -> bool:
        """Whether it is neither applied nor cancelled."""
        return self.state == self.State.RUNNING
