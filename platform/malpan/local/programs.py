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

CELERY = ("-m", "celery", "--app", "malpan", "--quiet")
STEADY = ("--without-gossip", "--without-mingle")


@dataclass(frozen=True, slots=True)
class Program:
    """One program under the supervisor. ``grace`` is in seconds; ``descriptors`` are open files that it inherits."""

    name: str
    arguments: tuple[str, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    stop_signal: int = signal.SIGTERM
    grace: float = 10.0
    runs_once: bool = False
    descriptors: tuple[int, ...] = ()
    prefixed: bool = True


def programs_of(
    root: Path, run_directory: Path, *, listen_descriptor: int, threads: int, workers: int = 1, web_workers: int = 1
) -> list[Program]:
    """Web server, ``workers`` scoring workers with ``threads`` threads each, housekeeper, beat, and ``announce``."""
    return [
        *(_web_server(number, listen_descriptor) for number in range(web_workers)),
        *(_scoring_worker(number, threads) for number in range(workers)),
        Program(
            "chores",
            (
                *CELERY, "worker", "--queues", "housekeeping", "--pool", "threads", "--concurrency", "2",
                "--hostname", "chores@%h", *STEADY,
            ),
            {"LOG_LEVEL": os.environ.get("LOG_LEVEL", "WARNING")},  # else a useless line every ten seconds
        ),
        Program(
            "beat",
            (*CELERY, "beat", "--schedule", str(run_directory / "beat-schedule"), "--pidfile="),
        ),
        Program("site", (str(root / "manage.py"), "announce"), runs_once=True, prefixed=False),
    ]  # fmt: skip


def _web_server(number: int, listen_descriptor: int) -> Program:
    """One process of the web server; all of them serve one socket."""
    return Program(
        f"web-{number + 1}" if number else "web",
        ("-m", "malpan.web_server"),
        {"MALPAN_LISTEN_FD": str(listen_descriptor)},
        descriptors=(listen_descriptor,),
    )


def _scoring_worker(number: int, threads: int) -> Program:
    """One scoring worker of ``threads``; ``number``, from 0, is unique on this machine."""
    suffix = f"-{number + 1}" if number else ""
    return Program(
        f"worker{suffix}",
        (
            *CELERY, "worker", "--queues", "scoring", "--concurrency", "1",
            "--hostname", f"scoring{suffix}@%h", *STEADY,
        ),
        {
            "SCORING_WORKER_NUMBER": str(number),
            "OMP_NUM_THREADS": str(threads),
            "TOKENIZERS_PARALLELISM": "false",
            "TRANSFORMERS_VERBOSITY": "error",
        },
        stop_signal=signal.SIGQUIT,  # a few seconds for the current run, then it goes back to the queue
        grace=20.0,
    )  # fmt: skip


def child_environment(root: Path, var_directory: Path, *, url: str, started: float, counts: Path) -> dict[str, str]:
    """The environment of every program, in addition to that of the supervisor.

    In the folder ``counts`` all web processes count requests together (``operation.metrics.http``).
    """
    return {
        "PYTHONUNBUFFERED": "1",
        "PYTHONWARNINGS": "ignore:You're running the worker with superuser",  # a container's only user is often root
        "DJANGO_SETTINGS_MODULE": "malpan.settings",
        "SITE_URL": os.environ.get("SITE_URL", url),
        "MALPAN_VAR": str(var_directory),
        "MALPAN_MODELS": os.environ.get("MALPAN_MODELS", str(var_directory / "models")),
        "PROMETHEUS_MULTIPROC_DIR": str(counts),
        "MALPAN_LOCAL_URL": url,
        "MALPAN_STARTED_AT": str(started),
        "PATH": os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]),
    }
