"""Teams, their members, invitations and merge requests."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.teams.looks import LookField


class Team(models.Model):
    """A team of one competition. A baseline team is listed on boards but not ranked.

    ``number`` counts the teams of a competition; while names are blind, it is shown instead of the name. A disqualified
    team keeps its submissions and is on no board; ``disqualification_note`` is public. A team that was merged into
    another has no members left. The ``model_*`` fields and ``paper_url`` are what the team says of its model on boards.
    ``is_program``: who takes part is a program, whose owner is the leader; it has the limits of any team, and its owner
    no other team there.
    """

    competition = models.ForeignKey(
        "competitions.Competition", on_delete=models.PROTECT, related_name="teams", verbose_name=_("대회")
    )
    name = models.CharField(_("팀 이름"), max_length=60)
    name_look = LookField(max_length=240, editable=False)
    number = models.PositiveIntegerField(_("팀 번호"), default=0, editable=False)
    is_baseline = models.BooleanField(_("기준 모델"), default=False)
    is_program = models.BooleanField(_("프로그램"), default=False, db_default=False)
    disqualified_at = models.DateTimeField(_("실격 시각"), null=True, blank=True)
    disqualification_note_ko = models.CharField(_("실격 사유"), max_length=300, blank=True)
    disqualification_note_en = models.CharField(_("실격 사유(영어)"), max_length=300, blank=True)
    merged_into = models.ForeignKey(
        "self", null=True, blank=True, on_delete=models.PROTECT, related_name="merged_from", verbose_name=_("합친 팀")
    )
    model_name = models.CharField(_("모델 이름"), max_length=80, blank=True, db_default="")
    model_size = models.CharField(_("모델 크기"), max_length=40, blank=True, db_default="")
    model_url = models.URLField(_("모델 주소"), max_length=300, blank=True, db_default="")
    paper_url = models.URLField(_("논문 주소"), max_length=300, blank=True, db_default="")
    created_at = models.DateTimeField(_("만든 시각"), auto_now_add=True)
    members = models.ManyToManyField(
        settings.AUTH_USER_MODEL, through="Membership", related_name="teams", verbose_name=_("구성원")
    )

    class Meta:
        verbose_name = _("팀")
        verbose_name_plural = _("팀")
        constraints = [
            models.UniqueConstraint(fields=["competition", "name_look"], name="team_name_unique_in_competition"),
            models.CheckConstraint(condition=~models.Q(name=""), name="team_name_not_empty"),
            models.UniqueConstraint(fields=["competition", "number"], name="team_number_unique_in_competition"),
        ]
        indexes = [
            models.Index(
                fields=["competition"], condition=models.Q(disqualified_at__isnull=False), name="team_disqualified"
            )
        ]

    def __str__(self) -> str:
        return self.name


class Membership(models.Model):
    """A person's membership in a team: one team per person per competition, one leader per team."""

    class Role(models.TextChoices):
        LEADER = "leader", _("팀장")
        MEMBER = "member", _("팀원")

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="memberships", verbose_name=_("팀"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="memberships", verbose_name=_("사용자")
    )
    competition = models.ForeignKey(
        "competitions.Competition", on_delete=models.PROTECT, related_name="+", verbose_name=_("대회")
    )
    role = models.CharField(_("역할"), max_length=8, choices=Role.choices, default=Role.MEMBER)
    joined_at = models.DateTimeField(_("합류 시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("팀 구성원")
        verbose_name_plural = _("팀 구성원")
        constraints = [
            models.UniqueConstraint(fields=["competition", "user"], name="one_team_per_person_per_competition"),
            models.UniqueConstraint(fields=["team"], condition=models.Q(role="leader"), name="one_leader_per_team"),
        ]

    def __str__(self) -> str:
        return f"{self.user} @ {self.team}"


class Invitation(models.Model):
    """A single-use, expiring link into a team. Only the token's sha256 is stored.

    ``email``: where it was sent; only the person with that verified address may use it. Empty: anybody with the link.
    """

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="invitations", verbose_name=_("팀"))
    token_sha256 = models.CharField(_("토큰 sha256"), max_length=64, unique=True)
    email = models.EmailField(_("받는 사람"), blank=True)
    revoked_at = models.DateTimeField(_("취소 시각"), null=True, blank=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("만든 사람")
    )
    created_at = models.DateTimeField(_("만든 시각"), auto_now_add=True)
    expires_at = models.DateTimeField(_("만료 시각"))
    used_at = models.DateTimeField(_("사용 시각"), null=True, blank=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("사용한 사람"),
    )

    class Meta:
        verbose_name = _("초대")
        verbose_name_plural = _("초대")

    def __str__(self) -> str:
        return f"{self.team} ({self.expires_at:%Y-%m-%d})"


class MergeRequest(models.Model):
    """One team's offer to be merged into another. Both leaders agree: one asks, the other accepts."""

    class State(models.TextChoices):
        OPEN = "open", _("대기")
        ACCEPTED = "accepted", _("수락")
        DECLINED = "declined", _("거절")
        WITHDRAWN = "withdrawn", _("취소")

    source = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="merges_asked", verbose_name=_("합칠 팀"))
    target = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="merges_offered", verbose_name=_("남을 팀"))
    state = models.CharField(_("상태"), max_length=9, choices=State.choices, default=State.OPEN)
    asked_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+", verbose_name=_("요청한 사람")
    )
    answered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
        verbose_name=_("답한 사람"),
    )
    created_at = models.DateTimeField(_("요청 시각"), auto_now_add=True)
    answered_at = models.DateTimeField(_("답한 시각"), null=True, blank=True)

    class Meta:
        verbose_name = _("팀 합치기")
        verbose_name_plural = _("팀 합치기")
        constraints = [
            models.UniqueConstraint(
                fields=["source"], condition=models.Q(state="open"), name="one_open_merge_request_per_team"
            ),
            models.CheckConstraint(condition=~models.Q(source=models.F("target")), name="merge_of_two_teams"),
        ]

    def __str__(self) -> str:
        return f"{self.source} → {self.target} ({self.state})"
