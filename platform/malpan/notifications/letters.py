"""Word to the owner of a webhook: it failed for days, or is gone, and was switched off."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.core import audit
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Word, register
from malpan.notifications.models import Endpoint

ENDPOINT_OFF: Final = "endpoint_off"


def tell_off(endpoint: Endpoint) -> None:
    """Write that ``endpoint`` was switched off, and post word of it to its person, if it has one. Call it in the
    transaction of that.
    """
    if endpoint.person is None:
        return
    audit.record(actor=None, action="endpoint.switch_off", obj=endpoint, person=endpoint.person)
    key = f"{ENDPOINT_OFF}:{endpoint.pk}:{uuid4()}"
    outbox.post(event=ENDPOINT_OFF, key=key, people=[endpoint.person.pk], facts={"endpoint": endpoint.pk})


def register_events() -> None:
    register(Event(ENDPOINT_OFF, _("웹훅이 계속 실패해 꺼졌을 때"), _off, _sample))


def _off(person: User, facts: Facts) -> Word | None:
    endpoint = Endpoint.objects.filter(pk=facts["endpoint"], person=person).exclude(off_at=None).first()
    return None if endpoint is None else word_of_off(endpoint.url, reverse("webhooks"))


def _sample() -> Word:
    return word_of_off("https://example.com/hook", reverse("webhooks"))


def word_of_off(url: str, path: str) -> Word:
    """Of the address only the host: what follows may be a secret."""
    return Word({"host": urlsplit(url).hostname}, path)
