"""What the LLM judges of this site have cost."""

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
