"""Uploads and what became of them. The database is the truth; the queue is a hint."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from accounts.models import Team
from competitions.models import Phase, ReferenceVersion


class Submission(models.Model):
    """A file that passed validation and was charged to its team. ``live_run`` is the one that counts."""

    public_id = models.UUIDField(_("공개 번호"), default=uuid.uuid4, unique=True, editable=False)
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="submissions", verbose_name=_("단계"))
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="submissions", verbose_name=_("팀"))
    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions", verbose_name=_("제출한 사람")
    )
    file_name = models.CharField(_("파일 이름"), max_length=255)
    file_sha256 = models.CharField(_("파일 sha256"), max_length=64, db_index=True)
    file_size = models.PositiveIntegerField(_("크기(바이트)"))
    file_format = models.CharField(_("인식한 형식"), max_length=20, blank=True)  # scoring.records.FileFormat
    item_count = models.PositiveIntegerField(_("문항 수"))
    normalized_count = models.PositiveIntegerField(_("NFC로 바뀐 문항 수"), default=0)
    memo = models.CharField(_("메모"), max_length=200, blank=True)
    upload_key = models.CharField(max_length=64, blank=True, editable=False)  # of the form or request that brought it
    created_at = models.DateTimeField(_("제출 시각"), db_index=True)
    refunded_at = models.DateTimeField(_("환불 시각"), null=True, blank=True)
    live_run = models.OneToOneField(
        "ScoringRun",
        verbose_name=_("반영된 채점"),
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="live_for",
    )

    class Meta:
        verbose_name = _("제출")
        verbose_name_plural = _("제출")
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["team", "phase", "created_at"], name="submission_quota_window")]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "upload_key", "file_sha256"],
                condition=~models.Q(upload_key=""),
                name="one_submission_per_upload_key",
            )
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.created_at:%Y-%m-%d %H:%M}"


class Rejection(models.Model):
    """A file that failed validation: kept as a record for its team, charged to nobody. Holds no file content."""

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="rejections", verbose_name=_("단계"))
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="rejections", verbose_name=_("팀"))
    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("제출한 사람")
    )
    file_name = models.CharField(_("파일 이름"), max_length=255)
    file_size = models.PositiveBigIntegerField(_("크기(바이트)"))
    errors = models.JSONField(_("오류"))  # the first hundred FileErrors: code, params, line, id, field
    error_count = models.PositiveIntegerField(_("오류 수"))
    created_at = models.DateTimeField(_("시각"))

    class Meta:
        verbose_name = _("반려된 파일")
        verbose_name_plural = _("반려된 파일")
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.team} {self.file_name}"


class ScoringRun(models.Model):
    """One scoring of one submission under one reference version, recipe and profile.

    ``state`` moves only by conditional update: queued → running → finished | failed. A worker holds the run by
    ``attempt`` and ``lease_expires_at``; a result that carries an older attempt is refused. ``sent_at`` is when its
    message last reached the broker, ``None`` when it has not; the reconciler sends it again when nobody takes it.
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
    state = models.CharField(_("상태"), max_length=8, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveSmallIntegerField(_("시도"), default=0)
    lease_expires_at = models.DateTimeField(_("점유 만료"), null=True, blank=True)
    worker = models.CharField(_("채점 서버"), max_length=120, blank=True)
    stage = models.CharField(_("진행 단계"), max_length=40, blank=True)
    progress = models.FloatField(_("진행률"), default=0)  # share done, 0-1
    queued_at = models.DateTimeField(_("대기 시작"))
    sent_at = models.DateTimeField(_("메시지 보낸 시각"), null=True, blank=True)
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
            models.Index(
                fields=["state", "lease_expires_at"],
                condition=models.Q(state__in=["queued", "running"]),
                name="run_unfinished",
            )
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["queued", "running", "finished", "failed"]), name="run_state_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="running") | models.Q(lease_expires_at__isnull=False),
                name="running_run_has_a_lease",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="finished") | models.Q(final_score__isnull=False, finished_at__isnull=False),
                name="finished_run_has_a_score",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.submission} · {self.recipe} · {self.state}"


class MetricResult(models.Model):
    """Per-item values of one metric for one submission, reference version and metric signature."""

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="metric_results", verbose_name=_("제출")
    )
    reference_version = models.ForeignKey(
        ReferenceVersion, on_delete=models.CASCADE, related_name="+", verbose_name=_("정답 판")
    )
    metric = models.CharField(_("지표"), max_length=40)
    metric_signature = models.CharField(_("지표 서명"), max_length=64)
    values = models.JSONField(_("문항별 값"))  # {item id: value, or a row of statistics}
    created_at = models.DateTimeField(_("시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("지표 결과")
        verbose_name_plural = _("지표 결과")
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "reference_version", "metric", "metric_signature"],
                name="metric_result_once_per_signature",
            )
        ]

    def __str__(self) -> str:
        return f"{self.submission_id} {self.metric}"
