"""The scoring of a run: this is the only module that reaches ``scoring.engine``, and only from inside its functions.

So a process that merely queues runs never loads a model library.
"""

from __future__ import annotations

from django.conf import settings

from malpan.competitions.media import media_folder
from malpan.submissions.evaluation import large_runs, results, reuse
from malpan.submissions.models import ScoringRun
from scoring.records import ProgressCallback, ScoreReport
from scoring.running.pair_values import PairValues


def score_run(
    run: ScoringRun, *, progress: ProgressCallback | None = None, values: PairValues | None = None
) -> results.Outcome:
    """Score each part of the references; what a metric gave an item in one part is not computed again in another.

    ``values`` knows pairs that need not be computed.
    """
    files = large_runs.read_files(run)
    covers_all = run.submission.phase.private_covers_all
    reports: dict[str, ScoreReport] = {}
    learned: results.Known = reuse.reusable_values(run, files.references, files.predictions)
    for part in results.parts_of(
        run.reference_version, files.references, files.predictions, private_covers_all=covers_all
    ):
        reports[part.name] = _score_part(run, part, learned, progress, values)
        results.learn(learned, reports[part.name])
    return results.Outcome(shown=reports.get("all") or reports["public"], hidden=reports.get("private"))


def _score_part(
    run: ScoringRun,
    part: results.Part,
    learned: results.Known,
    progress: ProgressCallback | None,
    values: PairValues | None,
) -> ScoreReport:
    from scoring import engine  # here alone: it loads the analysers and, on need, the models
    from scoring.metrics import MetricOptions

    return engine.score(
        run.recipe,
        part.references,
        part.predictions,
        profile=run.profile,
        device=settings.SCORING_DEVICE,
        progress=progress,
        known=learned if reuse.is_repeat(run) else results.merged(learned, results.known_values(run, part)),
        options=MetricOptions(media=media_folder(run.reference_version)),
        pair_values=values,
    )
