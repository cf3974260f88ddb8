"""Published boards: snapshots that later changes of scores do not affect."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase


class BoardSnapshot(models.Model):
    """The final board of a phase. ``rows`` are the public rows in order; ``sha256`` is of their canonical JSON.

    Publishing again (after an erratum) makes another snapshot; the newest is the one shown.
    """

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="snapshots", verbose_name=_("단계"))
    number = models.PositiveSmallIntegerField(_("판"))
    recipe = models.CharField(_("채점 방식"), max_length=60)
    signature_hash = models.CharField(_("서명 해시"), max_length=64, blank=True)
    rows = models.JSONField(_("순위"))
    sha256 = models.CharField(_("sha256"), max_length=64)
    note_ko = models.CharField(_("안내"), max_length=300, blank=True)
    note_en = models.CharField(_("안내(영어)"), max_length=300, blank=True)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("발표한 사람")
    )
    published_at = models.DateTimeField(_("발표 시각"))

    class Meta:
        verbose_name = _("최종 순위표")
        verbose_name_plural = _("최종 순위표")
        ordering = ["phase", "-number"]
        constraints = [models.UniqueConstraint(fields=["phase", "number"], name="snapshot_number_unique_in_phase")]

    def __str__(self) -> str:
        return f"{self.phase} #{self.number}"
