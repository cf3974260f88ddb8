"""Large runs: all workers compute the values of their pairs ahead, in slices of items, into the pair cache, and ask
judges for theirs, which have a store of their own (``judge_values``).

A run of many items whose values are in neither queues child jobs, one for each slice, and waits for them. Then it is
scored like every other run, and finds its values there. The cache may lose any of them at any time, and a child may
fail for good: the run itself computes missing values, which only costs time.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from django.conf import settings

from malpan.competitions.references import load_references
from malpan.core.storage import read_private
from malpan.submissions.evaluation import judge_values, pair_cache, results, reuse
from malpan.submissions.evaluation.judge_budget import SharedLedger
from malpan.submissions.models import ScoringRun
from scoring.metrics import MetricOptions
from scoring.records import Items, ProgressCallback
from scoring.running.precompute import missing_items, pair_work, precompute

if TYPE_CHECKING:
    from malpan.jobs.models import Job
    from scoring.running.precompute import PairWork


@dataclass(frozen=True, slots=True)
class RunFiles:
    """The references of a run, and its answers for them."""

    references: Items
    predictions: Items


@dataclass(frozen=True, slots=True)
class WholeRun:
    """What all slices of a run have in common. ``order``: its items, the longest first."""

    files: RunFiles
    known: results.Known
    order: list[str]


def is_large(item_count: int) -> bool:
    """Whether a run with this many items may be computed ahead, in slices with one turn each."""
    return item_count > settings.LARGE_RUN_ITEMS


def cost_of_turn(cost: int, item_count: int) -> int:
    """The cost of the first turn of a run: all of it or, if it is large, about that of one slice."""
    return cost if not is_large(item_count) else max(1, cost * settings.SLICE_ITEMS // item_count)


def read_files(run: ScoringRun) -> RunFiles:
    """The references and the answers of ``run``; those of a large one are kept until ``forget_files``."""
    return _large_files(*_key(run)) if is_large(run.submission.item_count) else _files(run)


def slice_costs(run: ScoringRun, cost: int) -> list[int]:
    """The cost of each slice to compute ahead; empty if the run is to be scored at once.

    That is so if few items have values to compute that are kept for the run.
    """
    items = run.submission.item_count
    if not is_large(items):
        return []
    files, store = read_files(run), judge_values.values_for(run, job_id=_job_of(run))
    missing = len(missing_items(_work(run, files), known=_known(run, files), pair_values=store))
    if not is_large(missing):
        return []
    count = math.ceil(missing / settings.SLICE_ITEMS)
    return [max(1, cost * missing // (items * count))] * count


def compute_slice(run: ScoringRun, job: Job, count: int, progress: ProgressCallback) -> None:
    """Compute the missing values of the slice of ``job``, one of ``count``. Raises what scoring raises."""
    whole = _whole_run(*_key(run))
    ids = set(whole.order[job.number :: count])
    files = RunFiles(results.only(whole.files.references, ids), results.only(whole.files.predictions, ids))
    store = judge_values.values_for(run, job_id=job.pk)
    precompute(_work(run, files), known=whole.known, pair_values=store, progress=progress)


def forget_slices() -> None:
    """Free what only the slices of a run need."""
    _whole_run.cache_clear()


def forget_files() -> None:
    """Free the files of the large run that this process was last at work on."""
    _large_files.cache_clear()


def longest_first(files: RunFiles) -> list[str]:
    """The items by length: taken in turn, every slice has the same mixture of long and short ones."""
    length = {answer.id: len(answer.text) for answer in files.predictions.items}
    for answer in files.references.items:
        length[answer.id] = length.get(answer.id, 0) + sum(map(len, answer.texts))
    return sorted(length, key=lambda item: (-length[item], item))


def _files(run: ScoringRun) -> RunFiles:
    references = load_references(run.reference_version, run.recipe)
    return RunFiles(references, reuse.read_answers(run, read_private(run.submission.file_sha256), references))


@lru_cache(maxsize=1)  # the worker that plans the slices computes some of them, and often the score
def _large_files(run_id: int, *_files_of_it: str) -> RunFiles:
    return _files(_run(run_id))


@lru_cache(maxsize=1)  # a worker computes one slice after the other
def _whole_run(run_id: int, *_files_of_it: str) -> WholeRun:
    run = _run(run_id)
    files = read_files(run)
    return WholeRun(files, _known(run, files), longest_first(files))


def _key(run: ScoringRun) -> tuple[int, str, str, str]:
    """What the kept files of ``run`` depend on: in a restored database its number may be another run's."""
    return run.pk, run.submission.file_sha256, run.reference_version.file_sha256, run.recipe


def _run(run_id: int) -> ScoringRun:
    return ScoringRun.objects.select_related("submission__phase", "reference_version").get(pk=run_id)


def _known(run: ScoringRun, files: RunFiles) -> results.Known:
    """Item values that the scoring will reuse, as in ``computing.score_run``."""
    known: results.Known = reuse.reusable_values(run, files.references, files.predictions)
    covers_all = run.submission.phase.private_covers_all
    for split in results.splits_of(
        run.reference_version, files.references, files.predictions, private_covers_all=covers_all
    ):
        known = results.merged(known, results.known_values(run, split))
    return known


def _job_of(run: ScoringRun) -> int:
    """The primary key of the job of ``run``, which is at work."""
    assert run.job_id is not None
    return run.job_id


def _work(run: ScoringRun, files: RunFiles) -> PairWork:
    """What can be computed ahead: with no cache, or one too small, only what judges answer."""
    is_cached = pair_cache.is_read_by(run) and run.submission.item_count <= settings.PAIR_VALUES_MAX_ROWS
    return pair_work(
        run.recipe,
        files.references,
        files.predictions,
        profile=run.profile,
        device=settings.SCORING_DEVICE,
        options=MetricOptions(ledger=SharedLedger(run.profile)),
        only_remote=not is_cached,
    )
