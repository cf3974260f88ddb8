"""Webhooks, and what was sent to them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

from django.utils.translation import gettext
from ninja import Schema
from pydantic import AfterValidator, Field

from malpan.api.schemas.kinds import Body, Text
from malpan.notifications.events import all_events
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.signatures import secret_of


def _known(name: str) -> str:
    if name not in {event.name for event in all_events()}:
        raise ValueError(gettext("이런 사건은 없습니다."))
    return name


_NAMES = [event.name for event in all_events()]  # every app has registered its events before addresses are read
EventName = Annotated[str, AfterValidator(_known), Field(json_schema_extra={"enum": _NAMES})]
EventNames = Annotated[list[EventName], Field(min_length=1, max_length=50)]
Url = Annotated[Text, Field(max_length=Endpoint.URL_CHARS, json_schema_extra={"format": "uri"})]


class Webhook(Schema):
    id: int
    url: str
    events: list[str]
    is_on: bool
    created_at: datetime
    failing_since: datetime | None  # the first failure after the last delivery that arrived
    off_at: datetime | None


class WebhookMade(Webhook):
    secret: str  # of the signatures; it is never shown again


class NewWebhook(Body):
    url: Url
    events: EventNames


class WebhookChange(Body):
    url: Url | None = None
    events: EventNames | None = None
    is_on: bool | None = None


class Delivery(Schema):
    id: int
    webhook_id: str  # the header of that name
    event: str
    state: str
    attempts: int
    created_at: datetime  # when the event was
    next_attempt_at: datetime | None
    sent_at: datetime | None
    error: str


def webhook(found: Endpoint) -> dict[str, Any]:
    names = ("url", "events", "created_at", "failing_since", "off_at")
    return {"id": found.pk, "is_on": found.off_at is None} | {name: getattr(found, name) for name in names}


def webhook_made(found: Endpoint) -> dict[str, Any]:
    return webhook(found) | {"secret": secret_of(found)}


def delivery(found: Letter) -> dict[str, Any]:
    names = ("webhook_id", "event", "state", "attempts", "created_at", "sent_at", "error")
    waits = found.state == Letter.State.WAITING
    return {"id": found.pk, "next_attempt_at": found.not_before if waits else None} | {
        name: getattr(found, name) for name in names
    }
