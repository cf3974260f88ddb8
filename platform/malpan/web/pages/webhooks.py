"""웹훅: where a person's programs hear of events, and what was sent there. A new secret is shown once."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from malpan.notifications import endpoints
from malpan.notifications.errors import EndpointAddressRefused
from malpan.notifications.events import all_events
from malpan.notifications.signatures import secret_of
from malpan.notifications.webhooks import TEST
from malpan.web.acting import act
from malpan.web.forms.webhooks import EndpointForm
from malpan.web.pages.context import MemberRequest, members_only, page_of


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def webhooks_page(request: MemberRequest) -> HttpResponse:
    """The person's own webhooks with what was sent; a POST makes another."""
    form = EndpointForm(request.POST if request.method == "POST" else None)
    if request.method != "POST":
        return _page(request, form)

    def create(values: dict[str, Any]) -> None:
        made = endpoints.create_endpoint(person=request.user, url=values["url"], events=values["events"])
        messages.success(request, secret_of(made), extra_tags="webhook-secret")

    return act(
        request,
        create,
        form=form,
        to=reverse("webhooks"),
        render_again=lambda status: _page(request, form, status),
        error_field=lambda error: "url" if isinstance(error, EndpointAddressRefused) else None,
    )


@require_POST
@members_only
def switch_action(request: MemberRequest, pk: int) -> HttpResponse:
    """Switch one of the person's own webhooks off, or with ``is_on`` on again. Raises ``EndpointNotFound``."""
    endpoint = endpoints.endpoint_of(endpoints.endpoints_of(request.user), pk)
    return act(
        request,
        lambda _values: endpoints.switch_endpoint(endpoint=endpoint, actor=request.user, is_on="is_on" in request.POST),
        to=reverse("webhooks"),
        success=lambda held: _("웹훅을 켰습니다.") if held.off_at is None else _("웹훅을 껐습니다."),
    )


@require_POST
@members_only
def test_action(request: MemberRequest, pk: int) -> HttpResponse:
    """Send an event of the type ``test`` to one of the person's own webhooks. Raises ``EndpointNotFound``."""
    endpoint = endpoints.endpoint_of(endpoints.endpoints_of(request.user), pk)
    return act(
        request,
        lambda _values: endpoints.try_endpoint(endpoint=endpoint),
        to=reverse("webhooks"),
        success=_("시험 사건을 곧 보냅니다. 1분에 한 번 보낼 수 있습니다."),
    )


@require_POST
@members_only
def remove_action(request: MemberRequest, pk: int) -> HttpResponse:
    """Remove one of the person's own webhooks. Raises ``EndpointNotFound``."""
    endpoint = endpoints.endpoint_of(endpoints.endpoints_of(request.user), pk)
    return act(
        request,
        lambda _values: endpoints.remove_endpoint(endpoint=endpoint, actor=request.user),
        to=reverse("webhooks"),
        success=_("웹훅과 그 기록을 지웠습니다."),
    )


@require_POST
@members_only
def resend_action(request: MemberRequest, pk: int) -> HttpResponse:
    """Have something sent again to one of the person's own webhooks. Raises ``EndpointNotFound``."""
    return act(
        request,
        lambda _values: endpoints.send_again(rows=endpoints.endpoints_of(request.user), pk=pk),
        to=reverse("webhooks"),
        success=_("곧 다시 보냅니다. 받는 쪽은 같은 webhook-id를 받습니다."),
    )


def _page(request: MemberRequest, form: EndpointForm, status: int = 200) -> HttpResponse:
    labels = {TEST: _("시험"), **{event.name: event.label for event in all_events()}}
    held = list(endpoints.endpoints_of(request.user))
    page = page_of(request, endpoints.deliveries_of(endpoints.endpoints_of(request.user)))
    context = {
        "form": form,
        "endpoints": [(each, [labels.get(name, name) for name in each.events]) for each in held],
        "page": page,
        "deliveries": [(each, labels.get(each.event, each.event)) for each in page],
        "limit": endpoints.ENDPOINTS_MAX,
    }
    return render(request, "pages/webhooks.html", context, status=status)
