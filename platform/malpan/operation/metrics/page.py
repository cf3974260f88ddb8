"""The address that a Prometheus server reads."""

from __future__ import annotations

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.csrf import csrf_exempt
from prometheus_client import CollectorRegistry
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST, generate_latest

from malpan.operation.metrics import storage  # noqa: F401 (counts from here on)
from malpan.operation.metrics.http import counted_requests
from malpan.operation.metrics.site import SiteCollector


@csrf_exempt  # it only reads, and a stranger must not see that there is anything
def openmetrics(request: HttpRequest) -> HttpResponse:
    """All metrics in the OpenMetrics format for who sends ``METRICS_TOKEN``; for anybody else there is no such page."""
    given = request.headers.get("Authorization", "").encode(errors="surrogateescape")
    if not settings.METRICS_TOKEN or not constant_time_compare(given, f"Bearer {settings.METRICS_TOKEN}"):
        raise Http404
    return HttpResponse(exposition(), content_type=CONTENT_TYPE_LATEST)


def exposition() -> bytes:
    """The site's metrics, then those of its requests."""
    site = CollectorRegistry()
    site.register(SiteCollector())
    requests = generate_latest(counted_requests())
    return generate_latest(site).removesuffix(b"# EOF\n") + requests
