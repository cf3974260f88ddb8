"""What the LLM judges of this site have cost and answered, and how far people agree with them."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class JudgeUsage(models.Model):
    """The requests and tokens of the judge of one model profile, reserved or spent, for ``evaluation.judge_budget``."""

    profile = models.CharField(_("모델 프로필"), max_length=200, unique=True)
    requests = models.PositiveBigIntegerField(_("요청 수"), default=0)
    tokens = models.PositiveBigIntegerField(_("토큰 수"), default=0)
    updated_at = models.DateTimeField(_("시각"), auto_now=True)

    class Meta:
        verbose_name = _("심사 모델 사용량")
        verbose_name_plural = _("심사 모델 사용량")

    def __str__(self) -> str:
        return f"{self.profile}: {self.requests}, {self.tokens}"


class JudgeReservation(models.Model):
    """A request to a judge that is counted in ``JudgeUsage`` with all it can cost, until its answer is: then it goes.

    So that neither is done twice if the answer to a commit is lost. One whose worker was killed stays counted.
    """

    key = models.UUIDField(primary_key=True)
    created_at = models.DateTimeField(_("시각"), auto_now_add=True, db_index=True)

    class Meta:
        verbose_name = _("심사 모델 예약")
        verbose_name_plural = _("심사 모델 예약")

    def __str__(self) -> str:
        return str(self.key)


class Judgement(models.Model):
    """A judge's value of a pair of texts, for ``evaluation.judge_values``: without text, and kept for good.

    ``key`` is an HMAC-SHA-256 of metric, signature and texts. ``scope``: the run for which alone it holds; 0: all.

    Without a value it is a question that the job ``asker`` is asking, whose turn ends at ``asked_until`` at the latest.
    """

    key = models.BinaryField(max_length=32)
    scope = models.BigIntegerField(default=0)
    value = models.FloatField(null=True)
    asker = models.BigIntegerField(null=True)
    asked_until = models.DateTimeField(null=True)
    created_at = models.DateTimeField(_("시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("심사 모델의 판정")
        verbose_name_plural = _("심사 모델의 판정")
        constraints = [
            models.UniqueConstraint(fields=["key", "scope"], name="judgement_once_in_a_scope"),
            models.CheckConstraint(
                condition=models.Q(value__gt=float("-inf"), value__lt=float("inf")), name="judgement_is_finite"
            ),
            models.CheckConstraint(
                condition=models.Q(value__isnull=False, asker=None, asked_until=None)
                | models.Q(value=None, asker__isnull=False, asked_until__isnull=False),
                name="judgement_has_a_value_or_an_asker",
            ),
        ]
        indexes = [
            models.Index(fields=["asked_until"], condition=models.Q(value=None), name="judgement_open_turns"),
        ]

    def __str__(self) -> str:
        return f"{bytes(self.key).hex()} {self.scope}"


class JudgeAgreement(models.Model):
    """How far a judge's values agree with scores that people gave the same items, for ``judge_agreement``.

    ``metric_signature``: of the judge, prompt and all that changes its values, which ``judge`` describes. ``figures``
    are those of ``scoring.agreement``. The scores of people are not kept, only the hash of their file.
    """

    competition = models.ForeignKey(
        "competitions.Competition", on_delete=models.CASCADE, related_name="+", verbose_name=_("대회")
    )
    metric = models.CharField(_("지표"), max_length=40)
    metric_signature = models.CharField(_("지표 서명"), max_length=64, db_index=True)
    judge = models.JSONField(_("심사 모델"))
    is_demo_models = models.BooleanField(_("데모 모델"), default=False)
    figures = models.JSONField(_("일치도"))
    source = models.CharField(_("사람 점수의 출처"), max_length=300)
    scores_digest = models.CharField(_("사람 점수 파일의 sha256"), max_length=64)
    created_at = models.DateTimeField(_("시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("심사 모델과 사람의 일치도")
        verbose_name_plural = _("심사 모델과 사람의 일치도")
        ordering = ["-created_at", "-pk"]

    def __str__(self) -> str:
        return f"{self.metric} {self.metric_signature[:12]}"
