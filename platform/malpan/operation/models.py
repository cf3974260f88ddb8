"""What was wrong with the site, and when."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.core.language import in_language


class Incident(models.Model):
    """An alarm of the operators' page from its first sight to its end, of which staff hear (``incidents``).

    ``subject``: what it is about, where an event may be of several at once. ``is_urgent`` and the texts are of the last
    sight, ``seen_at``. ``told_at``: since when staff know of it; null while it may pass by itself.
    """

    event = models.CharField(_("사건"), max_length=40)
    subject = models.CharField(_("대상"), max_length=100, blank=True)
    text_ko = models.TextField(_("내용"))
    text_en = models.TextField(_("내용(영어)"))
    is_urgent = models.BooleanField(_("급함"), default=False)
    began_at = models.DateTimeField(_("시작"))
    seen_at = models.DateTimeField(_("마지막으로 본 때"))
    told_at = models.DateTimeField(_("알린 시각"), null=True, blank=True)
    ended_at = models.DateTimeField(_("끝"), null=True, blank=True)

    class Meta:
        verbose_name = _("사이트의 문제")
        verbose_name_plural = _("사이트의 문제")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["event", "subject"], condition=models.Q(ended_at=None), name="an_incident_is_open_once"
            ),
            models.CheckConstraint(
                condition=models.Q(ended_at=None) | models.Q(told_at__isnull=False), name="who_ended_was_told"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.subject}".strip()

    @property
    def text(self) -> str:
        return in_language(self.text_ko, self.text_en)
