"""What a worker process does around its tasks: ends with its parent; for the scoring queue, loads the models and says
now and then that it is alive.

The models are loaded in the pool's child, once, before its first run: torch's threads do not survive a fork, so the
main process only checks whether the files are there, and imports the libraries: that starts none, touches no GPU, and
leaves the child that takes the place of a killed one half a second of work instead of three. A worker that cannot score
takes no runs; they wait in the queue.
"""

from __future__ import annotations

import gc
import logging
import mmap
import os
import signal
import sys
from typing import Any

import psutil
from billiard import current_process
from celery.signals import (
    celeryd_after_setup,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutting_down,
)
from django.conf import settings
from django.db import connections

from malpan.jobs import outage, refusal
from malpan.jobs.registry import NotMine
from malpan.local.die_with_parent import die_with_parent
from malpan.local.programs import EX_CONFIG
from malpan.local.readiness import say_ready
from scoring.errors import ScoringError
from scoring.metrics import METRICS
from scoring.models.devices import gpu_memory, use_gpu
from scoring.models.files import find_folder
from scoring.models.profile import TEXT_ROLES, load_profile
from scoring.models.store import import_libraries, shared_store

SCORING_QUEUE = "scoring"
GARBAGE_AFTER = (50_000, 20, 100)  # new objects: a file of 100,000 items is millions, and none of them is garbage
NICENESS = 5  # scoring uses every core for minutes; on a single machine the pages have priority

logger = logging.getLogger(__name__)
_is_stopping = mmap.mmap(-1, 1)  # shared with the pool's processes; not 0: the worker is being stopped
_serves_scoring = False
_name = ""  # of the worker, as ``scoring@host``
_gpu = 0  # that this process scores on, if it does on one
_about: dict[str, Any] = {}  # the models and the device that this process scores with


@celeryd_after_setup.connect
def prepare_worker(instance: Any, **_: Any) -> None:
    """End the scoring worker, with the command to run, if a model of its profile is missing; import its libraries."""
    global _serves_scoring, _name
    _serves_scoring, _name = SCORING_QUEUE in instance.app.amqp.queues.consume_from, instance.hostname
    if not _serves_scoring:
        return
    try:
        require_models(settings.SCORING_PROFILE)
    except ScoringError as error:
        sys.stderr.write(f"시스템 오류: 채점기를 시작할 수 없습니다. / The scoring worker cannot start.\n{error}\n")
        sys.exit(EX_CONFIG)
    import_libraries()


@worker_ready.connect
def say_that_chores_are_done(**_: Any) -> None:
    """The chores' one process says now and then that it is there; scoring processes do so themselves."""
    if not _serves_scoring:
        from malpan.core.models import Chore
        from malpan.operation import signs

        signs.keep_noting(Chore.Name.CHORES)


@worker_shutting_down.connect
def tell_pool(**_: Any) -> None:
    """A process that waits for the database waits no longer."""
    _is_stopping[0] = 1


def require_models(profile_name: str) -> None:
    """Raise ``ModelUnavailable``, or the error of the profile, unless all its models are on this machine.

    The demo models are made here if they are missing; no other profile ever falls back to them.
    """
    profile = load_profile(profile_name)
    for spec in profile.specs():
        find_folder(profile, spec)


@worker_process_init.connect
def begin_child(**_: Any) -> None:
    """In a new pool process: end with the worker; on a scoring worker load the models, or stop it if that fails."""
    worker = os.getppid()
    die_with_parent(worker)
    if not _serves_scoring:
        return
    outage.prepare(lambda: bool(_is_stopping[0]))
    os.nice(NICENESS)
    os.environ.setdefault("MALPAN_EMBEDDINGS", str(settings.VAR_DIR / "embeddings"))
    try:
        load_models()
    except ScoringError as error:
        logger.critical("시스템 오류: 모델을 읽을 수 없습니다. / The models cannot be loaded. %s", error)
        os.kill(worker, signal.SIGQUIT)
        return
    gc.freeze()  # the libraries and models stay to the end
    gc.set_threshold(*GARBAGE_AFTER)
    try:
        begin_work(worker)
    except NotMine:
        return
    begin_heartbeat()
    say_ready()


def begin_work(worker: int) -> None:
    """Check the numbers of the models (``evaluation.canary``), and have ``worker`` stopped whenever they differ. Then
    begin to warm up for what waits (``evaluation.warming``).

    If the database that keeps them is unreachable, they are checked before the first run. Raises ``NotMine``.
    """
    from malpan.submissions.evaluation import canary, warming

    refusal.prepare(_own_name(), lambda: os.kill(worker, signal.SIGQUIT))
    try:
        roles = _roles(load_profile(settings.SCORING_PROFILE))
        names = [name for name, metric in METRICS.items() if metric.model in roles and not metric.not_configured]
        canary.require(names, settings.SCORING_PROFILE)  # optional ones before the first run that has them
        warming.begin()
    except outage.UNREACHABLE:
        logger.warning("the database is unreachable; the models will be checked before the first run")
    finally:
        connections.close_all()


def _roles(profile: Any) -> list[str]:
    """The roles of the models of ``profile`` that score texts."""
    return [spec.role for spec in profile.specs() if spec.role in TEXT_ROLES]


def load_models() -> None:
    """Load the models of the default profile once for this process, so that the first run does not wait for them."""
    global _gpu
    number = settings.SCORING_WORKER_NUMBER + _place()  # of this process on its machine
    if settings.SCORING_DEVICE != "cpu" and (gpu := use_gpu(number)) is not None:
        _gpu = gpu
        logger.info("this process scores on GPU %d", gpu)
    store = shared_store(settings.SCORING_PROFILE, settings.SCORING_DEVICE)
    loaded = [getattr(store, role) for role in _roles(store.profile)]
    names = [
        spec.folder.name if spec.folder else spec.model for spec in store.profile.specs() if spec.role in TEXT_ROLES
    ]
    _about.update(profile=store.profile.name, models=names, device=str(store.device))
    logger.info("%d models of %s loaded on %s", len(loaded), store.profile.name, store.device)


def begin_heartbeat() -> None:
    """Report from now on that this process is alive, what it counts (pairs, memory) and what it works with."""
    from malpan.jobs import heartbeat

    heartbeat.keep_beating(_own_name(), _numbers, refusal.reason, lambda: _about)


@worker_process_shutdown.connect
def end_child(**_: Any) -> None:
    """A pool process of a scoring worker ends in order: nobody has to miss it."""
    if not _about:
        return
    from malpan.jobs import heartbeat

    heartbeat.say_goodbye(_own_name())


def _own_name() -> str:
    """The name of this process: that of its worker, and its place in the pool."""
    return f"{_name}/{_place()}"


def _place() -> int:
    """The place of this process in the pool of its worker, from 0."""
    return int(getattr(current_process(), "index", 0))


def _numbers() -> dict[str, float]:
    from malpan.submissions.evaluation import pair_cache

    counted: dict[str, float] = {f"pairs_{what}": count for what, count in pair_cache.counted.items()}
    counted["memory_bytes"] = psutil.Process().memory_info().rss
    memory = gpu_memory(_gpu)
    return counted | ({} if memory is None else {"gpu_used_bytes": memory[0], "gpu_total_bytes": memory[1]})
