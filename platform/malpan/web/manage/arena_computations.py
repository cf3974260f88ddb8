"""Whether a worker has computed what a page waits for."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import render
from django.urls import path
from django.views.decorators.http import require_GET
from django_htmx.http import HttpResponseStopPolling

from malpan.arena.computations import computation_of, is_under_way
from malpan.competitions.permissions import Permission
from malpan.web.manage.access import ManageAccess, manage_page
from malpan.web.pages.context import MemberRequest


@require_GET
@manage_page(Permission.VIEW)
def computation_fragment(request: MemberRequest, access: ManageAccess, pk: int) -> HttpResponse:
    """What htmx polls: 204 while it is computed; then the page is loaded again.

    A page that ``stays``, as somebody may write in its forms, gets a link for that. Raises ``ComputationNotFound``.
    """
    if is_under_way(computation_of(access.competition, pk)):
        return HttpResponse(status=204)
    if "stays" in request.GET:
        return render(request, "manage/arena_computed.html", status=HttpResponseStopPolling.status_code)
    response = HttpResponseStopPolling()
    response["HX-Refresh"] = "true"
    return response


urlpatterns = [path("arena/computations/<int:pk>/", computation_fragment, name="manage_arena_computation")]
