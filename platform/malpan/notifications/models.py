"""The outbox, where programs of people hear of events (webhooks), and what people want to hear."""

from __future__ import annotations

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Pace(models.TextChoices):
    """How word of an event reaches a person by mail."""

    AT_ONCE = "at_once", _("바로")
    DAILY = "daily", _("하루에 한 번")
    NEVER = "never", _("받지 않음")


class Endpoint(models.Model):
    """An address at which a program of ``person`` hears of ``events``, while ``off_at`` is null. Without a person it is
    of something that another app adds (``competitions.CompetitionEndpoint``).

    ``failing_since``: the first failure since the last delivery that arrived. The secret is in no column
    (``signatures``).
    """

    URL_CHARS = 500

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="endpoints", null=True, blank=True,
        verbose_name=_("사용자"),
    )  # fmt: skip
    url = models.URLField(_("주소"), max_length=URL_CHARS)
    events = ArrayField(models.CharField(max_length=40), default=list, verbose_name=_("사건"))
    created_at = models.DateTimeField(_("만든 시각"), auto_now_add=True)
    failing_since = models.DateTimeField(_("실패하기 시작한 시각"), null=True, blank=True)
    off_at = models.DateTimeField(_("끈 시각"), null=True, blank=True)

    class Meta:
        verbose_name = _("웹훅")
        verbose_name_plural = _("웹훅")
        ordering = ["pk"]

    def __str__(self) -> str:
        return f"{self.public_id}"


class Letter(models.Model):
    """Word of one event to one person, by mail or to one ``endpoint`` of theirs, or to one that is nobody's: waiting →
    sent | dropped | failed. What its person wants once a day is held until ``daily_mail``, a letter too, is sent.

    It is written in the transaction of the event. ``facts`` are keys of rows, no words: a letter says what the site may
    say when it is sent (``notifications.events``). ``key`` names the event: nobody hears of one twice. ``public_id`` is
    that of the mail, the same at every attempt, so that a receiver can tell one that came twice. ``not_before`` is when
    it is due; while it is being sent, when another process may take it over.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("대기 중")
        SENT = "sent", _("보냄")
        DROPPED = "dropped", _("보내지 않음")  # nobody wants it, or there is nothing to say any more
        FAILED = "failed", _("실패")
        HELD = "held", _("하루 한 번의 메일을 기다림")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    event = models.CharField(_("사건"), max_length=40)
    key = models.CharField(_("사건의 이름"), max_length=80)
    person = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="letters", null=True, blank=True,
        verbose_name=_("받는 사람"),
    )  # fmt: skip
    endpoint = models.ForeignKey(
        Endpoint, on_delete=models.CASCADE, related_name="letters", null=True, blank=True, verbose_name=_("웹훅")
    )
    daily_mail = models.ForeignKey(
        "self", on_delete=models.SET_NULL, related_name="parts", null=True, blank=True, verbose_name=_("하루의 메일")
    )
    facts = models.JSONField(_("사실"), default=dict)
    state = models.CharField(_("상태"), max_length=8, choices=State.choices, default=State.WAITING)
    attempts = models.PositiveSmallIntegerField(_("시도"), default=0)
    not_before = models.DateTimeField(_("보낼 시각"), default=timezone.now)
    created_at = models.DateTimeField(_("사건의 시각"), auto_now_add=True)
    sent_at = models.DateTimeField(_("보낸 시각"), null=True, blank=True)
    error = models.CharField(_("오류"), max_length=200, blank=True)

    class Meta:
        verbose_name = _("알림 메일")
        verbose_name_plural = _("알림 메일")
        ordering = ["-pk"]
        indexes = [
            models.Index(fields=["not_before"], condition=models.Q(state="waiting"), name="letters_that_wait"),
            models.Index(
                fields=["person"], condition=models.Q(state="held", daily_mail=None), name="letters_for_a_daily_mail"
            ),
        ]
        constraints = [
            models.UniqueConstraint(
                fields=["key", "person"],
                condition=models.Q(endpoint=None),
                name="a_person_is_written_to_of_an_event_once",
            ),
            models.UniqueConstraint(fields=["key", "endpoint"], name="an_endpoint_hears_of_an_event_once"),
            models.CheckConstraint(
                condition=models.Q(person__isnull=False) | models.Q(endpoint__isnull=False), name="letter_has_a_reader"
            ),
            models.CheckConstraint(
                condition=models.Q(state__in=["waiting", "sent", "dropped", "failed", "held"]),
                name="letter_state_known",
            ),
            models.CheckConstraint(
                condition=models.Q(state="sent", sent_at__isnull=False)
                | ~models.Q(state="sent") & models.Q(sent_at=None),
                name="sent_letter_says_when",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.event} {self.pk} · {self.state}"

    @property
    def webhook_id(self) -> str:
        """By which a receiver of webhooks tells one that came twice."""
        return f"msg_{self.public_id.hex}"


class Told(models.Model):
    """An event that no request makes, but the clock: ``key`` names it, so that it is found once."""

    key = models.CharField(_("사건의 이름"), max_length=80, unique=True)
    told_at = models.DateTimeField(_("알린 시각"), auto_now_add=True)

    class Meta:
        verbose_name = _("시각에 따른 알림")
        verbose_name_plural = _("시각에 따른 알림")

    def __str__(self) -> str:
        return self.key


class Preference(models.Model):
    """What a person wants to hear. Without a row: everything, in Korean and English.

    ``paces``: at once or daily, by event, where the person has said so; else as the event has it.
    """

    LANGUAGES = [("ko", "한국어"), ("en", "English")]

    person = models.OneToOneField(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="preference", verbose_name=_("사용자")
    )
    language = models.CharField(_("언어"), max_length=2, choices=LANGUAGES, blank=True)  # empty: both
    muted = ArrayField(models.CharField(max_length=40), default=list, blank=True, verbose_name=_("받지 않는 사건"))
    paces = models.JSONField(_("사건마다 바로 또는 하루에 한 번"), default=dict, db_default={}, blank=True)

    class Meta:
        verbose_name = _("알림 설정")
        verbose_name_plural = _("알림 설정")

    def __str__(self) -> str:
        return f"{self.person_id}"
