"""The webhooks of a person, and what was sent to them."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext_noop as _

from malpan.accounts.models import Scope
from malpan.api.frame import ApiRequest, Operations
from malpan.api.reading import paged
from malpan.api.schemas import webhooks as shown
from malpan.api.schemas.kinds import Page, PageNumber, PageSize
from malpan.notifications import endpoints
from malpan.notifications.models import Endpoint

operations = Operations(_("웹훅"))
ONE: Final = "/webhooks/{int:pk}/"
MASKED: Final = _("읽기만 하는 토큰에는 주소의 호스트만 보입니다. 그 뒤는 비밀일 수 있습니다.")


def own(request: ApiRequest) -> QuerySet[Endpoint]:
    return endpoints.endpoints_of(request.auth.person)


def named(request: ApiRequest, pk: int) -> Endpoint:
    return endpoints.endpoint_of(own(request), pk)


def shown_to(request: ApiRequest, found: Endpoint) -> dict[str, Any]:
    """The whole address only to a token that may do more than read."""
    may_write = request.auth.may(Scope.SUBMIT) or request.auth.may(Scope.ORGANISE)
    return shown.webhook(found, is_masked=not may_write)


@operations.get("/webhooks/", "listWebhooks", _("내 웹훅"), Page[shown.Webhook], says=MASKED)
def webhook_list(request: ApiRequest, page: PageNumber = 1, page_size: PageSize = 50) -> Any:
    return paged(request, own(request), page, page_size, partial(shown_to, request))


@operations.post(
    "/webhooks/",
    "createWebhook",
    _("웹훅 만들기"),
    shown.WebhookMade,
    status=201,
    scope=Scope.SUBMIT,
    says=_("서명을 확인할 비밀 값은 이 응답에만 있습니다."),
    is_once=False,
)
def create(request: ApiRequest, data: shown.NewWebhook) -> Any:
    made = endpoints.create_endpoint(person=request.auth.person, url=data.url, events=data.events)
    return shown.webhook_made(made)


@operations.get(ONE, "getWebhook", _("내 웹훅 하나"), shown.Webhook, says=MASKED)
def webhook(request: ApiRequest, pk: int) -> Any:
    return shown_to(request, named(request, pk))


@operations.patch(ONE, "updateWebhook", _("웹훅의 주소와 사건을 바꾸기, 끄고 켜기"), shown.Webhook, scope=Scope.SUBMIT)
def update(request: ApiRequest, pk: int, data: shown.WebhookChange) -> Any:
    return shown.webhook(changed(request, named(request, pk), data))


@operations.delete(ONE, "removeWebhook", _("웹훅을 기록과 함께 지우기"), scope=Scope.SUBMIT)
def remove(request: ApiRequest, pk: int) -> Any:
    endpoints.remove_endpoint(endpoint=named(request, pk), actor=request.auth.person)


@operations.post(
    f"{ONE}test/",
    "testWebhook",
    _("시험 사건 보내기"),
    shown.Delivery,
    status=202,
    scope=Scope.SUBMIT,
    says=_("1분에 한 번 보냅니다. 같은 1분 안에는 이미 보낸 것을 답합니다."),
)
def test(request: ApiRequest, pk: int) -> Any:
    return shown.delivery(endpoints.try_endpoint(endpoint=named(request, pk)))


@operations.get(f"{ONE}deliveries/", "listDeliveries", _("웹훅에 보낸 기록, 새것부터"), Page[shown.Delivery])
def delivery_list(request: ApiRequest, pk: int, page: PageNumber = 1, page_size: PageSize = 50) -> Any:
    endpoint = named(request, pk)
    rows = endpoints.deliveries_of(own(request).filter(pk=endpoint.pk))
    return paged(request, rows, page, page_size, shown.delivery)


@operations.post(
    f"{ONE}deliveries/{{int:delivery_pk}}/resend/",
    "resendDelivery",
    _("같은 webhook-id로 다시 보내기"),
    shown.Delivery,
    status=202,
    scope=Scope.SUBMIT,
)
def resend(request: ApiRequest, pk: int, delivery_pk: int) -> Any:
    return shown.delivery(endpoints.send_again(rows=own(request).filter(pk=pk), pk=delivery_pk))


def changed(
    request: ApiRequest, endpoint: Endpoint, data: shown.WebhookChange | shown.CompetitionWebhookChange
) -> Endpoint:
    """``endpoint`` as ``data`` says."""
    given = data.given()
    is_on, actor = given.pop("is_on", None), request.auth.person
    found = endpoints.update_endpoint(endpoint=endpoint, actor=actor, **given)
    return found if is_on is None else endpoints.switch_endpoint(endpoint=found, actor=actor, is_on=is_on)
