"""The two steps of a large run that need its whole file: cutting it into shards, and gathering what they gave.

Both run in a process of their own (``shard_work.run_apart``), which ends with them: the worker never holds more than
one shard, however large the file is. Neither leaves anything half done behind. The files of a plan are written first
and its rows in one transaction; the result of a gathering is one transaction. So a step whose process was killed is
simply taken again, and of two that overlap one is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection, transaction

from malpan.competitions.references import load_references, recipe_named
from malpan.core.storage import read_for_work, read_private, store_for_work
from malpan.submissions.evaluation import pair_cache, queueing, results, reuse, runs, shards
from malpan.submissions.evaluation.leases import LeaseLost
from malpan.submissions.models import RunShard, ScoringRun
from scoring.recipes import Recipe
from scoring.records import AnswerFile

if TYPE_CHECKING:
    from scoring.running.pair_values import Pair
    from scoring.running.sharding import Shard


@dataclass(frozen=True, slots=True)
class _Texts:
    recipe: Recipe
    references: AnswerFile
    predictions: AnswerFile


def plan_run(run_id: int, attempt: int) -> None:
    """Cut the run into shards that wait for their turn. Raises ``LeaseLost`` when it is in other hands."""
    run = _run(run_id, attempt)
    from scoring.running import sharding

    texts = _texts(run)
    names = sharding.sharded_metrics(texts.recipe)
    resources = sharding.resources_for(names, run.profile, settings.SCORING_DEVICE)
    signatures = sharding.signature_hashes(texts.recipe, sharding.load_metrics(names, resources))
    wanted, characters = _unknown_pairs(run, texts, signatures)
    planned = sharding.plan(wanted, settings.SHARD_PAIRS)
    rows = _rows(run, planned, signatures, characters)
    connection.close_if_unusable_or_obsolete()  # it lay idle for a while
    if not shards.create_shards(run=run, shards=rows):
        raise LeaseLost


def gather_run(shard_id: int, attempt: int) -> None:
    """Score the run by what its shards gave, and finish it. Raises ``LeaseLost`` when it is in other hands."""
    gathering = RunShard.objects.get(pk=shard_id)
    run = _run(gathering.run_id)
    from scoring.running.sharding import GatheredValues, Shard

    pieces = list(RunShard.objects.filter(run=run, kind=RunShard.Kind.SCORE, state=RunShard.State.FINISHED))
    signatures = {metric: value for piece in pieces for metric, value in piece.signatures.items()}
    values = GatheredValues(signatures, pair_cache.store_for(run))
    for piece in pieces:
        values.add(Shard.load(read_for_work(shards.work_of(run.pk), piece.input_sha256)), piece.values or {})
    outcome = runs.score(run, values=values)
    connection.close_if_unusable_or_obsolete()
    gathering.attempt = attempt
    with transaction.atomic():
        if not shards.finish_gathering(shard=gathering) or not runs.finish_run(
            run_id=run.pk, attempt=run.attempt, report=outcome.shown, hidden=outcome.hidden
        ):
            raise LeaseLost
    shards.clear(run.pk)


def _run(run_id: int, attempt: int | None = None) -> ScoringRun:
    """The run while it is at work, under ``attempt`` where one is named. Raises ``LeaseLost``."""
    rows = ScoringRun.objects.select_related("submission__phase__track", "reference_version", "batch")
    run = rows.filter(pk=run_id, state=ScoringRun.State.RUNNING).first()
    if run is None or attempt not in (None, run.attempt):
        raise LeaseLost
    return run


def _texts(run: ScoringRun) -> _Texts:
    references = load_references(run.reference_version, run.recipe)
    predictions = reuse.read_answers(run, read_private(run.submission.file_sha256), references)
    return _Texts(recipe_named(run.recipe), references, predictions)


def _unknown_pairs(run: ScoringRun, texts: _Texts, signatures: dict[str, str]) -> tuple[dict[str, list[Pair]], int]:
    """By metric the pairs that neither an earlier score of the submission nor the store of pair values answers.

    And how many characters there are in all pairs, known or not, over all metrics: what the cost of the run is for.
    """
    from scoring.running.sharding import open_pairs

    prepared = texts.recipe.prepare(texts.references, texts.predictions)
    known, store = _known(run, texts), pair_cache.store_for(run)
    wanted, characters = {}, 0
    for metric, signature in signatures.items():
        every = open_pairs(metric, prepared)
        known_items = known.get((metric, signature))
        pairs = open_pairs(metric, prepared, known_items) if known_items else every
        answered = store.get(metric, signature, pairs) if store is not None else {}
        wanted[metric] = [pair for pair in pairs if pair not in answered]
        characters += sum(len(text) for pair in every for text in pair)
    return wanted, characters


def _known(run: ScoringRun, texts: _Texts) -> results.Known:
    """Item values that the gathering will take as they are, as ``runs`` does for a run in one piece."""
    if reuse.is_repeat(run):
        return {}
    known: results.Known = reuse.reusable_values(run, texts.references, texts.predictions)
    covers_all = run.submission.phase.private_covers_all
    for part in results.parts_of(
        run.reference_version, texts.references, texts.predictions, private_covers_all=covers_all
    ):
        known = results.merged(known, results.known_values(run, part))
    return known


def _rows(run: ScoringRun, planned: Sequence[Shard], signatures: dict[str, str], characters: int) -> list[RunShard]:
    """Unsaved rows of the planned shards, whose files are stored. ``characters`` are those of all pairs of the run."""
    cost = run.cost or queueing.known_costs([run.submission])[run.submission_id]  # 0: older than the queue
    return [
        RunShard(
            number=number,
            cost=max(1, cost * shard.characters // max(1, characters)),
            input_sha256=store_for_work(shards.work_of(run.pk), shard.dump()).sha256,
            signatures={metric: signatures[metric] for metric in shard.wanted},
        )
        for number, shard in enumerate(planned)
    ]
