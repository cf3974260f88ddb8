"""Scorings of submissions, and their results."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import ReferenceVersion
from malpan.jobs.models import Job
from malpan.submissions.models.submission import Submission


class ScoringRun(models.Model):
    """One scoring of one submission with one reference version, recipe and profile, and its result.

    Its place in the queue, its worker, attempts and progress are only in its ``job``; a run that was over when its
    competition was imported from an archive has none. ``state`` is stored with the run, as it outlives the queue and
    boards, pages and batches use it: it follows the job's in the same transaction (``evaluation.runs``), except for a
    large run, which stays running while it waits for its slices.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("대기 중")
        RUNNING = "running", _("채점 중")
        FINISHED = "finished", _("완료")
        FAILED = "failed", _("실패")

    submission = models.ForeignKey(Submission, on_delete=models.PROTECT, related_name="runs", verbose_name=_("제출"))
    reference_version = models.ForeignKey(
        ReferenceVersion, on_delete=models.PROTECT, related_name="runs", verbose_name=_("정답 판")
    )
    recipe = models.CharField(_("채점 방식"), max_length=60)
    profile = models.CharField(_("모델 프로필"), max_length=200)
    batch = models.ForeignKey(
        "RescoreBatch",
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="runs",
        verbose_name=_("재채점"),
    )
    state = models.CharField(_("상태"), max_length=8, choices=State.choices, default=State.QUEUED)
    job = models.OneToOneField(
        Job, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("작업")
    )
    queued_at = models.DateTimeField(_("대기 시작"))
    started_at = models.DateTimeField(_("채점 시작"), null=True, blank=True)
    finished_at = models.DateTimeField(_("채점 끝"), null=True, blank=True)
    final_score = models.FloatField(_("최종 점수"), null=True, blank=True)
    scores = models.JSONField(_("점수"), default=dict, blank=True)
    coverage = models.JSONField(_("응답 범위"), default=dict, blank=True)
    warnings = models.JSONField(_("알림"), default=list, blank=True)
    signature = models.JSONField(_("서명"), default=dict, blank=True)
    signature_hash = models.CharField(_("서명 해시"), max_length=64, blank=True)
    is_demo_models = models.BooleanField(_("데모 모델"), default=False)
    error_code = models.CharField(_("오류 코드"), max_length=60, blank=True)

    class Meta:
        verbose_name = _("채점")
        verbose_name_plural = _("채점")
        ordering = ["-queued_at", "-id"]
        indexes = [
            models.Index(fields=["state"], condition=models.Q(state__in=["queued", "running"]), name="run_unfinished"),
            models.Index(fields=["finished_at"], name="run_ended"),  # for what the site reports of the last hour
            models.Index(  # for the speed of the last runs
                fields=["profile", "-finished_at"],
                condition=models.Q(state="finished", batch=None),
                name="run_recent_pace",
            ),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["queued", "running", "finished", "failed"]), name="run_state_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="finished") | models.Q(final_score__isnull=False, finished_at__isnull=False),
                name="finished_run_has_a_score",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.submission} · {self.recipe} · {self.state}"


class HiddenResult(models.Model):
    """The result of a run on the private split: for organisers only until the final board is published.

    A separate table, so that no page or API that reads runs shows it by accident.
    """

    run = models.OneToOneField(
        ScoringRun, on_delete=models.CASCADE, related_name="hidden_result", verbose_name=_("채점")
    )
    final_score = models.FloatField(_("최종 점수"))
    scores = models.JSONField(_("점수"), default=dict)
    coverage = models.JSONField(_("응답 범위"), default=dict)
    warnings = models.JSONField(_("알림"), default=list)
    signature = models.JSONField(_("서명"), default=dict)
    signature_hash = models.CharField(_("서명 해시"), max_length=64)

    class Meta:
        verbose_name = _("비공개 점수")
        verbose_name_plural = _("비공개 점수")

    def __str__(self) -> str:
        return f"hidden {self.run_id}"


class MetricResult(models.Model):
    """Per-item values of one metric for one submission, reference version and metric signature."""

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="metric_results", verbose_name=_("제출")
    )
    reference_version = models.ForeignKey(
        ReferenceVersion, on_delete=models.CASCADE, related_name="+", verbose_name=_("정답 판")
    )
    split = models.CharField(_("문항 범위"), max_length=7, default="all")  # all, public or private
    metric = models.CharField(_("지표"), max_length=40)
    metric_signature = models.CharField(_("지표 서명"), max_length=64)
    values = models.JSONField(_("문항별 값"))  # {item id: value, or a row of statistics}
    created_at = models.DateTimeField(_("시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("지표 결과")
        verbose_name_plural = _("지표 결과")
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "reference_version", "split", "metric", "metric_signature"],
                name="metric_result_once_per_signature",
            )
        ]

    def __str__(self) -> str:
        return f"{self.submission_id} {self.metric}"


class FreshResult(models.Model):
    """Per-item values of one metric for a run from scratch, until its batch is applied (``evaluation.fresh``)."""

    run = models.ForeignKey(ScoringRun, on_delete=models.CASCADE, related_name="fresh_results", verbose_name=_("채점"))
    split = models.CharField(_("문항 범위"), max_length=7, default="all")  # all, public or private
    metric = models.CharField(_("지표"), max_length=40)
    metric_signature = models.CharField(_("지표 서명"), max_length=64)
    values = models.JSONField(_("문항별 값"))  # as those of a ``MetricResult``

    class Meta:
        verbose_name = _("새로 계산한 지표 결과")
        verbose_name_plural = _("새로 계산한 지표 결과")
        constraints = [
            models.UniqueConstraint(
                fields=["run", "split", "metric", "metric_signature"], name="fresh_result_once_per_run"
            )
        ]

    def __str__(self) -> str:
        return f"{self.run_id} {self.metric}"


class PairValue(models.Model):
    """A metric's value of a pair of texts, for ``evaluation.pair_cache``: without text, and for no particular
    submission.

    ``key`` is an HMAC-SHA-256. Rows are numbered as they are inserted. The table is UNLOGGED: after a crash it is
    empty.
    """

    key = models.BinaryField(max_length=32, unique=True)
    value = models.FloatField()

    class Meta:
        verbose_name = _("문장 쌍의 값")
        verbose_name_plural = _("문장 쌍의 값")
        constraints = [
            models.CheckConstraint(
                condition=models.Q(value__gt=float("-inf"), value__lt=float("inf")), name="pair_value_is_finite"
            )
        ]

    def __str__(self) -> str:
        return bytes(self.key).hex()
