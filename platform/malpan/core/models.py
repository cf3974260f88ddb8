"""The audit log: who changed what, when, before and after."""

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils.translation import gettext_lazy as _

from malpan.core.language import in_language
from malpan.core.text import MARKDOWN_MAX_CHARS


class AuditEntry(models.Model):
    """One change. ``action`` is ``<object>.<verb>``; never contains a reference answer.

    People are in ``actor`` and ``person`` (whom it is about), never by name or address in ``before`` or ``after``: a
    person whose data were erased is a pseudonym here too, though no entry was changed. ``competition_pk`` is its
    competition, as a number because this app must not depend on competitions. The database refuses to change or delete
    an entry.
    """

    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("행위자"),
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        verbose_name=_("해당하는 사람"),
        null=True,
        blank=True,
        on_delete=models.PROTECT,
        related_name="+",
    )
    action = models.CharField(_("행위"), max_length=64, db_index=True)
    object_type = models.CharField(_("대상 종류"), max_length=64)
    object_id = models.CharField(_("대상 번호"), max_length=64)
    competition_pk = models.PositiveBigIntegerField(_("대회 번호"), null=True, blank=True, db_index=True)
    before = models.JSONField(_("이전"), default=dict, blank=True, encoder=DjangoJSONEncoder)
    after = models.JSONField(_("이후"), default=dict, blank=True, encoder=DjangoJSONEncoder)
    created_at = models.DateTimeField(_("시각"), auto_now_add=True, db_index=True)

    class Meta:
        verbose_name = _("감사 기록")
        verbose_name_plural = _("감사 기록")
        ordering = ["-id"]
        indexes = [models.Index(fields=["object_type", "object_id"], name="audit_by_object")]

    def __str__(self) -> str:
        return f"{self.action} {self.object_type}:{self.object_id}"


class Chore(models.Model):
    """The last time that a chore of the whole site was done. ``facts``: what came of it, numbers and names only."""

    class Name(models.TextChoices):
        BACKUP = "backup", _("백업")
        CHAIN_CHECK = "chain_check", _("해시 사슬 검사")
        CHORES = "chores", _("정리 프로그램의 응답")
        BEAT = "beat", _("예약 프로그램의 응답")

    name = models.CharField(_("이름"), max_length=20, unique=True, choices=Name.choices)
    done_at = models.DateTimeField(_("마지막으로 한 때"))
    facts = models.JSONField(_("결과"), default=dict)

    class Meta:
        verbose_name = _("정기 작업")
        verbose_name_plural = _("정기 작업")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class SiteText(models.Model):
    """A text of the whole site that its operator writes, in Markdown."""

    class Kind(models.TextChoices):
        PRIVACY = "privacy", _("개인정보 처리방침")
        TERMS = "terms", _("이용약관")

    kind = models.CharField(_("종류"), max_length=10, unique=True, choices=Kind.choices)
    text_ko = models.TextField(_("글"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    text_en = models.TextField(_("글(영어)"), max_length=MARKDOWN_MAX_CHARS, blank=True)
    changed_at = models.DateTimeField(_("고친 때"))

    class Meta:
        verbose_name = _("사이트의 글")
        verbose_name_plural = _("사이트의 글")
        ordering = ["kind"]

    def __str__(self) -> str:
        return self.kind

    @property
    def text(self) -> str:
        return in_language(self.text_ko, self.text_en)
