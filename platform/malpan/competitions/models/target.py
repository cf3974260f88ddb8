"""What the scores of a track are compared with: a baseline and milestones, set by its organiser."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models.track import Track
from scoring.recipes.targets import FINAL_SCORE, LARGEST


class TrackTarget(models.Model):
    """A score to reach or to compare with: of the final score (0-1) a line on the board of a track, with the change for
    the baseline; of another column, by its key ``score``, a milestone beside a team's own score.
    """

    class Kind(models.TextChoices):
        BASELINE = "baseline", _("기준선")
        MILESTONE = "milestone", _("이정표")

    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="targets", verbose_name=_("트랙"))
    kind = models.CharField(_("종류"), max_length=9, choices=Kind.choices)
    score = models.CharField(_("점수"), max_length=40, default=FINAL_SCORE)
    value = models.FloatField(_("값(0~1, 최종 점수가 아니면 10까지)"))
    label_ko = models.CharField(_("이름"), max_length=60)
    label_en = models.CharField(_("이름(영어)"), max_length=60, blank=True)
    is_comparable = models.BooleanField(_("비교 가능"), default=True)
    note_ko = models.CharField(_("참고할 점"), max_length=200, blank=True)
    note_en = models.CharField(_("참고할 점(영어)"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("기준선과 이정표")
        verbose_name_plural = _("기준선과 이정표")
        ordering = ["value", "id"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(value__gte=0, value__lte=1)
                | (~models.Q(score=FINAL_SCORE) & models.Q(value__gte=0, value__lte=LARGEST)),
                name="target_is_from_0_to_1",  # of the final score; of another to 10
            ),
            models.CheckConstraint(condition=~models.Q(label_ko=""), name="target_has_a_label"),
            models.CheckConstraint(
                condition=models.Q(kind="milestone") | models.Q(kind="baseline", score=FINAL_SCORE, value__gt=0),
                name="target_baseline_is_above_0",  # the change is relative to it
            ),
            models.UniqueConstraint(
                fields=["track"], condition=models.Q(kind="baseline"), name="one_baseline_per_track"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.label_ko} {self.value}"
