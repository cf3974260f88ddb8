"""Teams with stored item values, as scoring leaves them, and a worker that computes how sure their board is."""

from __future__ import annotations

import random
from typing import Any, cast
from unittest import mock

from malpan.competitions.models import Phase
from malpan.jobs import outcome
from malpan.jobs.claim import claim_next
from malpan.jobs.faults import record_faults
from malpan.jobs.lease import LeaseRenewer
from malpan.jobs.models import Job
from malpan.leaderboard import standings
from malpan.leaderboard.models import BoardSureness
from malpan.leaderboard.sureness.computing import ComputeSureness
from malpan.leaderboard.sureness.queueing import queue_due
from malpan.submissions.evaluation import results
from malpan.submissions.models import Submission
from malpan.teams.models import Team
from scoring.figures import average
from scoring.recipes import get_recipe
from scoring.records import ItemScores, ScoreReport
from scoring.signature import json_sha256, metric_signatures
from tests.factories import TeamFactory, finished_submission

REASONS = ("bleurt", "bertscore", "rouge_1")
RECIPE = "rag-qa@1"


def report_of(seed: int, skill: float, items: int = 40, name: str = "q") -> ScoreReport:
    """A result of the contest's rule whose scores follow from its items."""
    source = random.Random(seed)
    rows = [
        ItemScores(
            f"{name}{number}",
            {
                "exact_match": float(source.random() < skill),
                **{metric: source.random() * skill for metric in REASONS},
            },
        )
        for number in range(items)
    ]
    recipe = get_recipe(RECIPE)
    scores = recipe.final_scores({name: average([row.scores[name] for row in rows]) for name in rows[0].scores})
    signature: dict[str, Any] = {
        "recipe": RECIPE,
        "references": {"items": items, "sha256": json_sha256(name)},
        "metrics": {metric: {"metric": metric} for metric in recipe.metrics},
        "about": {"is_demo": False, "references_file_sha256": "0" * 64, "profile": None},
    }
    return ScoreReport(
        RECIPE,
        scores["final_score"],
        scores,
        {"items": items},
        (),
        tuple(rows),
        signature,
        json_sha256(signature),
        metric_signatures(signature),
    )


def scored(
    phase: Phase, team: Team, report: ScoreReport, hidden: ScoreReport | None = None, **fields: Any
) -> Submission:
    """A submission of ``team`` with this live result and its items."""
    submission = finished_submission(phase, team, report.final_score, **fields)
    run = submission.live_run
    assert run is not None
    for name, value in results.result_of(report).items():
        setattr(run, name, value)
    run.save()
    results.keep(run, report, hidden)
    return submission


def teams_with(phase: Phase, skills: list[float], **fields: Any) -> list[Submission]:
    """A submission of a team for each of ``skills``."""
    return [
        scored(phase, TeamFactory.create(competition=phase.track.competition), report_of(seed, skill), **fields)
        for seed, skill in enumerate(skills)
    ]


def work() -> Job | None:
    """What a worker does of the next job, in the transaction of a test: without a lease, whose thread has a connection
    of its own, and without waiting for a database that is away.
    """
    job = claim_next(worker="w")
    if job is not None:
        with mock.patch.object(outcome, "written", lambda _job, write: write()), record_faults(job):
            ComputeSureness().work(job, cast("LeaseRenewer", None))
    return job


def compute(phase: Phase) -> BoardSureness:
    """The sureness of the live board of ``phase`` after the housekeeper and a worker came by."""
    standings.refresh(phase)
    queue_due()
    while work() is not None:
        pass
    return BoardSureness.objects.get(phase=phase, scope="live", snapshot=None)
