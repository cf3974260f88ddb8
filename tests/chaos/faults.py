"""What is done to the site: each fault begins, lasts as long as it does, and is undone.

A fault is a context manager: entered, the fault is there; left, it is over, and what remains is the site's to mend.
"""

from __future__ import annotations

import random
import resource
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from typing import Final

import psutil
import redis

from tests.chaos.background import all_the_while
from tests.chaos.site import ChaosSite
from tests.system.stack import LEASE_SECONDS
from tests.waiting import wait_for

PAUSE_SECONDS: Final = LEASE_SECONDS + 2.0  # past the lease
FULL_SECONDS: Final = 6.0
MESSAGES_SECONDS: Final = 8.0
CLOCK_SECONDS: Final = 300.0
JOBS: Final = 3  # that a worker with another clock does before it is killed
WORKS_SECONDS: Final = 90.0
GRACE_SECONDS: Final = 60.0
_QUEUES: Final = ("scoring", "housekeeping")

Begin = Callable[[ChaosSite, random.Random], Iterator[None]]


@dataclass(frozen=True)
class Fault:
    """One kind. ``stops_passes``: while it lasts, and until the site is sound again, nobody looks for lost runs.
    ``needs_disk``: the site must be on a file system of its own, and no server can start while it lasts.
    ``kills_servers``: nobody is served until the database has been started again.
    """

    name: str
    begin: Begin
    stops_passes: bool = False
    needs_disk: bool = False
    kills_servers: bool = False


def killed(role: str, *, all_of_them: bool = False) -> Begin:
    """``kill -9``: one process of the role, or all."""

    def begin(site: ChaosSite, dice: random.Random) -> Iterator[None]:
        victims = site.roles()[role]
        for victim in victims if all_of_them else dice.sample(victims, min(1, len(victims))):
            with suppress(psutil.Error):
                victim.kill()
        yield

    return begin


def paused(role: str) -> Begin:
    """``SIGSTOP`` for longer than a lease: one process of the role with all below it."""

    def begin(site: ChaosSite, dice: random.Random) -> Iterator[None]:
        chosen = dice.sample(victims, 1) if (victims := site.roles()[role]) else []
        stopped = []
        for victim in chosen:
            below = [] if role == "supervisor" else _below(victim)  # the supervisor's programs work on
            for process in (victim, *below):
                with suppress(psutil.Error):
                    process.suspend()
                    stopped.append(process)
        try:
            time.sleep(PAUSE_SECONDS)
            yield
        finally:
            for process in stopped:
                with suppress(psutil.Error):
                    process.resume()

    return begin


def disk_full(site: ChaosSite, _dice: random.Random) -> Iterator[None]:
    """No program of the site can write a byte to a file; the servers can."""
    try:
        deadline = time.monotonic() + FULL_SECONDS
        while time.monotonic() < deadline:  # those that were started meanwhile as well
            _limit_files(site, 0)
            time.sleep(0.5)
        yield
    finally:
        _limit_files(site, resource.RLIM_INFINITY)


def every_disk_full(site: ChaosSite, _dice: random.Random) -> Iterator[None]:
    """The file system of the site is full: neither its programs nor its servers can write a byte."""
    assert site.disk is not None
    try:
        site.disk.fill()
        deadline = time.monotonic() + FULL_SECONDS
        while time.monotonic() < deadline:  # what is deleted meanwhile makes no room
            site.disk.fill()
            time.sleep(0.2)
        yield
    finally:
        site.disk.free()


def messages_dropped(site: ChaosSite, _dice: random.Random) -> Iterator[None]:
    """Messages are taken out of the broker: as many as can be had before the workers."""
    with _at_the_broker(site, lambda client, queue: client.blpop(queue, timeout=1)):
        time.sleep(MESSAGES_SECONDS)
        yield


def messages_doubled(site: ChaosSite, _dice: random.Random) -> Iterator[None]:
    """Messages come twice."""
    seen: set[bytes] = set()

    def double(client: redis.Redis, queue: str) -> None:
        taken = client.blpop(queue, timeout=1)
        if taken is None:
            return
        message = taken[1]
        client.rpush(queue, message)
        if message in seen:
            time.sleep(0.2)  # for somebody else
        else:
            client.rpush(queue, message)
            seen.add(message)

    with _at_the_broker(site, double):
        time.sleep(MESSAGES_SECONDS)
        yield


