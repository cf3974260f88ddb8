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
    never applied. One that ``is_from_scratch`` uses no value that was computed before, but what judges answered, and
    replaces them when it is applied. Batches of several phases of a track that were started together have one
    ``group``: they are applied and cancelled together.
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
    is_from_scratch = models.BooleanField(_("모든 값을 새로 계산"), default=False, db_default=False)
    group = models.UUIDField(_("함께 시작한 재채점"), null=True, blank=True, editable=False, db_index=True)
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


class RescoreOrder(models.Model):
    """An organiser's word that a batch is applied by itself when its runs are finished: waiting → applied | withdrawn |
    refused.

    ``guarded_places``: it is not where the order of the first so many places would change; 0: whatever it changes.
    ``refusal`` is the error that refused it, as ``code`` and ``params``.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("예약됨")
        APPLIED = "applied", _("예약대로 적용함")
        WITHDRAWN = "withdrawn", _("예약을 거둠")
        REFUSED = "refused", _("적용하지 않음")

    batch = models.ForeignKey(RescoreBatch, on_delete=models.CASCADE, related_name="orders", verbose_name=_("재채점"))
    state = models.CharField(_("상태"), max_length=9, choices=State.choices, default=State.WAITING)
    guarded_places = models.PositiveSmallIntegerField(_("바뀌면 적용하지 않을 순위"))
    resets_quota = models.BooleanField(_("제출 횟수 초기화"), default=False)
    grants_slots = models.PositiveSmallIntegerField(_("추가 횟수"), default=0)
    leaves_other_phases = models.BooleanField(_("다른 단계의 점수가 빠짐"), default=False)
    title_ko = models.CharField(_("공지 제목"), max_length=200, blank=True)
    title_en = models.CharField(_("공지 제목(영어)"), max_length=200, blank=True)
    body_ko = models.TextField(_("공지 내용"), blank=True)
    body_en = models.TextField(_("공지 내용(영어)"), blank=True)
    refusal = models.JSONField(_("적용하지 않은 까닭"), default=dict, blank=True)
    ordered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("예약한 사람")
    )
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("거둔 사람"),
    )
    ordered_at = models.DateTimeField(_("예약한 시각"), auto_now_add=True)
    ended_at = models.DateTimeField(_("끝난 시각"), null=True, blank=True)

    class Meta:
        verbose_name = _("재채점 적용 예약")
        verbose_name_plural = _("재채점 적용 예약")
        ordering = ["-id"]
        constraints = [
            models.UniqueConstraint(
                fields=["batch"], condition=models.Q(state="waiting"), name="one_waiting_order_per_batch"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.batch} · {self.get_state_display()}"

    @property
    def is_waiting(self) -> bool:
        """Whether it is neither carried out nor over."""
        return self.state == self.State.WAITING
