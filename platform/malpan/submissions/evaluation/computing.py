"""The scoring of a run. ``scoring.engine`` is imported only inside functions, here and in ``warming``: a process that
only queues runs never loads a model library.
"""

from __future__ import annotations

from django.conf import settings

from malpan.competitions.media import media_folder
from malpan.competitions.synonyms import synonyms_file
from malpan.core import tracing
from malpan.submissions.evaluation import large_runs, results, reuse
from malpan.submissions.evaluation.judge_budget import SharedLedger
from malpan.submissions.models import ScoringRun
from scoring.metrics import MetricOptions
from scoring.records import ProgressCallback, ScoreReport
from scoring.running.pair_values import PairValues


def score_run(
    run: ScoringRun, *, progress: ProgressCallback | None = None, values: PairValues | None = None
) -> results.Outcome:
    """Score each split of the references; an item's value from one split is not computed again in another.

    ``values`` is the store of pairs that need not be computed.
    """
    files = large_runs.read_files(run)
    covers_all = run.submission.phase.private_covers_all
    reports: dict[str, ScoreReport] = {}
    learned: results.Known = reuse.reusable_values(run, files.references, files.predictions)
    splits = results.splits_of(
        run.reference_version, files.references, files.predictions, private_covers_all=covers_all
    )
    before = {split.name: results.known_values(run, split) for split in splits}
    for split in splits:  # from here on nothing is read that a database could keep back
        known = results.merged(learned, before[split.name])
        reports[split.name] = _score_split(run, split, known, progress, values)
        results.learn(learned, reports[split.name])
    return results.Outcome(shown=reports.get("all") or reports["public"], hidden=reports.get("private"))


def _score_split(
    run: ScoringRun,
    split: results.Split,
    known: results.Known,
    progress: ProgressCallback | None,
    values: PairValues | None,
) -> ScoreReport:
    from scoring import engine  # not at the top: a process that only takes files and queues runs never loads it

    with tracing.span("engine", run=run.pk, recipe=run.recipe, split=split.name):
        return engine.score(
            run.recipe,
            split.references,
            split.predictions,
            profile=run.profile,
            device=settings.SCORING_DEVICE,
            progress=progress,
            known=known,
            options=MetricOptions(
                synonyms=synonyms_file(run.reference_version),
                media=media_folder(run.reference_version),
                ledger=SharedLedger(run.profile),
            ),
            pair_values=values,
        )
