"""Scorings of submissions, and what they gave."""

from django.db import models
from django.db.models.lookups import IsNull
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import ReferenceVersion
from malpan.submissions.models.submission import Submission


class ScoringRun(models.Model):
    """One scoring of one submission under one reference version, recipe and profile.

    ``state`` moves only by conditional update: queued → running → finished | failed. A worker holds the run by
    ``attempt`` and ``lease_expires_at``; a result that carries an older attempt is refused. ``sent_at`` is when its
    message last reached the broker, ``None`` when it has not; the reconciler sends it again when nobody takes it.

    ``cost`` is what it is expected to take, in model tokens (``scoring.running.costs``); 0: not known. ``fair_tag`` is
    its place in the fair order, in tokens (``submissions.evaluation.queueing``). Nobody takes it before
    ``not_before``.
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
        verbose_name=_("재채점 묶음"),
    )
    state = models.CharField(_("상태"), max_length=8, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveSmallIntegerField(_("시도"), default=0)
    lease_expires_at = models.DateTimeField(_("점유 만료"), null=True, blank=True)
    worker = models.CharField(_("채점 서버"), max_length=120, blank=True)
    stage = models.CharField(_("진행 단계"), max_length=40, blank=True)
    progress = models.FloatField(_("진행률"), default=0)  # share done, 0-1
    cost = models.PositiveBigIntegerField(_("예상 토큰 수"), default=0)
    fair_tag = models.BigIntegerField(_("공정 순번"), default=0)
    not_before = models.DateTimeField(_("다시 시도할 시각"), null=True, blank=True)
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
            ),
            models.Index(  # the next run to take
                IsNull(models.F("batch"), False),
                "fair_tag",
                "id",
                condition=models.Q(state="queued"),
                name="run_fair_order",
            ),
            models.Index(  # the virtual time: the highest tag that was taken
                fields=["fair_tag"], condition=models.Q(batch=None, attempt__gt=0), name="run_virtual_time"
            ),
            models.Index(  # how fast the last ones were
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


class HiddenResult(models.Model):
    """What a run scored on the private part: for organisers only until the final board is published.

    A table of its own, so that no page or API that reads runs can reach it by accident.
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
    part = models.CharField(_("문항 범위"), max_length=7, default="all")  # all, public or private
    metric = models.CharField(_("지표"), max_length=40)
    metric_signature = models.CharField(_("지표 서명"), max_length=64)
    values = models.JSONField(_("문항별 값"))  # {item id: value, or a row of statistics}
    created_at = models.DateTimeField(_("시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("지표 결과")
        verbose_name_plural = _("지표 결과")
        constraints = [
            models.UniqueConstraint(
                fields=["submission", "reference_version", "part", "metric", "metric_signature"],
                name="metric_result_once_per_signature",
            )
        ]

    def __str__(self) -> str:
        return f"{self.submission_id} {self.metric}"


class RunShard(models.Model):
    """A piece of a large run with a life of its own: queued → running (attempt n, lease) → finished | failed.

    ``score``: some pairs of the run, in a file of the run's work (``input_sha256``); ``values`` is what they gave, by
    metric. ``gather``: the last piece, made when all others are finished; it writes the run's result. The run itself
    stays running as long as it has an open shard. The rows remain when it is over, files and values do not.

    ``cost`` is in model tokens, ``fair_tag`` the place in the fair order (``submissions.evaluation.queueing``). Nobody
    takes a shard before ``not_before``. ``sent_at`` is when its message last reached the broker.
    """

    class Kind(models.TextChoices):
        SCORE = "score", _("채점")
        GATHER = "gather", _("취합")

    class State(models.TextChoices):
        QUEUED = "queued", _("대기 중")
        RUNNING = "running", _("채점 중")
        FINISHED = "finished", _("완료")
        FAILED = "failed", _("실패")

    run = models.ForeignKey(ScoringRun, on_delete=models.CASCADE, related_name="shards", verbose_name=_("채점"))
    kind = models.CharField(_("종류"), max_length=6, choices=Kind.choices, default=Kind.SCORE)
    number = models.PositiveIntegerField(_("번호"))
    state = models.CharField(_("상태"), max_length=8, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveSmallIntegerField(_("시도"), default=0)
    lease_expires_at = models.DateTimeField(_("점유 만료"), null=True, blank=True)
    worker = models.CharField(_("채점 서버"), max_length=120, blank=True)
    progress = models.FloatField(_("진행률"), default=0)  # share done, 0-1
    cost = models.PositiveBigIntegerField(_("예상 토큰 수"), default=0)
    fair_tag = models.BigIntegerField(_("공정 순번"), default=0)
    not_before = models.DateTimeField(_("다시 시도할 시각"), null=True, blank=True)
    queued_at = models.DateTimeField(_("대기 시작"))
    sent_at = models.DateTimeField(_("메시지 보낸 시각"), null=True, blank=True)
    finished_at = models.DateTimeField(_("채점 끝"), null=True, blank=True)
    error_code = models.CharField(_("오류 코드"), max_length=60, blank=True)
    input_sha256 = models.CharField(_("입력 파일 해시"), max_length=64, blank=True)
    signatures = models.JSONField(_("지표 서명"), default=dict, blank=True)  # {metric: hash}
    values = models.JSONField(_("값"), null=True, blank=True)  # {metric: values in the order of its pairs}

    class Meta:
        verbose_name = _("채점 조각")
        verbose_name_plural = _("채점 조각")
        ordering = ["run", "number"]
        indexes = [
            models.Index(fields=["fair_tag", "id"], condition=models.Q(state="queued"), name="shard_fair_order"),
            models.Index(fields=["lease_expires_at"], condition=models.Q(state="running"), name="shard_leases"),
        ]
        constraints = [
            models.UniqueConstraint(fields=["run", "number"], name="shard_number_unique_in_run"),
            models.UniqueConstraint(fields=["run"], condition=models.Q(kind="gather"), name="run_is_gathered_once"),
            models.CheckConstraint(
                condition=models.Q(state__in=["queued", "running", "finished", "failed"]), name="shard_state_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="running") | models.Q(lease_expires_at__isnull=False),
                name="running_shard_has_a_lease",
            ),
            models.CheckConstraint(
                condition=~models.Q(state="finished") | models.Q(finished_at__isnull=False),
                name="finished_shard_says_when",
            ),
            models.CheckConstraint(
                condition=models.Q(kind="gather") | ~models.Q(input_sha256=""), name="scored_shard_has_an_input"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.run_id} #{self.number} {self.state}"


class PairValue(models.Model):
    """What a metric once gave a pair of texts, for ``evaluation.pair_cache``: no text, and nobody's in particular.

    ``key`` is an HMAC-SHA-256. Rows are numbered as they come. The table is UNLOGGED: after a crash it is empty.
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
