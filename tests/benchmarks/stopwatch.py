"""What the server itself takes for a request: a middleware that says it in the answer's ``Server-Timing`` header.

Not in it: reading the request, waiting for a thread, sending the answer, and the processor time of the database.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from django.db import connection
from django.http import HttpRequest, HttpResponse

HEADER: Final = "Server-Timing"


@dataclass(frozen=True)
class Taken:
    """Of one request: milliseconds on the clock and of the processor, and statements sent to the database."""

    wall_ms: float
    cpu_ms: float
    queries: int

    def as_header(self) -> str:
        return f"wall;dur={self.wall_ms:.3f}, cpu;dur={self.cpu_ms:.3f}, queries;dur={self.queries}"

    @classmethod
    def of_header(cls, text: str) -> Taken:
        wall, cpu, queries = re.findall(r"dur=([\d.]+)", text)
        return cls(float(wall), float(cpu), int(queries))


class Stopwatch:
    """Must be first in ``MIDDLEWARE``."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        queries = 0

        def count(execute: Callable[..., Any], *given: Any) -> Any:
            nonlocal queries
            queries += 1
            return execute(*given)

        wall, cpu = time.perf_counter(), time.thread_time()
        with connection.execute_wrapper(count):
            response = self.get_response(request)
        taken = Taken(1000 * (time.perf_counter() - wall), 1000 * (time.thread_time() - cpu), queries)
        response[HEADER] = taken.as_header()
        return response
