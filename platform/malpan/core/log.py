"""Log lines: what they say of the request or job they belong to, and what they never say.

A line may name requests, runs and jobs by their ids, the pattern of an address, classes of errors and places in the
code. It never holds the address itself (keys of invitations and mails are parts of some) nor the message of an error
that may quote what it met: an answer, an e-mail address, a row of a table.
"""

from __future__ import annotations

import json
import logging
import os
import re
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import psycopg
from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from kombu.exceptions import OperationalError as BrokerUnreachable
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from malpan.core.errors import DomainError, StorageFull, StorageUnavailable, SystemFault

REQUEST_ID: Final = "malpan.request_id"  # in a request's META

# their messages say what is wrong with a service or a disk, or are a code; everybody else's may quote a text
_MAY_SPEAK: Final = (OperationalError, BrokerUnreachable, RedisError, DomainError)
_SERVED: Final = re.compile(r"(?<= while serving ).*", re.DOTALL)  # the web server's own lines end in the address
_NEAREST: Final = 3  # places of ours that asked a service which is away
_OURS: Final = Path(__file__).resolve().parents[1]

_ids: ContextVar[Mapping[str, object]] = ContextVar("ids of log lines", default={})  # noqa: B039 - it is replaced


@contextmanager
def logged_with(**ids: object) -> Iterator[None]:
    """Every line of this thread inside names these ids: ``request``, ``run``, ``job``, ``attempt``."""
    token = _ids.set({**_ids.get(), **ids})
    try:
        yield
    finally:
        _ids.reset(token)


def route_of(request: HttpRequest) -> str:
    """The pattern of the address: addresses themselves hold the keys of invitations and of mails."""
    if request.resolver_match is not None:
        return request.resolver_match.route or "/"
    return "static" if request.path.startswith(settings.STATIC_URL) else "unknown"


def log_if_ours(logger: logging.Logger, request: HttpRequest, error: DomainError) -> None:
    """Write that a fault of ours ended a request, and where; of a refusal nothing is written."""
    if isinstance(error, SystemFault):
        logger.error("%s at %s", error.code, route_of(request), exc_info=error)


class Line(logging.Formatter):
    """A line to read, with the ids at its end."""

    def format(self, record: logging.LogRecord) -> str:
        ids = " ".join(f"{name}={value}" for name, value in ids_of(record).items())
        moment = self.formatTime(record, "%H:%M:%S")
        line = f"{moment} {record.levelname:<7} {record.name}: {message_of(record)}" + (f" [{ids}]" if ids else "")
        error = _error_of(record)
        return line if error is None else f"{line}\n{places_of(error)}"


class JsonLine(logging.Formatter):
    """A JSON object a line, of a closed list of fields: nothing enters it because somebody passed it as ``extra``."""

    def format(self, record: logging.LogRecord) -> str:
        error = _error_of(record)
        fields: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname,
            "logger": record.name,
            "message": message_of(record),
            "program": os.environ.get("MALPAN_PROGRAM", ""),
            "process": record.process,
            **ids_of(record),
        }
        if error is not None:
            fields |= {"error": type(error).__name__, "places": places_of(error)}
        return json.dumps(fields, ensure_ascii=False, default=str)


def ids_of(record: logging.LogRecord) -> Mapping[str, object]:
    """The ids that the line names. Django's own about a request come after all of ours."""
    request_id = getattr(getattr(record, "request", None), "META", {}).get(REQUEST_ID)
    return {"request": request_id, **_ids.get()} if request_id else _ids.get()


def message_of(record: logging.LogRecord) -> str:
    """The message; addresses in it are replaced by their patterns, errors by their classes."""
    args: Any = record.args
    if isinstance(args, Mapping):  # Celery's of a task that failed
        error = _error_of(record)
        args = {**args, "exc": type(error).__name__, "traceback": ""} if error is not None else args
    elif isinstance(request := getattr(record, "request", None), HttpRequest):  # Django's own lines
        args = tuple(route_of(request) if str(each).startswith("/") else each for each in args or ())
    message = str(record.msg) % args if args else str(record.msg)
    return _SERVED.sub("…", message) if record.name.startswith("waitress") else message


def places_of(error: BaseException) -> str:
    """Where ``error`` and those before it were raised, and their classes: a traceback without what they say. Of a
    service that is away only the nearest of our own places: they are the same a hundred times in a minute of it.
    """
    if _is_away(error):
        places = traceback.extract_tb(error.__traceback__)
        ours = [place for place in places if Path(place.filename).is_relative_to(_OURS)]
        lines = [line.rstrip("\n") for line in traceback.format_list(ours[-_NEAREST:])]
        if isinstance(error, SystemFault) and error.__cause__ is not None:  # the others' own words say it
            lines.append(_said(error.__cause__))
        return "\n".join([*lines, _said(error)])
    before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    lines = [places_of(before), ""] if before is not None else []
    lines += ["Traceback (most recent call last):", *traceback.format_tb(error.__traceback__)]
    return "\n".join(line.rstrip("\n") for line in [*lines, _said(error)])


def _is_away(error: BaseException) -> bool:
    """Whether a service or a disk could not do what it was asked for, whatever that was."""
    if isinstance(error, BrokerUnreachable | RedisConnectionError | RedisTimeoutError):
        return True
    cause = error.__cause__
    if isinstance(error, OperationalError | InterfaceError):
        # without a code the server did not answer; 53: it has no room or no connection left; 57P: it stops, or starts
        return isinstance(cause, psycopg.Error) and (cause.sqlstate or "57P").startswith(("53", "57P"))
    return isinstance(error, StorageFull | StorageUnavailable) and cause is not None


def _error_of(record: logging.LogRecord) -> BaseException | None:
    return record.exc_info[1] if record.exc_info else None


def _said(error: BaseException) -> str:
    """The class of ``error``, and its message if that is one of a service or of a disk."""
    name = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    if isinstance(error, _MAY_SPEAK):
        return f"{name}: {str(error).partition(chr(10))[0]}"
    if isinstance(error, OSError) and type(error).__module__ == "builtins" and error.errno:
        return f"{name}: {os.strerror(error.errno)}"
    return name


class NoTracebackOfBadRequests(logging.Filter):
    """A request that cannot be parsed is its sender's fault: one line, without the traceback that Django adds."""

    def filter(self, line: logging.LogRecord) -> bool:
        if getattr(line, "status_code", 500) < 500:
            line.exc_info = None
        return True
