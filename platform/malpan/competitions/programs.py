"""Webhooks of a competition: programs of its organisers hear what organisers see of it, and of no person anything.

What they are told is in the ``Happening``s that apps register; the owner and the organisers hear by mail when one was
switched off because it failed for days.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final
from uuid import uuid4

from django.db import transaction
from django.db.models import QuerySet
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from malpan.accounts.models import User
from malpan.competitions.locks import lock_competition
from malpan.competitions.models import Competition, CompetitionEndpoint, CompetitionRole
from malpan.competitions.permissions import PERMISSIONS, Permission
from malpan.core import audit
from malpan.notifications import endpoints, outbox, webhooks
from malpan.notifications.events import Event, Facts, Word, register
from malpan.notifications.letters import word_of_off
from malpan.notifications.models import Endpoint

ENDPOINT_OFF: Final = "competition_endpoint_off"


def endpoints_of(competition: Competition | int) -> QuerySet[CompetitionEndpoint]:
    """The webhooks of the competition, the oldest first."""
    return CompetitionEndpoint.objects.filter(competition=competition)


def create_endpoint(*, competition: Competition, url: str, events: Iterable[str], actor: User) -> CompetitionEndpoint:
    """Have a program hear of ``events`` of the competition at ``url``.

    Raises ``EndpointAddressRefused``, and ``TooManyEndpoints`` above ``endpoints.ENDPOINTS_MAX``.
    """
    with transaction.atomic():
        held = lock_competition(competition.pk)
        new = CompetitionEndpoint(competition=held, url=url, events=list(dict.fromkeys(events)))
        return endpoints.add_endpoint(new, rows=endpoints_of(held), actor=actor)


def tell(*, competition: Competition | int, event: str, key: str, facts: Facts) -> None:
    """Post word of ``event`` to the webhooks of the competition. Call it in the transaction of the event."""
    outbox.call(event=event, key=key, endpoints=endpoints_of(competition), facts=facts)


def register_events() -> None:
    register(Event(ENDPOINT_OFF, _("운영하는 대회의 웹훅이 계속 실패해 꺼졌을 때"), _off, _sample))
    webhooks.switched_off.connect(_tell_off, sender=Endpoint)


def _tell_off(endpoint: Endpoint, **_signal: Any) -> None:
    held = CompetitionEndpoint.objects.filter(pk=endpoint.pk).select_related("competition").first()
    if held is None:
        return
    audit.record(actor=None, action="endpoint.switch_off", obj=held)
    key = f"{ENDPOINT_OFF}:{held.pk}:{uuid4()}"
    outbox.post(event=ENDPOINT_OFF, key=key, people=_keepers_of(held.competition), facts={"endpoint": held.pk})


def _keepers_of(competition: Competition) -> QuerySet[User]:
    """Who may change its webhooks."""
    roles = [role for role, held in PERMISSIONS.items() if Permission.MANAGE in held]
    keepers = CompetitionRole.objects.filter(competition=competition, role__in=roles)
    return User.objects.filter(pk__in=keepers.values("user"))


def _off(person: User, facts: Facts) -> Word | None:
    found = CompetitionEndpoint.objects.filter(pk=facts["endpoint"]).exclude(off_at=None)
    endpoint = found.select_related("competition").first()
    if endpoint is None or not _keepers_of(endpoint.competition).filter(pk=person.pk).exists():
        return None
    return _word(endpoint.url, endpoint.competition.title, reverse("manage_webhooks", args=[endpoint.competition.slug]))


def _sample() -> Word:
    return _word("https://example.com/hook", "한글 대회", reverse("home"))


def _word(url: str, title: str, path: str) -> Word:
    word = word_of_off(url, path)
    return Word({**word.context, "competition": title}, word.path)
