"""Who may do what in a competition, and who accepted its terms."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class TermsAcceptance(models.Model):
    """A person's acceptance of a version of a competition's terms."""

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="terms_accepted", verbose_name=_("사용자")
    )
    competition = models.ForeignKey(
        "competitions.Competition", on_delete=models.PROTECT, related_name="+", verbose_name=_("대회")
    )
    version = models.PositiveSmallIntegerField(_("약관 판"))
    accepted_at = models.DateTimeField(_("동의 시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("약관 동의")
        verbose_name_plural = _("약관 동의")
        constraints = [
            models.UniqueConstraint(fields=["user", "competition", "version"], name="terms_accepted_once_per_version")
        ]

    def __str__(self) -> str:
        return f"{self.user} v{self.version}"


class CompetitionRole(models.Model):
    """A person's role as organiser of one competition; see ``competitions.permissions``."""

    class Role(models.TextChoices):
        OWNER = "owner", _("소유자")
        ORGANISER = "organiser", _("운영자")
        OPERATOR = "operator", _("채점 담당")
        VIEWER = "viewer", _("열람자")

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="competition_roles", verbose_name=_("사용자")
    )
    competition = models.ForeignKey(
        "competitions.Competition", on_delete=models.CASCADE, related_name="roles", verbose_name=_("대회")
    )
    role = models.CharField(_("역할"), max_length=9, choices=Role.choices)
    created_at = models.DateTimeField(_("지정 시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("대회 역할")
        verbose_name_plural = _("대회 역할")
        constraints = [models.UniqueConstraint(fields=["user", "competition"], name="one_role_per_competition")]

    def __str__(self) -> str:
        return f"{self.user}: {self.role}"
