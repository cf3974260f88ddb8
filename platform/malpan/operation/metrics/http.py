"""Counts requests and the time they take, in the process that answers them.

Several web processes serve one site, and a scrape reaches any of them: with ``PROMETHEUS_MULTIPROC_DIR`` all of them
count in files there, and each reports the sum. ``manage.py up`` sets it; without it a process reports its own counts.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Final

from django.http import HttpRequest, HttpResponse
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.multiprocess import MultiProcessCollector

from malpan.core.log import route_of

METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
BUCKETS: Final = (0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)  # seconds

if folder := os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
    os.makedirs(folder, mode=0o700, exist_ok=True)
COUNTS = CollectorRegistry()
_requests = Counter("malpan_http_requests", "Requests answered.", ["method", "route", "status"], registry=COUNTS)
_seconds = Histogram(
    "malpan_http_request_seconds", "Time to answer a request.", ["route"], registry=COUNTS, buckets=BUCKETS
)


def counted_requests() -> CollectorRegistry:
    """A registry with the counts of this process, or of all of this machine."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return COUNTS
    registry = CollectorRegistry()
    MultiProcessCollector(registry)
    return registry


class CountRequestsMiddleware:
    """Counts every request by the pattern of its address, of which there is a bounded number, never by the address."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        began = time.perf_counter()
        response = self.get_response(request)
        route = route_of(request)
        method = request.method if request.method in METHODS else "other"
        _requests.labels(method, route, str(response.status_code)).inc()
        _seconds.labels(route).observe(time.perf_counter() - began)
        return response
