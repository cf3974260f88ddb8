"""Webhooks of the competition: where organisers' programs hear of its events, and what was sent there."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from django.urls import path
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from malpan.competitions import programs
from malpan.competitions.permissions import Permission
from malpan.notifications.events import all_happenings
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages import endpoints as pages
from malpan.web.pages.context import MemberRequest


def _owner(request: MemberRequest, access: ManageAccess) -> pages.Owner:
    competition, actor = access.competition, request.user
    return pages.Owner(
        actor=actor,
        rows=programs.endpoints_of(competition),
        labels={happening.name: happening.label for happening in all_happenings()},
        address=lambda name, *args: access.url(f"manage_{name}", *args),
        create=lambda url, events: programs.create_endpoint(
            competition=competition, url=url, events=events, actor=actor
        ),
        context=access.context("manage_webhooks") | {"frame": "manage/base.html"},
    )


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def webhooks_page(request: MemberRequest, access: ManageAccess) -> HttpResponse:
    """The competition's webhooks with what was sent; a POST makes another."""
    return pages.list_page(request, _owner(request, access))


@require_http_methods(["GET", "HEAD", "POST"])
@manage_page(Permission.MANAGE)
def webhook_page(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """One of the competition's webhooks; a POST changes it. Raises ``EndpointNotFound``."""
    return pages.one_page(request, _owner(request, access), pk)


def _action(act: Any) -> Any:
    """What ``act`` does with one of the competition's webhooks. Raises ``EndpointNotFound``."""

    @require_POST
    @manage_page(Permission.MANAGE)
    def view(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
        done: HttpResponse = act(request, _owner(request, access), pk)
        return done

    return view


urlpatterns = [
    path("webhooks/", webhooks_page, name="manage_webhooks"),
    path("webhooks/<int:pk>/", webhook_page, name="manage_webhook"),
    path("webhooks/<int:pk>/switch/", _action(pages.switch), name="manage_webhook_switch"),
    path("webhooks/<int:pk>/test/", _action(pages.send_test), name="manage_webhook_test"),
    path("webhooks/<int:pk>/remove/", _action(pages.remove), name="manage_webhook_remove"),
    path("webhooks/deliveries/<int:pk>/resend/", _action(pages.resend), name="manage_webhook_resend"),
]
