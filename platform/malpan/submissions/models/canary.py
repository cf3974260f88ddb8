"""The numbers that a metric must have for the fixed items of ``scoring.canary``."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class CanaryRows(models.Model):
    """What the first process with this metric and model computed, for ``evaluation.canary``."""

    identity = models.CharField(_("지표와 모델"), max_length=64, unique=True)
    metric = models.CharField(_("지표"), max_length=40)
    rows = models.JSONField(_("값"))
    worker = models.CharField(_("채점 서버"), max_length=120)
    created_at = models.DateTimeField(_("시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("점검값")
        verbose_name_plural = _("점검값")

    def __str__(self) -> str:
        return f"{self.metric} {self.identity[:12]}"
