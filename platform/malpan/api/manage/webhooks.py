"""The webhooks of a competition, and what was sent to them."""

from __future__ import annotations

from typing import Any, Final

from django.db.models import QuerySet
from django.utils.translation import gettext_noop as _

from malpan.api.frame import ApiRequest
from malpan.api.manage.access import MANAGE, ManageOperations, managed
from malpan.api.reading import paged
from malpan.api.schemas import webhooks as shown
from malpan.api.schemas.kinds import Page, PageNumber, PageSize
from malpan.api.webhooks import changed
from malpan.competitions import programs
from malpan.competitions.models import CompetitionEndpoint
from malpan.competitions.permissions import Permission
from malpan.notifications import endpoints

operations = ManageOperations(_("운영: 웹훅"))
ALL: Final = f"{MANAGE}/webhooks/"
ONE: Final = f"{ALL}{{int:pk}}/"


def own(request: ApiRequest, slug: str) -> QuerySet[CompetitionEndpoint]:
    return programs.endpoints_of(managed(request, slug, Permission.MANAGE))


def named(request: ApiRequest, slug: str, pk: int) -> CompetitionEndpoint:
    return endpoints.endpoint_of(own(request, slug), pk)


@operations.get(ALL, "listCompetitionWebhooks", _("대회의 웹훅"), Page[shown.Webhook])
def webhook_list(request: ApiRequest, slug: str, page: PageNumber = 1, page_size: PageSize = 50) -> Any:
    return paged(request, own(request, slug), page, page_size, shown.webhook)


@operations.post(
    ALL,
    "createCompetitionWebhook",
    _("대회의 웹훅 만들기"),
    shown.WebhookMade,
    status=201,
    says=_("서명을 확인할 비밀 값은 이 응답에만 있습니다."),
    is_once=False,
)
def create(request: ApiRequest, slug: str, data: shown.NewCompetitionWebhook) -> Any:
    competition = managed(request, slug, Permission.MANAGE)
    made = programs.create_endpoint(
        competition=competition, url=data.url, events=data.events, actor=request.auth.person
    )
    return shown.webhook_made(made)


@operations.get(ONE, "getCompetitionWebhook", _("대회의 웹훅 하나"), shown.Webhook)
def webhook(request: ApiRequest, slug: str, pk: int) -> Any:
    return shown.webhook(named(request, slug, pk))


@operations.patch(ONE, "updateCompetitionWebhook", _("대회 웹훅의 주소와 사건을 바꾸기, 끄고 켜기"), shown.Webhook)
def update(request: ApiRequest, slug: str, pk: int, data: shown.CompetitionWebhookChange) -> Any:
    return shown.webhook(changed(request, named(request, slug, pk), data))


@operations.delete(ONE, "removeCompetitionWebhook", _("대회의 웹훅을 기록과 함께 지우기"))
def remove(request: ApiRequest, slug: str, pk: int) -> Any:
    endpoints.remove_endpoint(endpoint=named(request, slug, pk), actor=request.auth.person)


@operations.post(
    f"{ONE}test/",
    "testCompetitionWebhook",
    _("대회의 웹훅에 시험 사건 보내기"),
    shown.Delivery,
    status=202,
    says=_("1분에 한 번 보냅니다. 같은 1분 안에는 이미 보낸 것을 답합니다."),
)
def test(request: ApiRequest, slug: str, pk: int) -> Any:
    return shown.delivery(endpoints.try_endpoint(endpoint=named(request, slug, pk)))


@operations.get(
    f"{ONE}deliveries/",
    "listCompetitionDeliveries",
    _("대회의 웹훅에 보낸 기록, 새것부터"),
    Page[shown.Delivery],
)
def delivery_list(request: ApiRequest, slug: str, pk: int, page: PageNumber = 1, page_size: PageSize = 50) -> Any:
    rows = endpoints.deliveries_of(own(request, slug).filter(pk=named(request, slug, pk).pk))
    return paged(request, rows, page, page_size, shown.delivery)


@operations.post(
    f"{ONE}deliveries/{{int:delivery_pk}}/resend/",
    "resendCompetitionDelivery",
    _("대회의 웹훅에 같은 webhook-id로 다시 보내기"),
    shown.Delivery,
    status=202,
)
def resend(request: ApiRequest, slug: str, pk: int, delivery_pk: int) -> Any:
    return shown.delivery(endpoints.send_again(rows=own(request, slug).filter(pk=pk), pk=delivery_pk))
