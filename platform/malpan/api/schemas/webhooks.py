"""Webhooks, and what was sent to them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any
from urllib.parse import urlsplit

from django.utils.translation import gettext
from ninja import Schema
from pydantic import AfterValidator, Field

from malpan.api.schemas.kinds import Body, Text
from malpan.notifications.events import all_events, all_happenings
from malpan.notifications.failing import said_of
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.signatures import secret_of


def _all_of(known: list[str]) -> tuple[AfterValidator, Any]:
    def check(names: list[str]) -> list[str]:
        if wrong := [name for name in names if name not in known]:
            text = gettext("이런 사건은 없습니다: %(wrong)s. 있는 사건: %(known)s")
            raise ValueError(text % {"wrong": ", ".join(wrong)[:200], "known": ", ".join(known)})
        return names

    items: dict[str, Any] = {"items": {"type": "string", "enum": known}}
    return AfterValidator(check), Field(min_length=1, max_length=50, json_schema_extra=items)


# every app has registered its events before addresses are read
EventNames = Annotated[list[str], *_all_of([event.name for event in all_events()])]
HappeningNames = Annotated[list[str], *_all_of([happening.name for happening in all_happenings()])]
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


class NewCompetitionWebhook(Body):
    url: Url
    events: HappeningNames


class CompetitionWebhookChange(Body):
    url: Url | None = None
    events: HappeningNames | None = None
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
    error: str  # its name, for programs
    reason: str  # and what happened, for people


def webhook(found: Endpoint, *, is_masked: bool = False) -> dict[str, Any]:
    """``is_masked``: of the address only the host, as what follows may be a secret."""
    names = ("events", "created_at", "failing_since", "off_at")
    url = f"https://{urlsplit(found.url).netloc}/…" if is_masked else found.url
    return {"id": found.pk, "url": url, "is_on": found.off_at is None} | {name: getattr(found, name) for name in names}


def webhook_made(found: Endpoint) -> dict[str, Any]:
    return webhook(found) | {"secret": secret_of(found)}


def delivery(found: Letter) -> dict[str, Any]:
    names = ("webhook_id", "event", "state", "attempts", "created_at", "sent_at", "error")
    waits = found.state == Letter.State.WAITING
    more = {"id": found.pk, "next_attempt_at": found.not_before if waits else None, "reason": said_of(found.error)}
    return more | {name: getattr(found, name) for name in names}
