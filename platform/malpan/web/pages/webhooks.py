"""웹훅: where a person's programs hear of events, and what was sent there. A new secret is shown once."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from malpan.notifications import endpoints
from malpan.notifications.events import all_events
from malpan.web.pages import endpoints as pages
from malpan.web.pages.context import MemberRequest, members_only


def _owner(request: MemberRequest) -> pages.Owner:
    person = request.user
    return pages.Owner(
        actor=person,
        rows=endpoints.endpoints_of(person),
        labels={event.name: event.label for event in all_events(person)},
        address=lambda name, *args: reverse(name, args=args),
        create=lambda url, events: endpoints.create_endpoint(person=person, url=url, events=events),
        context={"frame": "base.html"},
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def webhooks_page(request: MemberRequest) -> HttpResponse:
    """The person's own webhooks with what was sent; a POST makes another."""
    return pages.list_page(request, _owner(request))


@require_http_methods(["GET", "HEAD", "POST"])
@members_only
def webhook_page(request: MemberRequest, pk: int) -> HttpResponse:
    """One of the person's own webhooks; a POST changes it. Raises ``EndpointNotFound``."""
    return pages.one_page(request, _owner(request), pk)


def _action(act: Any) -> Any:
    """What ``act`` does with one of the person's own webhooks. Raises ``EndpointNotFound``."""

    @require_POST
    @members_only
    def view(request: MemberRequest, pk: int) -> HttpResponse:
        done: HttpResponse = act(request, _owner(request), pk)
        return done

    return view


switch_action = _action(pages.switch)
test_action = _action(pages.send_test)
remove_action = _action(pages.remove)
resend_action = _action(pages.resend)
