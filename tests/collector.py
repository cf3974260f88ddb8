"""A collector of traces for tests."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


class Collector:
    """A collector of OTLP over HTTP on this machine; ``bodies`` are what it was sent."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []
        bodies = self.bodies

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def received(self) -> Iterator[tuple[str, Any]]:
        """(the program that sent it, a span)."""
        for body in list(self.bodies):
            for part in ExportTraceServiceRequest.FromString(body).resource_spans:
                about = {each.key: each.value.string_value for each in part.resource.attributes}
                for scope in part.scope_spans:
                    yield from ((about["malpan.program"], span) for span in scope.spans)

    def spans(self) -> dict[str, Any]:
        """What was received, by name."""
        return {span.name: span for _program, span in self.received()}

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()
