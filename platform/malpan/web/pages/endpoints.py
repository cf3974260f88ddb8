"""The pages of webhooks, whoever owns them: a person, or a competition."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _

from malpan.accounts.models import User
from malpan.core.errors import DomainError
from malpan.notifications import endpoints
from malpan.notifications.errors import EndpointAddressRefused
from malpan.notifications.failing import said_of
from malpan.notifications.models import Endpoint, Letter
from malpan.notifications.signatures import secret_of
from malpan.notifications.webhooks import TEST
from malpan.web.acting import act, posted
from malpan.web.forms.fields import ConfirmForm
from malpan.web.forms.webhooks import EndpointForm
from malpan.web.pages.context import page_of


@dataclass(frozen=True, slots=True)
class Owner:
    """Whose webhooks they are: ``rows``.

    ``labels``: the events that they may hear of; ``address`` of a page or action called ``webhook…``; ``context`` of
    its template.
    """

    actor: User
    rows: QuerySet[Any]
    labels: Mapping[str, str | Promise]
    address: Callable[..., str]
    create: Callable[[str, list[str]], Endpoint]
    context: Mapping[str, Any]

    def label(self, event: str) -> str | Promise:
        return _("시험") if event == TEST else self.labels.get(event, event)


@dataclass(frozen=True, slots=True)
class Line:
    """An endpoint of the list, with the labels of its events."""

    endpoint: Endpoint
    events: list[str | Promise]
    href: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """What was sent. ``kind`` of its badge; ``resend``: where to have it sent again, empty if it cannot be now;
    ``next_at``: when it is tried again.
    """

    letter: Letter
    label: str | Promise
    host: str
    href: str
    kind: str
    resend: str
    next_at: datetime | None
    error: str


def list_page(request: HttpRequest, owner: Owner) -> HttpResponse:
    """The webhooks with what was sent; a POST makes another."""
    form = EndpointForm(posted(request), labels=owner.labels)
    if not form.is_bound:
        return _list(request, owner, form)

    def create(values: dict[str, Any]) -> None:
        messages.success(request, secret_of(owner.create(values["url"], values["events"])), extra_tags="webhook-secret")

    return act(
        request,
        create,
        form=form,
        to=owner.address("webhooks"),
        render_again=lambda status: _list(request, owner, form, status),
        error_field=_field_of,
    )


def one_page(request: HttpRequest, owner: Owner, pk: int) -> HttpResponse:
    """One of them, with what was sent to it; a POST changes it. Raises ``EndpointNotFound``."""
    endpoint = endpoints.endpoint_of(owner.rows, pk)
    initial = {"url": endpoint.url, "events": endpoint.events}
    form = EndpointForm(posted(request), labels=owner.labels, initial=initial)
    if not form.is_bound:
        return _one(request, owner, endpoint, form)
    return act(
        request,
        lambda values: endpoints.update_endpoint(endpoint=endpoint, actor=owner.actor, **values),
        form=form,
        to=owner.address("webhook", pk),
        success=_("저장했습니다."),
        render_again=lambda status: _one(request, owner, endpoint, form, status=status),
        error_field=_field_of,
    )


def switch(request: HttpRequest, owner: Owner, pk: int) -> HttpResponse:
    """Switch it off, or with ``is_on`` on again. Raises ``EndpointNotFound``."""
    endpoint, is_on = endpoints.endpoint_of(owner.rows, pk), "is_on" in request.POST
    return act(
        request,
        lambda _values: endpoints.switch_endpoint(endpoint=endpoint, actor=owner.actor, is_on=is_on),
        to=owner.address("webhook", pk),
        success=_("웹훅을 켰습니다.") if is_on else _("웹훅을 껐습니다."),
    )


def send_test(request: HttpRequest, owner: Owner, pk: int) -> HttpResponse:
    """Send it an event of the type ``test``. Raises ``EndpointNotFound``."""
    endpoint = endpoints.endpoint_of(owner.rows, pk)
    return act(
        request,
        lambda _values: endpoints.try_endpoint(endpoint=endpoint),
        to=owner.address("webhook", pk),
        success=_("시험 사건을 곧 보냅니다. 1분에 한 번 보낼 수 있습니다."),
    )


def remove(request: HttpRequest, owner: Owner, pk: int) -> HttpResponse:
    """Remove it if the box beside the button is ticked. Raises ``EndpointNotFound``."""
    endpoint = endpoints.endpoint_of(owner.rows, pk)
    confirm = _removal_form(request.POST)
    form = EndpointForm(labels=owner.labels, initial={"url": endpoint.url, "events": endpoint.events})
    return act(
        request,
        lambda _values: endpoints.remove_endpoint(endpoint=endpoint, actor=owner.actor),
        form=confirm,
        to=owner.address("webhooks"),
        success=_("웹훅과 그 기록을 지웠습니다."),
        render_again=lambda status: _one(request, owner, endpoint, form, removal=confirm, status=status),
    )


def resend(request: HttpRequest, owner: Owner, pk: int) -> HttpResponse:
    """Have something sent again. Raises ``EndpointNotFound``."""
    letter = endpoints.delivery_of(owner.rows, pk)
    return act(
        request,
        lambda _values: endpoints.send_again(rows=owner.rows, pk=pk),
        to=owner.address("webhook", letter.endpoint_id),
        success=_("곧 다시 보냅니다. 받는 쪽은 같은 webhook-id를 받습니다."),
    )


def _field_of(error: DomainError) -> str | None:
    return "url" if isinstance(error, EndpointAddressRefused) else None


def _removal_form(data: object = None) -> ConfirmForm:
    sentence = _("이 웹훅을 기록과 함께 지웁니다. 같은 비밀 값으로 다시 만들 수 없습니다.")
    return ConfirmForm(data, key="remove", sentence=sentence)


def _list(request: HttpRequest, owner: Owner, form: EndpointForm, status: int = 200) -> HttpResponse:
    lines = [
        Line(each, [owner.label(name) for name in each.events], owner.address("webhook", each.pk))
        for each in owner.rows
    ]
    context = {
        "heading": _("웹훅"),
        "make": _("웹훅 만들기"),
        "own": _("만든 웹훅"),
        "make_at": owner.address("webhooks"),
        "form": form,
        "lines": lines,
        "limit": endpoints.ENDPOINTS_MAX,
        **_log(request, owner, owner.rows),
    }
    return render(request, "pages/webhooks.html", {**owner.context, **context}, status=status)


def _one(
    request: HttpRequest,
    owner: Owner,
    endpoint: Endpoint,
    form: EndpointForm,
    *,
    removal: ConfirmForm | None = None,
    status: int = 200,
) -> HttpResponse:
    context = {
        "endpoint": endpoint,
        "form": form,
        "removal": removal or _removal_form(),
        "back": owner.address("webhooks"),
        "to": {name: owner.address(f"webhook_{name}", endpoint.pk) for name in ("test", "switch", "remove")},
        **_log(request, owner, owner.rows.filter(pk=endpoint.pk)),
    }
    return render(request, "pages/webhook.html", {**owner.context, **context}, status=status)


def _log(request: HttpRequest, owner: Owner, rows: QuerySet[Any]) -> dict[str, Any]:
    page = page_of(request, endpoints.deliveries_of(rows))
    return {"page": page, "deliveries": [_delivery(owner, each) for each in page]}


def _delivery(owner: Owner, letter: Letter) -> Delivery:
    assert letter.endpoint is not None
    is_off = letter.endpoint.off_at is not None
    is_tried_again = letter.state == Letter.State.WAITING and letter.attempts > 0
    return Delivery(
        letter=letter,
        label=owner.label(letter.event),
        host=urlsplit(letter.endpoint.url).hostname or "",
        href=owner.address("webhook", letter.endpoint.pk),
        kind={Letter.State.SENT: "success", Letter.State.FAILED: "error"}.get(Letter.State(letter.state), ""),
        resend="" if is_off else owner.address("webhook_resend", letter.pk),
        next_at=letter.not_before if is_tried_again else None,
        error=said_of(letter.error),
    )
