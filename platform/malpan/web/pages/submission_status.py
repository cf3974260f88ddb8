"""How far a submission is: its place in the queue, what is done, when it ends, or why it failed."""

from __future__ import annotations

from dataclasses import dataclass

from malpan.competitions.models import Track
from malpan.competitions.shown_scores import final_text
from malpan.core.messages import text_of_code
from malpan.jobs.errors import VersionMissing
from malpan.submissions import selectors
from malpan.submissions.errors import ModelMissing
from malpan.submissions.evaluation.eta import Forecast
from malpan.submissions.models import ScoringRun, Submission
from malpan.submissions.visibility import ShownRun
from malpan.web.pages.context import uses_demo_models
from malpan.web.presenters import composites, scores
from malpan.web.presenters.formatting import expected_end_text
from scoring.recipes.targets import FINAL_SCORE

UNFINISHED = frozenset({ScoringRun.State.QUEUED, ScoringRun.State.RUNNING})


@dataclass(frozen=True, slots=True)
class SubmissionStatus:
    """The state of one submission in the status fragment; ``run`` has only what the reader may see.

    ``end`` is when the score is expected; empty if unknown. ``fault``: why it failed, or that no worker has its models.
    """

    submission: Submission
    run: ShownRun | None
    track: Track
    is_unfinished: bool
    waiting_before: int | None
    end: str
    stage: str
    fault: str
    score: str  # the final score
    is_demo: bool  # the final score, where nothing else on the page says so
    lacks_worker: bool
    raw: str = ""  # the values of the parts where a composite ranks: shown in the place of the final score
    hidden: str = ""  # the same of the scores that decide the final ranking, named, where the reader may see them
    is_unreadable: bool = False  # not one answer of the file could be read

    @property
    def state_mark(self) -> str:
        """A text that changes with the state or the place in the queue, which are announced."""
        place = "nobody" if self.lacks_worker else self.waiting_before
        return f"{self.run.pk}:{self.run.state}:{place}" if self.run else "none"

    @property
    def mark(self) -> str:
        """A text that changes whenever the fragment changes."""
        return f"{self.state_mark}/{self.stage}/{self.run.progress:.2f}/{self.end}" if self.run else "none"


def status_of(
    submission: Submission, track: Track, run: ShownRun | None, forecast: Forecast | None = None
) -> SubmissionStatus:
    """The status of ``submission``. ``forecast`` is shared if a page shows several submissions."""
    is_unfinished = run is not None and run.state in UNFINISHED
    forecast = forecast or Forecast()
    own_run = selectors.run_to_show(submission)
    run_forecast = forecast.of(own_run)
    lacks_worker = forecast.lacks_worker(own_run)
    is_held = run is not None and lacks_worker and run.error_code in (ModelMissing.code, VersionMissing.code)
    is_faulty = is_held or (run is not None and run.state == ScoringRun.State.FAILED)
    return SubmissionStatus(
        submission=submission,
        run=run,
        track=track,
        is_unfinished=is_unfinished,
        waiting_before=run_forecast.waiting_before,
        end=expected_end_text(run_forecast.finish_at, forecast.now) if run_forecast.finish_at else "",
        stage=scores.stage_label(run.recipe, run.stage) if run and run.stage else "",
        fault=text_of_code(run.error_code) if run and is_faulty else "",
        score=final_text(run.final_score, track, run.step) if run else "",
        is_demo=run is not None and scores.is_demo(run, FINAL_SCORE) and not uses_demo_models(track),
        lacks_worker=lacks_worker,
        raw=composites.raw_text(run.recipe, run.scores, track, run.step) if run else "",
        hidden=_hidden_text(submission, run, track) if run else "",
        is_unreadable=scores.is_unreadable(submission),
    )


def _hidden_text(submission: Submission, run: ShownRun, track: Track) -> str:
    if run.hidden is None:
        return ""
    value = composites.raw_text(run.recipe, run.hidden.scores, track) or final_text(run.hidden.final_score, track)
    return f"{scores.private_items_label(submission.phase)} {value}"
