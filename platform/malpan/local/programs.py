"""The programs of a running site, and how each is started and stopped."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

# A program that ends with this code refuses its settings: restarting it would not help (sysexits.h)
EX_CONFIG = 78

DEMO_JUDGE_URL = "MALPAN_DEMO_JUDGE_URL"
CELERY = ("-m", "celery", "--app", "malpan", "--quiet")
CLOCK = ("-m", "celery", "--app", "malpan.clock", "--quiet")
STEADY = ("--without-gossip", "--without-mingle")
# Django's checks import every page, and Celery does not even read what they say: seconds of a start
NO_PAGES = {"CELERY_SKIP_CHECKS": "1"}
# of web servers' connections: nobody waits for ever for a row, and a process that hangs holds none for ever
PAGE_LIMITS = "-c statement_timeout=120s -c idle_in_transaction_session_timeout=300s"


@dataclass(frozen=True, slots=True)
class Program:
    """One program under the supervisor. ``grace`` is in seconds; ``descriptors`` are open files that it inherits. While
    one of the programs ``after`` is starting, this one is not started; they come before it in a list of programs.
    """

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: int = signal.SIGTERM
    grace: float = 10.0
    after: tuple[str, ...] = ()
    runs_once: bool = False
    descriptors: tuple[int, ...] = ()
    prefixed: bool = True


def programs_of(
    root: Path,
    run_directory: Path,
    *,
    listen_descriptor: int,
    threads: int,
    workers: int = 1,
    web_workers: int = 1,
    judge_descriptor: int | None = None,
) -> list[Program]:
    """Web server, ``workers`` scoring workers with ``threads`` threads each, housekeeper, beat, and ``announce``; with
    ``judge_descriptor``, a listening socket, the demo judge too.
    """
    return [
        *([] if judge_descriptor is None else [_demo_judge(judge_descriptor)]),
        _web_server(0, listen_descriptor),
        _scoring_worker(0, threads),
        *(_web_server(number, listen_descriptor) for number in range(1, web_workers)),
        *(_scoring_worker(number, threads) for number in range(1, workers)),
        _chores(),
        _beat(run_directory),
        Program("site", (str(root / "manage.py"), "announce"), after=("web",), runs_once=True, prefixed=False),
    ]


def programs_alone(run_directory: Path, *, worker_number: int, threads: int) -> dict[str, Program]:
    """The programs by the names under which ``manage.py run`` starts one of them: in a unit of systemd, a container."""
    return {
        "web": _web_server(),
        "worker": _scoring_worker(worker_number, threads),
        "chores": _chores(),
        "beat": _beat(run_directory),
    }


def threads_of_a_worker(wanted: int, workers: int) -> int:
    """How many threads a scoring worker has: ``wanted``, or for 0 its share of the processors."""
    return wanted or max(1, (os.cpu_count() or 1) // workers)


def _web_server(number: int = 0, listen_descriptor: int | None = None) -> Program:
    """One process of the web server; with ``listen_descriptor`` all of them serve that socket."""
    return Program(
        f"web-{number + 1}" if number else "web",
        ("-m", "malpan.web_server"),
        {
            "PGOPTIONS": os.environ.get("PGOPTIONS", PAGE_LIMITS),
            **({} if listen_descriptor is None else {"MALPAN_LISTEN_FD": str(listen_descriptor)}),
        },
        after=("web", "worker") if number else (),
        descriptors=() if listen_descriptor is None else (listen_descriptor,),
    )


def _scoring_worker(number: int, threads: int) -> Program:
    """One scoring worker of ``threads``; ``number``, from 0, is unique on this machine."""
    suffix = f"-{number + 1}" if number else ""
    name = f"scoring-{number}" if number else "scoring"  # as the unit malpan-worker@1 is called
    return Program(
        f"worker{suffix}",
        (
            *CELERY, "worker", "--queues", "scoring", "--concurrency", "1",
            "--hostname", f"{name}@%h", *STEADY,
        ),
        {
            **NO_PAGES,
            "SCORING_WORKER_NUMBER": str(number),
            "OMP_NUM_THREADS": str(threads),
            "TOKENIZERS_PARALLELISM": "false",
            "TRANSFORMERS_VERBOSITY": "error",
        },
        stop_signal=signal.SIGQUIT,  # a few seconds for the current run, then it goes back to the queue
        grace=20.0,
        after=("worker",) if number else (),
    )  # fmt: skip


def _demo_judge(descriptor: int) -> Program:
    """The demo judge; it has nothing to finish when it is stopped."""
    arguments = ("-m", "scoring.judging.demo", "--descriptor", str(descriptor))
    return Program("judge", arguments, grace=2.0, descriptors=(descriptor,))


def _chores() -> Program:
    return Program(
        "chores",
        (
            *CELERY, "worker", "--queues", "housekeeping", "--pool", "threads", "--concurrency", "2",
            "--hostname", "chores@%h", *STEADY,
        ),
        {**NO_PAGES, "LOG_LEVEL": os.environ.get("LOG_LEVEL", "WARNING")},  # else a useless line every ten seconds
    )  # fmt: skip


def _beat(run_directory: Path) -> Program:
    arguments = (*CLOCK, "beat", "--schedule", str(run_directory / "beat-schedule"), "--pidfile=")
    return Program("beat", arguments)


def child_environment(
    root: Path, var_directory: Path, *, url: str, started: float, counts: Path, temporary: Path, judge_url: str = ""
) -> dict[str, str]:
    """The environment of every program, in addition to that of the supervisor.

    In the folder ``counts`` all web processes count requests together (``operation.metrics.http``); files on their way
    are in ``temporary`` (``core.temporary``). ``judge_url``: of the demo judge, which the demo profile names.
    """
    return {
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser",  # a container's only user is often root
        "SITE_URL": os.environ.get("SITE_URL", url),
        "MALPAN_VAR": str(var_directory),
        "PROMETHEUS_MULTIPROC_DIR": str(counts),
        "TMPDIR": str(temporary),
        "MALPAN_LOCAL_URL": url,
        "MALPAN_STARTED_AT": str(started),
        **({DEMO_JUDGE_URL: judge_url} if judge_url else {}),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }
