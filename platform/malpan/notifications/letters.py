"""Word to the owner of a webhook: it failed for days, or is gone, and was switched off."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlsplit
from uuid import uuid4

from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.notifications import outbox
from malpan.notifications.events import Event, Facts, Word, register
from malpan.notifications.models import Endpoint

ENDPOINT_OFF: Final = "endpoint_off"


def tell_off(endpoint: Endpoint) -> None:
    """Post word that ``endpoint`` was switched off. Call it in the transaction of that."""
    key = f"{ENDPOINT_OFF}:{endpoint.pk}:{uuid4()}"
    outbox.post(event=ENDPOINT_OFF, key=key, people=[endpoint.person_id], facts={"endpoint": endpoint.pk})


def register_events() -> None:
    register(Event(ENDPOINT_OFF, _("웹훅이 계속 실패해 꺼졌을 때"), _off, _sample))


def _off(person: User, facts: Facts) -> Word | None:
    endpoint = Endpoint.objects.filter(pk=facts["endpoint"], person=person).exclude(off_at=None).first()
    return None if endpoint is None else _word(endpoint.url)


def _sample() -> Word:
    return _word("https://example.com/hook")


def _word(url: str) -> Word:
    """Of the address only the host: what follows may be a secret."""
    return Word({"host": urlsplit(url).hostname}, reverse("webhooks"))
