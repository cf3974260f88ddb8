"""Where programs of a competition's organisers hear of its events."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models.competition import Competition
from malpan.notifications.models import Endpoint


class CompetitionEndpoint(Endpoint):
    """A webhook of a competition, and of no person."""

    competition = models.ForeignKey(
        Competition, on_delete=models.CASCADE, related_name="endpoints", verbose_name=_("대회")
    )

    class Meta:
        verbose_name = _("대회의 웹훅")
        verbose_name_plural = _("대회의 웹훅")
        ordering = ["pk"]
