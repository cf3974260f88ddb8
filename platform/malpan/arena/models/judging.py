"""Who evaluates: judges, what they are assigned, and their judgements."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.db import models
from django.db.models.functions import Lower
from django.utils.translation import gettext_lazy as _

from malpan.arena.models.campaign import Campaign, CampaignItem, CampaignSystem, Rubric

NOTE_MAX = 2000
WORD_MAX = 1000  # to the organisers, at a time
TOLD_MAX = 10_000  # … and altogether


class CampaignJudge(models.Model):
    """A person invited to a campaign. Who they are never leaves the manage pages.

    ``label`` (``J01``) is drawn at the closing, and is what is published; ``design_label`` (``D01``) names the judge in
    the design. Both are drawn by chance, not by the seed, which will be public. ``barred_at_opening``: the labels of
    the systems that the design kept from them, ``None`` of who came later. ``rubric``: the version whose guideline
    they acknowledged. ``declared_teams``: the numbers of teams that they know, ``declared_late``: how many of them they
    declared on their own after they were shown an output, ``unknown_teams``: what they typed there that is no team,
    ``barred_teams``: those for which an organiser stands, who barred them. ``cleared_teams``: the numbers of teams
    whose institution has a name like the judge's, and is another one, as an organiser said (``arena.near``).
    ``sealed_at``: they were barred from another system then, and what they had been shown is closed to them
    (``bars.bar_anew``). ``told``: what they wrote to the organisers, the last at its end, at ``told_at``
    (``arena.judge_word``). Of a person whose data were erased, and of every judge of an imported campaign, ``user`` and
    ``email`` are gone; their judgements stay.
    """

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="judges", verbose_name=_("평가"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="campaign_judges",
        verbose_name=_("사용자"),
    )
    email = models.EmailField(_("이메일"), blank=True)
    institution = models.CharField(_("소속 기관"), max_length=120, blank=True)
    label = models.CharField(_("가림 이름"), max_length=5, blank=True)
    design_label = models.CharField(_("배정 이름"), max_length=5, blank=True)
    barred_at_opening = models.JSONField(_("시작할 때의 제척"), null=True, blank=True, editable=False)
    token_sha256 = models.CharField(_("토큰 sha256"), max_length=64, unique=True)
    invited_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("초대한 사람")
    )
    invited_at = models.DateTimeField(_("초대한 시각"))
    expires_at = models.DateTimeField(_("만료 시각"))
    accepted_at = models.DateTimeField(_("수락한 시각"), null=True, blank=True)
    consent_version = models.CharField(_("동의한 안내의 판"), max_length=20, blank=True)
    consented_at = models.DateTimeField(_("동의한 시각"), null=True, blank=True)
    rubric = models.ForeignKey(
        Rubric, on_delete=models.PROTECT, null=True, blank=True, related_name="+", verbose_name=_("확인한 기준표")
    )
    declared_teams = models.JSONField(_("안다고 밝힌 팀"), default=list, blank=True)
    barred_teams = models.JSONField(_("운영자가 제척한 팀"), default=list, db_default=[], blank=True, editable=False)
    cleared_teams = models.JSONField(
        _("기관이 다르다고 확인한 팀"), default=list, db_default=[], blank=True, editable=False
    )
    declared_late = models.PositiveSmallIntegerField(_("출력을 본 뒤에 밝힌 팀의 수"), default=0, db_default=0)
    unknown_teams = models.JSONField(
        _("안다고 적었으나 없는 팀"), default=list, db_default=[], blank=True, editable=False
    )
    sealed_at = models.DateTimeField(_("본 문항을 닫은 시각"), null=True, blank=True, editable=False)
    told = models.TextField(_("운영자에게 알린 말"), max_length=TOLD_MAX, blank=True, default="", db_default="")
    told_at = models.DateTimeField(_("운영자에게 알린 시각"), null=True, blank=True)
    calibrated_at = models.DateTimeField(_("연습을 마친 시각"), null=True, blank=True)
    removed_at = models.DateTimeField(_("내보낸 시각"), null=True, blank=True)
    returns = models.PositiveSmallIntegerField(_("다시 초대한 횟수"), default=0)
    removal_reason = models.CharField(_("내보낸 사유"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("평가자")
        verbose_name_plural = _("평가자")
        ordering = ["campaign", "invited_at", "id"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "user"],
                condition=models.Q(user__isnull=False),
                name="judge_user_unique_in_campaign",
            ),
            models.UniqueConstraint(
                "campaign", Lower("email"), condition=~models.Q(email=""), name="judge_email_unique_in_campaign"
            ),
            models.UniqueConstraint(
                fields=["campaign", "label"], condition=~models.Q(label=""), name="judge_label_unique_in_campaign"
            ),
            models.UniqueConstraint(
                fields=["campaign", "design_label"],
                condition=~models.Q(design_label=""),
                name="judge_design_label_unique_in_campaign",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.campaign_id} {self.label or self.pk}"

    @property
    def is_active(self) -> bool:
        """Whether there is a person who accepted and was not removed."""
        return self.user_id is not None and self.accepted_at is not None and self.removed_at is None


class JudgeBar(models.Model):
    """A system that a judge never sees."""

    class Reason(models.TextChoices):
        MEMBER = "member", _("팀의 구성원")
        INSTITUTION = "institution", _("같은 기관")
        DECLARED = "declared", _("스스로 밝힘")
        NEAR = "near", _("같은 기관일 수 있음")

    judge = models.ForeignKey(CampaignJudge, on_delete=models.CASCADE, related_name="bars", verbose_name=_("평가자"))
    system = models.ForeignKey(CampaignSystem, on_delete=models.CASCADE, related_name="bars", verbose_name=_("제출"))
    reason = models.CharField(_("까닭"), max_length=11, choices=Reason.choices)

    class Meta:
        verbose_name = _("제척")
        verbose_name_plural = _("제척")
        constraints = [models.UniqueConstraint(fields=["judge", "system"], name="bar_unique_for_judge_and_system")]

    def __str__(self) -> str:
        return f"{self.judge_id} {self.system_id} {self.reason}"


class Assignment(models.Model):
    """A unit that a judge is to judge: an item with ``systems``, their labels in the order shown.

    Of a control (and of a calibration made by rule) the output at ``bad_index`` is replaced by ``bad_text``, one made
    bad by ``bad_rule`` (``scoring.arena.controls``). ``repeats``: the judge's own earlier assignment of the same unit.
    ``shown_key`` names it in addresses; it is drawn by chance, so that nothing can be read from it.
    """

    class Kind(models.TextChoices):
        REAL = "real", _("평가")
        CONTROL = "control", _("확인")
        REPEAT = "repeat", _("되풀이")
        CALIBRATION = "calibration", _("연습")

    class State(models.TextChoices):
        OPEN = "open", _("대기")
        DONE = "done", _("마침")
        VOID = "void", _("무효")

    class VoidReason(models.TextChoices):
        NONE = "", _("없음")
        JUDGE_REMOVED = "judge_removed", _("평가자를 내보냄")
        MOVED = "moved", _("다른 평가자에게 옮김")
        BARRED = "barred", _("평가자가 제척됨")
        DISQUALIFIED = "disqualified", _("팀이 실격함")
        CLOSED = "closed", _("마감까지 판단하지 않음")

    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, related_name="assignments", verbose_name=_("평가"))
    judge = models.ForeignKey(
        CampaignJudge, on_delete=models.PROTECT, related_name="assignments", verbose_name=_("평가자")
    )
    item = models.ForeignKey(CampaignItem, on_delete=models.PROTECT, related_name="assignments", verbose_name=_("문항"))
    shown_key = models.UUIDField(_("공개 번호"), default=uuid.uuid4, unique=True, editable=False)
    systems = models.JSONField(_("출력의 차례"))
    kind = models.CharField(_("종류"), max_length=11, choices=Kind.choices, default=Kind.REAL)
    bad_index = models.PositiveSmallIntegerField(_("나쁜 출력의 자리"), null=True, blank=True)
    bad_rule = models.CharField(_("나쁘게 만든 규칙"), max_length=10, blank=True)
    bad_text = models.TextField(_("나쁜 출력"), blank=True)
    repeats = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="repeated_by",
        verbose_name=_("되풀이한 것"),
    )
    position = models.PositiveIntegerField(_("차례"))
    state = models.CharField(_("상태"), max_length=4, choices=State.choices, default=State.OPEN)
    void_reason = models.CharField(_("무효의 까닭"), max_length=13, choices=VoidReason.choices, blank=True)
    first_shown_at = models.DateTimeField(_("처음 보인 시각"), null=True, blank=True)
    created_at = models.DateTimeField(_("만든 시각"))

    class Meta:
        verbose_name = _("배정")
        verbose_name_plural = _("배정")
        ordering = ["judge", "position"]
        constraints = [
            models.UniqueConstraint(fields=["judge", "position"], name="assignment_position_unique_for_judge"),
            models.CheckConstraint(
                condition=models.Q(kind="control", bad_index__isnull=False)
                | models.Q(kind__in=["real", "repeat"], bad_index=None)
                | models.Q(kind="calibration"),
                name="assignment_control_has_a_bad_output",
            ),
            models.CheckConstraint(
                condition=models.Q(kind="repeat") ^ models.Q(repeats=None), name="assignment_repeat_names_the_first"
            ),
            models.CheckConstraint(
                condition=models.Q(state="void") ^ models.Q(void_reason=""), name="assignment_void_has_a_reason"
            ),
        ]
        indexes = [
            models.Index(fields=["judge", "state", "position"], name="assignment_queue"),
            models.Index(fields=["campaign", "state", "kind"], name="assignment_progress"),
        ]

    def __str__(self) -> str:
        return f"{self.judge_id} {self.position}"


class JudgementDraft(models.Model):
    """What a judge has entered and not yet sent."""

    assignment = models.OneToOneField(
        Assignment, on_delete=models.CASCADE, related_name="draft", verbose_name=_("배정")
    )
    value = models.JSONField(_("판단"))
    note = models.TextField(_("메모"), max_length=NOTE_MAX, blank=True)
    updated_at = models.DateTimeField(_("고친 시각"))

    class Meta:
        verbose_name = _("쓰던 판단")
        verbose_name_plural = _("쓰던 판단")

    def __str__(self) -> str:
        return f"{self.assignment_id}"


class Judgement(models.Model):
    """What a judge decided about an assignment; the newest ``number`` counts. Never changed, never deleted;
    only the note is emptied when its writer is erased.

    ``value`` is as the votes file has it (``scoring.arena.votes``). ``note`` is for the organisers alone. ``seconds``
    since the assignment was shown, without times away. ``judged_by`` is not known of a campaign that was imported.
    """

    assignment = models.ForeignKey(
        Assignment, on_delete=models.PROTECT, related_name="judgements", verbose_name=_("배정")
    )
    number = models.PositiveSmallIntegerField(_("판"))
    value = models.JSONField(_("판단"))
    note = models.TextField(_("메모"), max_length=NOTE_MAX, blank=True)
    seconds = models.PositiveIntegerField(_("걸린 시간(초)"))
    judged_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("판단한 사람"),
    )
    created_at = models.DateTimeField(_("시각"))

    class Meta:
        verbose_name = _("판단")
        verbose_name_plural = _("판단")
        ordering = ["assignment", "-number"]
        constraints = [models.UniqueConstraint(fields=["assignment", "number"], name="judgement_number_unique")]

    def __str__(self) -> str:
        return f"{self.assignment_id} #{self.number}"
