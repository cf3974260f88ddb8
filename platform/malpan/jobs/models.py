"""The table of the queue: jobs are ordered, claimed, leased, retried and given up here; and who does them."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Job(models.Model):
    """A piece of work: queued → running (attempt n, lease) → finished | failed.

    A job has no reference to its subject: the subject has one to the job (``ScoringRun.job``) or to its parent. So a
    foreign key links the two, they can be joined, and this app does not depend on competitions. ``kind`` selects the
    handler (``jobs.registry``); ``number`` is its index among the children of its parent.

    ``attempt`` counts the claims and is a fencing token: a result of an older attempt is refused. ``failures`` counts
    the attempts that ended in a fault; too many end the job. ``cost`` and ``fair_tag`` are in model tokens
    (``jobs.order``). A job is not claimed before ``not_before``, or while a child of it is open. ``waiting_since``:
    since when it waits for something outside, which ``error_code`` names (``outcome.wait``); empty as soon as that is
    back (``outcome.resumed``). A finished job stays as a record.
    """

    class State(models.TextChoices):
        QUEUED = "queued", _("대기 중")
        RUNNING = "running", _("진행 중")
        FINISHED = "finished", _("완료")
        FAILED = "failed", _("실패")

    class Lane(models.IntegerChoices):
        LIVE = 0, _("제출")
        RESCORING = 1, _("재채점")
        FIGURES = 2, _("통계")  # what is computed of scores: nobody waits for it

    kind = models.CharField(_("종류"), max_length=20)
    parent = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.CASCADE, related_name="children", verbose_name=_("상위 작업")
    )
    number = models.PositiveIntegerField(_("번호"), default=0)
    flow = models.CharField(_("차례를 나누는 단위"), max_length=40)  # a team or a batch
    lane = models.PositiveSmallIntegerField(_("줄"), choices=Lane.choices, default=Lane.LIVE)
    cost = models.PositiveBigIntegerField(_("예상 토큰 수"), default=0)  # 0: not known
    fair_tag = models.BigIntegerField(_("공정 순번"), default=0)
    state = models.CharField(_("상태"), max_length=8, choices=State.choices, default=State.QUEUED)
    attempt = models.PositiveIntegerField(_("시도"), default=0)
    failures = models.PositiveSmallIntegerField(_("실패한 시도"), default=0)
    lease_expires_at = models.DateTimeField(_("점유 만료"), null=True, blank=True)
    not_before = models.DateTimeField(_("다시 시도할 시각"), null=True, blank=True)
    waiting_since = models.DateTimeField(_("외부를 기다리기 시작한 때"), null=True, blank=True)
    worker = models.CharField(_("채점 서버"), max_length=120, blank=True)
    stage = models.CharField(_("진행 단계"), max_length=40, blank=True)
    progress = models.FloatField(_("진행률"), default=0)  # share done, 0-1
    traceparent = models.CharField(max_length=55, blank=True)  # of the request that queued it (``core.tracing``)
    queued_at = models.DateTimeField(_("대기 시작"))
    started_at = models.DateTimeField(_("시작"), null=True, blank=True)  # of the last attempt
    finished_at = models.DateTimeField(_("끝"), null=True, blank=True)
    error_code = models.CharField(_("오류 코드"), max_length=60, blank=True)

    class Meta:
        verbose_name = _("작업")
        verbose_name_plural = _("작업")
        ordering = ["-pk"]
        indexes = [
            models.Index(  # the next job to claim
                fields=["lane", "fair_tag", "id"], condition=models.Q(state="queued"), name="job_fair_order"
            ),
            models.Index(  # the virtual time: the highest claimed tag
                fields=["lane", "fair_tag"], condition=models.Q(attempt__gt=0), name="job_virtual_time"
            ),
            models.Index(fields=["lease_expires_at"], condition=models.Q(state="running"), name="job_leases"),
            models.Index(fields=["flow"], condition=models.Q(state="queued"), name="job_flow_waiting"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(state__in=["queued", "running", "finished", "failed"]), name="job_state_known"
            ),
            models.CheckConstraint(
                condition=~models.Q(state="running") | models.Q(lease_expires_at__isnull=False),
                name="running_job_has_a_lease",
            ),
            models.CheckConstraint(
                condition=~models.Q(state__in=["finished", "failed"]) | models.Q(finished_at__isnull=False),
                name="job_that_is_over_says_when",
            ),
            models.UniqueConstraint(
                fields=["parent", "number"],
                condition=models.Q(parent__isnull=False),
                name="child_number_unique_in_parent",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk} · {self.state}"

    @property
    def tries(self) -> int:
        """The number of tries to show: a claim that only queued children does not count."""
        return min(self.attempt, self.failures + 1)


class Worker(models.Model):
    """A process that does jobs, as it last reported of itself (``jobs.heartbeat``).

    ``numbers``: what it counts or measures, by name; counts begin anew with the process. ``about``: what it works with
    and on: ``profile``, ``models``, ``device``, and the key of its ``job``. ``refusal``: why it takes no more work
    (``jobs.refusal``).
    """

    name = models.CharField(_("이름"), max_length=140, unique=True)
    seen_at = models.DateTimeField(_("마지막 보고"))
    numbers = models.JSONField(_("보고한 값"), default=dict)
    about = models.JSONField(_("채점 도구와 작업"), default=dict)
    refusal = models.TextField(_("일하지 않는 이유"), blank=True)

    class Meta:
        verbose_name = _("채점 서버")
        verbose_name_plural = _("채점 서버")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


OPEN = (Job.State.QUEUED, Job.State.RUNNING)
