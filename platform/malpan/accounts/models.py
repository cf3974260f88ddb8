"""People and their API tokens."""

from datetime import datetime
from typing import Any, Final

from django.conf import settings
from django.contrib.auth.base_user import BaseUserManager
from django.contrib.auth.models import AbstractUser
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Lower
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from malpan.core.database.prepared import Prepared
from malpan.core.fields import NameField


class UserManager(BaseUserManager["User"]):
    def get(self, *conditions: Any, **wanted: Any) -> "User":
        """As Django's. The person by primary key alone, whom every request asks for, with SQL written once."""
        if type(self) is not UserManager or conditions or wanted.keys() != {"pk"} or not isinstance(wanted["pk"], int):
            return super().get(*conditions, **wanted)
        found = _PERSON.only(wanted["pk"])
        if found is None:
            raise self.model.DoesNotExist
        return found

    def create_user(self, email: str, password: str | None = None, **extra: Any) -> "User":
        user = self.model(email=self.normalize_email(email), **extra)
        user.set_password(password)
        user.save(using=self._db)
        return user

    def create_superuser(self, email: str, password: str | None = None, **extra: Any) -> "User":
        self.model(email=self.normalize_email(email)).validate_constraints()  # in words, for whoever runs the command
        return self.create_user(email, password, is_staff=True, is_superuser=True, **extra)


class User(AbstractUser):
    """A person, identified by an e-mail address and shown by ``name``.

    A person whose data were erased (``malpan.privacy``) stays as a pseudonym, without both: what they did remains
    provable, who did it does not. ``former_addresses`` are keyed hashes of the addresses they had
    (``accounts.addresses``), so that an archive of an earlier day does not bring them back. ``privacy_version``: which
    privacy statement they agreed to when they signed up; empty for accounts made otherwise, or before it was asked.
    """

    username = None  # type: ignore[assignment]
    first_name = None  # type: ignore[assignment]
    last_name = None  # type: ignore[assignment]
    email = models.EmailField(_("이메일"))
    name = NameField(_("이름"), max_length=40)
    erased_at = models.DateTimeField(_("개인정보를 지운 시각"), null=True, blank=True, editable=False)
    privacy_version = models.CharField(
        _("동의한 개인정보 처리방침의 판"), max_length=40, blank=True, default="", db_default="", editable=False
    )
    privacy_accepted_at = models.DateTimeField(_("개인정보 처리에 동의한 시각"), null=True, blank=True, editable=False)
    former_addresses = ArrayField(models.CharField(max_length=64), default=list, blank=True, editable=False)

    USERNAME_FIELD = "email"
    REQUIRED_FIELDS = ["name"]
    objects = UserManager()  # type: ignore[misc,assignment]

    class Meta:
        verbose_name = _("사용자")
        verbose_name_plural = _("사용자")
        constraints = [
            models.UniqueConstraint(
                Lower("email"),
                condition=models.Q(erased_at=None),
                name="user_email_unique_whatever_case",
                violation_error_message=_("이미 가입된 이메일입니다."),
            ),
            models.CheckConstraint(
                condition=models.Q(erased_at=None) & ~models.Q(email="")
                | models.Q(erased_at__isnull=False, email="", name="", is_active=False),
                name="user_has_an_address_or_is_erased",
            ),
        ]

    def __str__(self) -> str:
        return gettext("탈퇴한 사람") if self.erased_at else self.name or self.email

    def get_full_name(self) -> str:
        return self.name

    def get_short_name(self) -> str:
        return self.name


_PERSON: Final = Prepared(lambda pk: User.objects.filter(pk=pk), int)


class Scope(models.TextChoices):
    """What a token is for. Every token may read what its owner sees as a participant."""

    READ = "read", _("읽기")
    SUBMIT = "submit", _("제출과 팀")
    ORGANISE = "organise", _("대회 운영")


def scopes_of_a_participant() -> list[str]:
    return [Scope.READ.value, Scope.SUBMIT.value]


class ApiToken(models.Model):
    """A person's token for the API: for what (``scopes``) and until when. Only its sha256 is stored; its owner
    recognises it by ``prefix``.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="api_tokens", verbose_name=_("사용자")
    )
    label = models.CharField(_("이름"), max_length=60)
    prefix = models.CharField(_("앞자리"), max_length=8)
    token_sha256 = models.CharField(_("토큰 sha256"), max_length=64, unique=True)
    scopes = ArrayField(
        models.CharField(max_length=8, choices=Scope.choices), verbose_name=_("쓸 곳"),
        default=scopes_of_a_participant, db_default=scopes_of_a_participant(),
    )  # fmt: skip
    created_at = models.DateTimeField(_("만든 시각"), auto_now_add=True)
    expires_at = models.DateTimeField(_("만료 시각"), null=True, blank=True)  # None: never
    last_used_at = models.DateTimeField(_("마지막으로 쓴 시각"), null=True, blank=True)  # to the minute
    revoked_at = models.DateTimeField(_("폐기 시각"), null=True, blank=True)

    class Meta:
        verbose_name = _("API 토큰")
        verbose_name_plural = _("API 토큰")

    def __str__(self) -> str:
        return f"{self.label} ({self.prefix}…)"

    def has_expired(self, now: datetime | None = None) -> bool:
        return self.expires_at is not None and self.expires_at <= (now or timezone.now())


class AnsweredRequest(models.Model):
    """A request of a program that is done once under the ``key`` which the program gave it, and its answer, for a day.

    ``request_sha256``: of what was asked. ``status``: 0 inside the transaction that does it, which nobody else sees.
    """

    api_token = models.ForeignKey(
        ApiToken, on_delete=models.CASCADE, related_name="answered", verbose_name=_("API 토큰")
    )
    key = models.CharField(_("키"), max_length=64)
    request_sha256 = models.CharField(_("요청 sha256"), max_length=64, default="")
    status = models.PositiveSmallIntegerField(_("상태"), default=0)
    answer = models.TextField(_("답"), default="")
    created_at = models.DateTimeField(_("시각"), db_index=True)

    class Meta:
        verbose_name = _("한 번만 하는 요청")
        verbose_name_plural = _("한 번만 하는 요청")
        constraints = [models.UniqueConstraint(fields=["api_token", "key"], name="one_answer_for_a_key")]

    def __str__(self) -> str:
        return self.key
