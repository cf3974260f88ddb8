"""Word to staff, by mail and to their programs: something is wrong with the site, or is no more."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final, Literal

from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from malpan.accounts.models import User
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Word, register
from malpan.operation.models import Incident
from malpan.operation.site_page.alarms import (
    CHAIN_BROKEN,
    CHAIN_UNCHECKED,
    DISK_LOW,
    MAIL_FAILING,
    QUEUE_STUCK,
    WORKER_SILENT,
)

_LABELS: Final = {
    QUEUE_STUCK: gettext_lazy("운영: 제출이 오래 기다릴 때와 그것이 끝났을 때"),
    WORKER_SILENT: gettext_lazy("운영: 채점 프로세스가 보고하지 않을 때와 그것이 끝났을 때"),
    DISK_LOW: gettext_lazy("운영: 디스크가 얼마 남지 않았을 때와 그것이 끝났을 때"),
    CHAIN_BROKEN: gettext_lazy("운영: 해시 사슬의 검사가 실패했을 때와 그것이 끝났을 때"),
    CHAIN_UNCHECKED: gettext_lazy("운영: 해시 사슬을 하루 넘게 검사하지 못했을 때와 그것이 끝났을 때"),
    MAIL_FAILING: gettext_lazy("운영: 메일이 나가지 않을 때와 그것이 끝났을 때"),
}
_TITLES: Final = {
    QUEUE_STUCK: gettext_lazy("제출이 오래 기다립니다"),
    WORKER_SILENT: gettext_lazy("채점 프로세스가 보고하지 않습니다"),
    DISK_LOW: gettext_lazy("디스크가 얼마 남지 않았습니다"),
    CHAIN_BROKEN: gettext_lazy("해시 사슬의 검사가 실패했습니다"),
    CHAIN_UNCHECKED: gettext_lazy("해시 사슬을 하루 넘게 검사하지 못했습니다"),
    MAIL_FAILING: gettext_lazy("메일이 나가지 않습니다"),
}


def is_operator(person: User) -> bool:
    """Whether ``person`` sees the operators' page."""
    return person.is_active and (person.is_staff or person.is_superuser)


def tell(incident: Incident, what: Literal["began", "urgent", "over"]) -> None:
    """Post word of ``incident`` to staff. Call it in the transaction that notes it."""
    facts = {"incident": incident.pk, "is_over": what == "over"}
    staff = User.objects.filter(Q(is_staff=True) | Q(is_superuser=True))
    outbox.post(event=incident.event, key=f"{incident.event}:{incident.pk}:{what}", people=staff, facts=facts)


def register_events() -> None:
    for name, label in _LABELS.items():
        register(Event(name, label, _incident, _sample_of(name), is_for=is_operator, template="incident"))


def _incident(person: User, facts: Facts) -> Word | None:
    """Of one that is over by now only that it is: a mail that came late says both."""
    found = Incident.objects.filter(pk=facts["incident"]).first()
    if found is None or not is_operator(person) or (found.ended_at is not None) != facts["is_over"]:
        return None
    return _word(found)


def _word(incident: Incident) -> Word:
    about: dict[str, Any] = {
        "title": str(_TITLES[incident.event]),
        "text": incident.text,
        "subject": incident.subject,
        "is_urgent": incident.is_urgent,
        "is_over": incident.ended_at is not None,
        "began_at": incident.began_at,
        "ended_at": incident.ended_at,
    }
    return Word(about, reverse("manage_site"))


def _sample_of(name: str) -> Any:
    def sample() -> Word:
        now = timezone.now().replace(second=0, microsecond=0)
        text = _("여기에 무슨 일인지, 무엇을 할지가 나옵니다.")
        return _word(Incident(event=name, text_ko=text, text_en=text, began_at=now - timedelta(minutes=2), seen_at=now))

    return sample
