"""Traces, where an operator switches them on: one from the upload of a file to its score.

They are on where ``OTEL_EXPORTER_OTLP_ENDPOINT`` names a collector; the other ``OTEL_…`` variables are the library's
(sampling, headers, timeouts). A request begins a trace; a job continues that of the request that queued it. As with log
lines (``core.log``) a span names ids, patterns of addresses and classes of errors, and no text: the messages of errors
are not recorded. Where traces are off this loads nothing of the library.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

ENDPOINT: Final = "OTEL_EXPORTER_OTLP_ENDPOINT"
NAME: Final = "malpan"
PARENT: Final = "traceparent"  # the W3C's header, which a job keeps


def is_on() -> bool:
    return bool(os.environ.get(ENDPOINT))


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[Span | None]:
    """A span around the block, below the present one; ``None`` where traces are off.

    An error that leaves the block marks the span with its class.
    """
    if not is_on():
        yield None
        return
    with (
        _provider(os.getpid())
        .get_tracer(NAME)
        .start_as_current_span(
            name, attributes=dict(attributes), record_exception=False, set_status_on_exception=False
        ) as begun
    ):
        try:
            yield begun
        except Exception as error:
            note_error(begun, type(error).__name__)
            raise


def note_error(begun: Span | None, name: str) -> None:
    """Mark a span as failed, by the class of an error or the status of an answer."""
    if begun is None:
        return
    from opentelemetry.trace import StatusCode

    begun.set_attribute("error.type", name)
    begun.set_status(StatusCode.ERROR)


def parent_of_now() -> str:
    """What a job keeps of the present span, for ``continued``; empty where there is none."""
    if not is_on():
        return ""
    carrier: dict[str, str] = {}
    _propagator().inject(carrier)
    return carrier.get(PARENT, "")


@contextmanager
def continued(parent: str) -> Iterator[None]:
    """Spans of the block belong to the trace of ``parent``; to a new one if it is empty."""
    if not is_on() or not parent:
        yield
        return
    from opentelemetry import context

    token = context.attach(_propagator().extract({PARENT: parent}))
    try:
        yield
    finally:
        context.detach(token)


@cache
def _provider(_process: int) -> TracerProvider:
    """What gives out spans of this process: a forked one has its own, as threads do not survive a fork."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.resources import Resource
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import BatchSpanProcessor

    program = os.environ.get("MALPAN_PROGRAM", "")
    resource = Resource.create({"service.name": os.environ.get("OTEL_SERVICE_NAME", NAME), "malpan.program": program})
    provider = TracerProvider(resource=resource)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider


@cache
def _propagator() -> Any:
    from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

    return TraceContextTextMapPropagator()
