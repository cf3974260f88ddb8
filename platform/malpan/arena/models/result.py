"""What comes of a campaign: what is left out, and what was published."""

from __future__ import annotations

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.arena.models.campaign import Campaign
from malpan.arena.models.judging import CampaignJudge, Judgement
from malpan.core.fields import StoredFileField
from malpan.leaderboard.models import Snapshot


class Exclusion(models.Model):
    """A judge, or one judgement, that does not count, with the reason, which is published. It can be lifted.

    An excluded judgement takes its assignment out, with every correction of it.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="exclusions", verbose_name=_("평가"))
    judge = models.ForeignKey(
        CampaignJudge,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="exclusions",
        verbose_name=_("평가자"),
    )
    judgement = models.ForeignKey(
        Judgement, on_delete=models.PROTECT, null=True, blank=True, related_name="exclusions", verbose_name=_("판단")
    )
    reason = models.CharField(_("사유"), max_length=300)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("제외한 사람")
    )
    created_at = models.DateTimeField(_("시각"))
    lifted_at = models.DateTimeField(_("되돌린 시각"), null=True, blank=True)
    lifted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("되돌린 사람"),
    )
    lift_reason = models.CharField(_("되돌린 사유"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("평가에서 뺀 것")
        verbose_name_plural = _("평가에서 뺀 것")
        ordering = ["campaign", "created_at", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(judge=None) ^ models.Q(judgement=None), name="exclusion_of_a_judge_or_a_judgement"
            ),
            models.CheckConstraint(condition=~models.Q(reason=""), name="exclusion_has_a_reason"),
            models.UniqueConstraint(
                fields=["judge"], condition=models.Q(lifted_at=None), name="one_exclusion_in_force_per_judge"
            ),
            models.UniqueConstraint(
                fields=["judgement"], condition=models.Q(lifted_at=None), name="one_exclusion_in_force_per_judgement"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id} {self.judge_id or ''}/{self.judgement_id or ''}"


class CampaignResult(Snapshot):
    """A published result: the standing (``rows``), the anonymised votes and the result computed from them, both as the
    files that everybody downloads. ``sha256`` is of the canonical JSON of the rows. Never changed, never deleted.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.PROTECT, related_name="results", verbose_name=_("평가"))
    votes_sha256 = StoredFileField(_("평가 파일 sha256"), size="votes_size", competition="campaign__track__competition")
    votes_size = models.PositiveIntegerField(_("평가 파일의 크기(바이트)"))
    result_sha256 = StoredFileField(_("결과 sha256"), size="result_size", competition="campaign__track__competition")
    result_size = models.PositiveIntegerField(_("결과의 크기(바이트)"))
    signature_hash = models.CharField(_("서명 해시"), max_length=64)

    class Meta:
        verbose_name = _("평가 결과")
        verbose_name_plural = _("평가 결과")
        ordering = ["campaign", "-number"]
        constraints = [models.UniqueConstraint(fields=["campaign", "number"], name="campaign_result_number_unique")]

    def __str__(self) -> str:
        return f"{self.campaign} #{self.number}"
