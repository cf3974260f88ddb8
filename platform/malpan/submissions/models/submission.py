"""Uploads, accepted and rejected."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.competitions.models import Phase
from malpan.core.fields import StoredFileField
from malpan.submissions.querysets import SubmissionQuerySet
from malpan.teams.models import Team


class Submission(models.Model):
    """A file that passed validation and was charged to its team. ``live_run`` is the one that counts.

    A withdrawn submission stays charged and is on no board. ``is_final_choice``: its team chose it for the final board
    and has not taken that back (``FinalChoice`` says since when).
    """

    public_id = models.UUIDField(_("공개 번호"), default=uuid.uuid4, unique=True, editable=False)
    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="submissions", verbose_name=_("단계"))
    team = models.ForeignKey(Team, on_delete=models.PROTECT, related_name="submissions", verbose_name=_("팀"))
    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="submissions", verbose_name=_("제출한 사람")
    )
    file_name = models.CharField(_("파일 이름"), max_length=255)
    file_sha256 = StoredFileField(
        _("파일 sha256"), size="file_size", competition="phase__track__competition", db_index=True
    )
    file_size = models.PositiveIntegerField(_("크기(바이트)"))
    file_format = models.CharField(_("인식한 형식"), max_length=20, blank=True)  # scoring.reading.file_formats
    item_count = models.PositiveIntegerField(_("문항 수"))
    normalized_count = models.PositiveIntegerField(_("NFC로 바뀐 문항 수"), default=0)
    file_warnings = models.JSONField(_("파일에 관한 알림"), default=list, blank=True)  # of the check: {code, params}
    memo = models.CharField(_("메모"), max_length=200, blank=True)
    upload_key = models.CharField(max_length=64, blank=True, editable=False)  # of the form or request of the upload
    created_at = models.DateTimeField(_("제출 시각"), db_index=True)
    refunded_at = models.DateTimeField(_("환불 시각"), null=True, blank=True)
    withdrawn_at = models.DateTimeField(_("철회 시각"), null=True, blank=True)
    is_final_choice = models.BooleanField(_("최종 선택"), default=False)
    live_run = models.OneToOneField(
        "ScoringRun",
        verbose_name=_("반영된 채점"),
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="live_for",
    )
    objects = SubmissionQuerySet.as_manager()

    class Meta:
        verbose_name = _("제출")
        verbose_name_plural = _("제출")
        ordering = ["-created_at", "-id"]
        indexes = [models.Index(fields=["team", "phase", "created_at"], name="submission_quota_window")]
        constraints = [
            models.UniqueConstraint(
                fields=["team", "upload_key", "file_sha256"],
                condition=~models.Q(upload_key=""),
                name="one_submission_per_upload_key",
            )
        ]

    def __str__(self) -> str:
        return f"{self.team} {self.created_at:%Y-%m-%d %H:%M}"


class FinalChoice(models.Model):
    """A time in which a submission was the choice of its team: from ``chosen_at`` to before ``ended_at``, if that is
    set. A frozen board shows what was chosen when it froze.
    """

    submission = models.ForeignKey(
        Submission, on_delete=models.CASCADE, related_name="final_choices", verbose_name=_("제출")
    )
    chosen_at = models.DateTimeField(_("고른 시각"))
    ended_at = models.DateTimeField(_("선택을 푼 시각"), null=True, blank=True)

    class Meta:
        verbose_name = _("최종 선택의 기간")
        verbose_name_plural = _("최종 선택의 기간")
        ordering = ["chosen_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["submission"], condition=models.Q(ended_at=None), name="one_open_choice_per_submission"
            )
        ]

    def __str__(self) -> str:
        return f"{self.submission_id} {self.chosen_at:%Y-%m-%d %H:%M}"


class Rejection(models.Model):
    """A file that failed validation: recorded for its team, not charged. Has no file content.

    ``team`` is ``None`` where the file would have been the first of a baseline, which was not made then. ``is_check``:
    the team only had it checked; it counts for ``patience`` and is in no history.
    """

    phase = models.ForeignKey(Phase, on_delete=models.PROTECT, related_name="rejections", verbose_name=_("단계"))
    team = models.ForeignKey(Team, null=True, on_delete=models.PROTECT, related_name="rejections", verbose_name=_("팀"))
    submitted_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("제출한 사람")
    )
    file_name = models.CharField(_("파일 이름"), max_length=255)
    file_size = models.PositiveBigIntegerField(_("크기(바이트)"))
    errors = models.JSONField(_("오류"))  # the first hundred FileErrors: code, params, line, id, field
    error_count = models.PositiveIntegerField(_("오류 수"))
    created_at = models.DateTimeField(_("시각"))
    is_check = models.BooleanField(_("검사만 한 파일"), default=False, db_default=False)

    class Meta:
        verbose_name = _("반려된 파일")
        verbose_name_plural = _("반려된 파일")
        ordering = ["-created_at", "-id"]

    def __str__(self) -> str:
        return f"{self.team} {self.file_name}"
