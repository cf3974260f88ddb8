"""The ledger of submission slots."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase
from malpan.submissions.models.rescore import RescoreBatch
from malpan.submissions.models.submission import Submission
from malpan.teams.models import Team


class QuotaEntry(models.Model):
    """One line of the quota ledger of a team in a phase. The entries that count add up to the use.

    charge: a submission used a slot. refund: the slot was returned. grant: ``slots`` more (for the KST day of ``day``,
    or for the phase). reset: nothing before this entry counts any more. Never changed, never deleted.
    """

    class Kind(models.TextChoices):
        CHARGE = "charge", _("차감")
        REFUND = "refund", _("환불")
        GRANT = "grant", _("추가")
        RESET = "reset", _("초기화")

    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="quota_entries", verbose_name=_("팀"))
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="quota_entries", verbose_name=_("단계"))
    kind = models.CharField(_("종류"), max_length=6, choices=Kind.choices)
    slots = models.PositiveSmallIntegerField(_("횟수"), default=1)
    day = models.DateField(_("날짜(KST)"), null=True, blank=True)
    submission = models.ForeignKey(
        Submission,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="quota_entries",
        verbose_name=_("제출"),
    )
    batch = models.ForeignKey(
        RescoreBatch, null=True, blank=True, on_delete=models.PROTECT, related_name="+", verbose_name=_("재채점")
    )
    reason = models.CharField(_("사유"), max_length=300, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("행위자"),
    )
    moment = models.DateTimeField(_("시각"))  # of a charge: when the file was uploaded

    class Meta:
        verbose_name = _("제출 횟수 기록")
        verbose_name_plural = _("제출 횟수 기록")
        ordering = ["moment", "id"]
        indexes = [models.Index(fields=["team", "phase", "moment"], name="quota_ledger_of_team")]
        constraints = [
            models.CheckConstraint(
                condition=~models.Q(kind__in=["charge", "refund"]) | models.Q(submission__isnull=False),
                name="charge_names_its_submission",
            ),
            models.CheckConstraint(condition=models.Q(slots__gte=1), name="quota_entry_counts_something"),
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.kind} {self.slots}"
