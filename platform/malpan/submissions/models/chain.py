"""The hash chain of receipts."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.submissions.models.submission import Submission


class ChainEntry(models.Model):
    """One link of a competition's public hash chain: a receipt, a score, a board (a final one or, with
    ``board`` in its payload, a public one of the past), a stage of a final or a step of a human evaluation.

    ``payload`` is public. ``sha256`` is of the canonical JSON of (number, kind, payload, previous); anybody can verify
    it with the script that the site serves. ``salt`` opens the commitment of a score or a receipt and is shown only
    with what it is a commitment to: of a receipt that is ``facts``. Never changed, never deleted.
    """

    class Kind(models.TextChoices):
        RECEIPT = "receipt", _("접수")
        SCORE = "score", _("점수")
        BOARD = "board", _("최종 순위표")
        STAGE = "stage", _("심사 결과")
        ARENA = "arena", _("사람 평가")

    competition = models.ForeignKey(
        "competitions.Competition", on_delete=models.PROTECT, related_name="chain", verbose_name=_("대회")
    )
    number = models.PositiveIntegerField(_("번호"))
    kind = models.CharField(_("종류"), max_length=7, choices=Kind.choices)
    submission = models.ForeignKey(
        Submission,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="chain_entries",
        verbose_name=_("제출"),
    )
    payload = models.JSONField(_("내용"))
    previous_sha256 = models.CharField(_("앞 고리"), max_length=64, blank=True)
    sha256 = models.CharField(_("해시"), max_length=64)
    salt = models.CharField(max_length=32, blank=True, default="", editable=False)
    facts = models.JSONField(default=dict, blank=True, editable=False)
    created_at = models.DateTimeField(_("시각"))

    class Meta:
        verbose_name = _("해시 사슬")
        verbose_name_plural = _("해시 사슬")
        ordering = ["competition", "number"]
        constraints = [
            models.UniqueConstraint(fields=["competition", "number"], name="chain_number_unique_in_competition"),
            models.UniqueConstraint(fields=["competition", "previous_sha256"], name="chain_never_forks"),
        ]

    def __str__(self) -> str:
        return f"{self.number} {self.sha256[:12]}"
