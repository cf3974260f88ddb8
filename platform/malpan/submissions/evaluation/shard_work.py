"""What a worker does with a large run: it has it planned, scores one shard at a time, and has the results gathered.

Scoring a shard happens here, beside the models, and holds nothing but the shard. Planning and gathering hold the whole
file; each runs in a process that ends with it, started here while the lease is kept here.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from typing import Final, Literal

from django.conf import settings
from django.db import connection

from malpan.competitions.references import recipe_named
from malpan.core.storage import read_for_work
from malpan.submissions.errors import PlanOutdated, WorkerLost
from malpan.submissions.evaluation import pair_cache, shards
from malpan.submissions.evaluation.faults import FaultsFail, StepFailed
from malpan.submissions.evaluation.leases import LeaseKeeper, ShardLeaseKeeper
from malpan.submissions.models import RunShard, ScoringRun
from scoring.records import ProgressCallback

Step = Literal["plan", "gather"]

CHECK_SECONDS: Final = 0.2
FAULT_PREFIX: Final = "fault "  # before the code, in the last line that a failed step prints


def plan(run: ScoringRun) -> None:
    """Cut a claimed run into shards. Faults queue it again, as those of a run in one piece do."""
    fail = partial(shards.fail_planning, run=run)
    with FaultsFail(f"planning of run {run.pk}", run.attempt, fail), LeaseKeeper(run, ()) as keeper:
        run_apart("plan", run.pk, run.attempt, keeper.check)


def execute(shard: RunShard) -> None:
    """Do a claimed shard: score its pairs, or gather what the others gave. Faults queue it again or fail its run."""
    fail = partial(shards.fail_shard, shard=shard)
    with FaultsFail(f"shard {shard}", shard.attempt, fail), ShardLeaseKeeper(shard, tuple(shard.signatures)) as keeper:
        if shard.kind == RunShard.Kind.GATHER:
            run_apart("gather", shard.pk, shard.attempt, keeper.check)
            return
        values = _score(shard, keeper.report)
        connection.close_if_unusable_or_obsolete()  # it lay idle while the metrics worked
        shards.finish_shard(shard=shard, values=values)


def _score(shard: RunShard, progress: ProgressCallback) -> dict[str, list[float]]:
    """The values of the shard's pairs by metric, which other runs may use from now on. Raises ``PlanOutdated``."""
    from scoring.running import sharding  # a process that merely claims loads no metric

    run = shard.run
    content = sharding.Shard.load(read_for_work(shards.work_of(run.pk), shard.input_sha256))
    resources = sharding.resources_for(content.wanted, run.profile, settings.SCORING_DEVICE)
    recipe = recipe_named(run.recipe)
    try:
        values = sharding.score_shard(content, recipe, shard.signatures, resources=resources, progress=progress)
    except sharding.ForeignShard as error:
        raise PlanOutdated from error
    store = pair_cache.store_for(run)
    if store is not None:
        for metric, of_metric in values.items():
            store.put(metric, shard.signatures[metric], dict(zip(content.pairs_of(metric), of_metric, strict=True)))
    return values


def run_apart(step: Step, pk: int, attempt: int, check: Callable[[], None]) -> None:
    """Run ``manage.py shard_step`` and wait for it; ``check`` is called meanwhile and may raise to stop it.

    Raises ``StepFailed`` with the code of the fault; the process has logged what it was, and ends with this one.
    """
    command = [sys.executable, str(settings.BASE_DIR / "manage.py"), "shard_step", step, str(pk), str(attempt)]
    with tempfile.TemporaryFile("w+", errors="replace") as said:  # a pipe would be full at 64 KiB, and the step hang
        process = subprocess.Popen(  # noqa: S603 (our own program, with numbers)
            [*command, "--parent", str(os.getpid())], stdin=subprocess.DEVNULL, stdout=said
        )
        with process:
            try:
                while process.poll() is None:
                    check()
                    _wait(process)
            except BaseException:
                process.kill()
                raise
        said.seek(0)
        last = said.read().strip().rpartition("\n")[2]
    if process.returncode:
        code = last.removeprefix(FAULT_PREFIX) if last.startswith(FAULT_PREFIX) else WorkerLost.code
        raise StepFailed(code)


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(CHECK_SECONDS)
    except subprocess.TimeoutExpired:
        return
