"""What is computed from judgements, or planned, by a job of a worker."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.arena.models.campaign import Campaign
from malpan.competitions.models import Competition
from malpan.jobs.models import Job


class Computation(models.Model):
    """One computation, done once for the same input by a job (``arena.computations``); it can be made anew any time.

    ``given``: the input, bytes of canonical JSON, empty once it is answered; ``given_sha256`` is of them all the same.
    ``subject``: what it is about within its kind, such as the judge to leave out. ``instrument``: the version that
    computes it, as the answer depends on it. ``answer``: canonical JSON too, empty before.
    """

    class Kind(models.TextChoices):
        RESULT = "result", _("결과")  # of the votes as they are
        EFFECT = "effect", _("제외의 영향")  # the result as it would be
        PLAN = "plan", _("계획")  # simulated panels
        META = "meta", _("지표와의 대조")  # of a published result
        WORDS = "words", _("팀을 드러낼 수 있는 말")  # of a draft's outputs

    competition = models.ForeignKey(
        Competition, on_delete=models.CASCADE, related_name="computations", verbose_name=_("대회")
    )
    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, null=True, blank=True, related_name="computations", verbose_name=_("평가")
    )
    kind = models.CharField(_("종류"), max_length=6, choices=Kind.choices)
    subject = models.CharField(_("대상"), max_length=40, blank=True)
    given_sha256 = models.CharField(_("입력의 sha256"), max_length=64)
    instrument = models.CharField(_("계산하는 판"), max_length=40)
    given = models.BinaryField(_("입력"))
    answer = models.BinaryField(_("답"), default=b"", blank=True)
    job = models.ForeignKey(
        Job, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("작업")
    )
    asked_at = models.DateTimeField(_("맡긴 시각"))
    answered_at = models.DateTimeField(_("답한 시각"), null=True, blank=True)

    class Meta:
        verbose_name = _("계산")
        verbose_name_plural = _("계산")
        ordering = ["-asked_at", "-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["competition", "kind", "given_sha256", "instrument"], name="computation_unique_for_its_input"
            ),
            models.CheckConstraint(
                condition=models.Q(answered_at=None, answer=b"") | models.Q(answered_at__isnull=False, given=b""),
                name="computation_has_its_input_or_its_answer",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.given_sha256[:12]}"