def programs_replaced(site: ChaosSite, _dice: random.Random) -> Iterator[None]:
    """Every program is asked to stop, as an upgrade asks it, one after the other: the next when all run again."""
    for role, number in (("worker", signal.SIGQUIT), *((role, signal.SIGTERM) for role in ("web", "chores", "beat"))):
        for victim in site.roles()[role]:
            with suppress(psutil.Error):
                victim.send_signal(number)
                victim.wait(GRACE_SECONDS)
            wait_for(site.is_complete, f"a {role} in its place runs", seconds=GRACE_SECONDS, every=0.2)
    yield


def clock_off(seconds: float) -> Begin:
    """One more worker, whose clock is wrong; it works for a while and is killed in the middle of a job."""

    def begin(site: ChaosSite, _dice: random.Random) -> Iterator[None]:
        name = f"clock{'+' if seconds > 0 else '-'}"
        worker = site.start_worker_with_clock(seconds, name)
        try:
            _stop_at_work(site, worker, f"{name}@%")
            yield
        finally:
            for process in (worker, *_below(worker)):
                with suppress(psutil.Error):
                    process.kill()
            worker.wait()

    return begin


FAULTS: Final = (
    Fault("child killed", killed("child")),
    Fault("child paused", paused("child")),
    Fault("worker killed", killed("worker")),
    Fault("worker paused", paused("worker")),
    Fault("both workers killed", killed("worker", all_of_them=True)),
    Fault("web process killed", killed("web")),
    Fault("web process paused", paused("web")),
    Fault("all web processes killed", killed("web", all_of_them=True)),
    Fault("housekeeper killed", killed("chores"), stops_passes=True),
    Fault("housekeeper paused", paused("chores"), stops_passes=True),
    Fault("beat killed", killed("beat"), stops_passes=True),
    Fault("beat paused", paused("beat"), stops_passes=True),
    Fault("Redis killed", killed("redis"), stops_passes=True),
    Fault("Redis paused", paused("redis"), stops_passes=True),
    Fault("PostgreSQL killed", killed("postgres"), stops_passes=True, kills_servers=True),
    Fault("PostgreSQL paused", paused("postgres"), stops_passes=True),
    Fault("supervisor killed", killed("supervisor"), stops_passes=True, kills_servers=True),
    Fault("supervisor paused", paused("supervisor")),
    Fault("programs replaced", programs_replaced, stops_passes=True),
    Fault("disk full", disk_full, stops_passes=True),
    Fault("every disk full", every_disk_full, stops_passes=True, needs_disk=True),
    Fault("messages dropped", messages_dropped, stops_passes=True),
    Fault("messages doubled", messages_doubled),
    Fault("a worker's clock ahead", clock_off(CLOCK_SECONDS)),
    Fault("a worker's clock behind", clock_off(-CLOCK_SECONDS)),
)
BY_NAME: Final = {fault.name: fault for fault in FAULTS}


def _below(process: psutil.Process) -> list[psutil.Process]:
    try:
        return process.children(recursive=True)
    except psutil.Error:
        return []


def _limit_files(site: ChaosSite, size: int) -> None:
    roles = site.roles()
    for role in ("web", "worker", "child", "chores", "beat"):
        for process in roles[role]:
            with suppress(psutil.Error, OSError):
                hard = resource.prlimit(process.pid, resource.RLIMIT_FSIZE)[1]
                resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (size, hard))


def _stop_at_work(site: ChaosSite, worker: psutil.Popen, name: str) -> None:
    """Stop ``worker`` when it has done some jobs and holds one; not for ever, as it may be unlucky."""
    claimed = "SELECT count(*) FROM chaos_move WHERE was = 'queued' AND state = 'running' AND worker LIKE %s"
    held = "SELECT count(*) FROM jobs_job WHERE state = 'running' AND worker LIKE %s"
    [[before]] = site.ask(claimed, name) or [(0,)]
    deadline = time.monotonic() + WORKS_SECONDS
    while time.monotonic() < deadline:
        if (site.ask(claimed, name) or [(0,)])[0][0] >= before + JOBS and site.ask(held, name) == [(1,)]:
            everybody = (worker, *_below(worker))
            for process in everybody:
                process.suspend()
            if site.ask(held, name) == [(1,)]:
                return
            for process in everybody:
                process.resume()
        time.sleep(0.02)


@contextmanager
def _at_the_broker(site: ChaosSite, act: Callable[[redis.Redis, str], object]) -> Iterator[None]:
    """Somebody at each queue who does ``act`` again and again, four at a time."""

    def work(queue: str, stop: threading.Event) -> None:
        client = redis.Redis(unix_socket_path=site.redis_socket)
        while not stop.is_set():
            with suppress(redis.RedisError):
                act(client, queue)
        client.close()

    with all_the_while(*(partial(work, queue) for queue in _QUEUES for _one in range(4))):
        yield
