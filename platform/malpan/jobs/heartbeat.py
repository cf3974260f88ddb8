"""A worker process reports now and then that it is alive, and a few numbers, whether or not there is work.

Who is alive is in the database, as everything else of the queue is: it is known of every machine, without asking any.
A process that ends in order says so and has no row any more; one that says nothing for ``silence_limit`` is an alarm.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from django.conf import settings
from django.db import connection
from django.db.models import DurationField, ExpressionWrapper, F
from django.db.models.functions import Now

from malpan.jobs.clock import database_now
from malpan.jobs.models import Worker
from malpan.jobs.outage import UNREACHABLE

logger = logging.getLogger(__name__)

BEAT_SECONDS: Final = 10.0
BEATS_IN_LIMIT: Final = 4  # a short limit makes for shorter pauses
FORGOTTEN: Final = timedelta(days=1)

Numbers = Callable[[], Mapping[str, float]]
About = Callable[[], Mapping[str, Any]]
Refusal = Callable[[], str]

_doing: int | None = None  # the job that this process does
_beating = threading.Lock()  # held for a beat; after the end of the process in order there is none
_has_ended = threading.Event()


@dataclass(frozen=True, slots=True)
class Scorer:
    """A process as it last reported. ``silence``: how long ago; ``is_silent``: for too long."""

    worker: Worker
    silence: timedelta
    is_silent: bool

    @property
    def is_working(self) -> bool:
        """Whether it takes work."""
        return not self.is_silent and not self.worker.refusal


@dataclass(frozen=True, slots=True)
class Scorers:
    """All processes that reported within a day and did not end in order."""

    all: tuple[Scorer, ...]

    @property
    def working(self) -> int:
        """How many take work."""
        return sum(each.is_working for each in self.all)

    @property
    def silent(self) -> tuple[Scorer, ...]:
        """Those that said nothing for too long: dead, cut off, or standing still."""
        return tuple(each for each in self.all if each.is_silent)

    @property
    def last_silence(self) -> timedelta | None:
        """How long ago anybody reported; ``None`` if nobody did."""
        return min((each.silence for each in self.all), default=None)


def silence_limit() -> timedelta:
    """Who said nothing for longer is taken for dead."""
    return timedelta(seconds=settings.SCORER_SILENCE_SECONDS)


def scorers() -> Scorers:
    """The processes as the database's clock has them, by name. One query, of a small table."""
    silence = ExpressionWrapper(Now() - F("seen_at"), output_field=DurationField())
    rows = Worker.objects.filter(seen_at__gte=Now() - FORGOTTEN).annotate(silence=silence)
    limit = silence_limit()
    spans = [(row, max(timedelta(0), row.silence)) for row in rows]
    return Scorers(tuple(Scorer(row, span, span > limit) for row, span in spans))


def is_anybody_working() -> bool:
    """Whether a process that does jobs said lately that it is alive and takes work."""
    return Worker.objects.filter(seen_at__gte=Now() - silence_limit(), refusal="").exists()


def beat(name: str, numbers: Mapping[str, float], refusal: str = "", *, about: Mapping[str, Any] | None = None) -> None:
    """Write that the process ``name`` is alive, what it is ``about`` and, with a ``refusal``, why it takes no work."""
    now = database_now()
    row = Worker(name=name[:140], seen_at=now, numbers=dict(numbers), about=dict(about or {}), refusal=refusal)
    Worker.objects.bulk_create(
        [row], update_conflicts=True, unique_fields=["name"], update_fields=["seen_at", "numbers", "about", "refusal"]
    )
    Worker.objects.filter(seen_at__lt=now - FORGOTTEN).delete()


def say_goodbye(name: str) -> None:
    """This process ends in order: nobody misses it, and it beats no more. Its reason for a refusal stays."""
    _has_ended.set()
    with _beating:
        try:
            Worker.objects.filter(name=name[:140], refusal="").delete()
        except UNREACHABLE:
            logger.warning("%s: the database is unreachable; it will be missed for a while", name)


@contextmanager
def doing(job: int) -> Iterator[None]:
    """Inside, this process reports that it does ``job``."""
    global _doing
    _doing = job
    try:
        yield
    finally:
        _doing = None


def keep_beating(name: str, numbers: Numbers, refusal: Refusal = str, about: About = dict) -> threading.Thread:
    """Beat every ``BEAT_SECONDS``, or oftener with a short limit of silence, until this process ends: in a thread with
    a database connection of its own.
    """
    values = (name, numbers, refusal, about)
    thread = threading.Thread(target=_beat_for_ever, args=values, name="heartbeat", daemon=True)
    thread.start()
    return thread


def _beat_for_ever(name: str, numbers: Numbers, refusal: Refusal, about: About) -> None:
    pause = min(BEAT_SECONDS, silence_limit().total_seconds() / BEATS_IN_LIMIT)
    while not _has_ended.is_set():
        with _beating:
            if not _has_ended.is_set():
                _beat_or_warn(name, numbers, refusal, about)
        _has_ended.wait(pause)


def _beat_or_warn(name: str, numbers: Numbers, refusal: Refusal, about: About) -> None:
    try:
        beat(name, numbers(), refusal(), about={**about(), "job": _doing})
    except UNREACHABLE:
        logger.warning("%s: the database is unreachable; it will be told later that this worker is alive", name)
        connection.close()
