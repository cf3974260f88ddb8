"""Counts the requests of a web process to a store of files that is on the network, and their seconds."""

from __future__ import annotations

from prometheus_client import Counter, Histogram

from malpan.core.storage.stores import listeners
from malpan.operation.metrics.http import BUCKETS, COUNTS

_requests = Counter(
    "malpan_storage_requests", "Requests to the store of files.", ["operation", "outcome"], registry=COUNTS
)
_seconds = Histogram(
    "malpan_storage_request_seconds",
    "Time until the store answered or was given up.",
    ["operation"],
    registry=COUNTS,
    buckets=BUCKETS,
)


def count_request(operation: str, outcome: str, seconds: float) -> None:
    """One of ``stores.listeners``."""
    _requests.labels(operation, outcome).inc()
    if outcome != "refused":  # it took no time of the store's
        _seconds.labels(operation).observe(seconds)


listeners.append(count_request)
