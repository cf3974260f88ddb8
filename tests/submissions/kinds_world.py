"""A scored result of questions of several kinds."""

from __future__ import annotations

from typing import Any

from malpan.competitions.models import Phase, ReferenceVersion
from malpan.submissions.evaluation import results
from malpan.submissions.models import ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version
from tests.factories import PhaseFactory, TeamFactory, file_bytes, finished_submission
from tests.leaderboard.sureness_world import report_of

ITEMS = 120


def questions() -> list[dict[str, Any]]:
    """Half of each type; categories of which one is small; questions of two lengths."""
    return [
        {
            "id": f"q{number}",
            "input": {
                "question_type": "선다형" if number % 2 else "서술형",
                "category": "말" if number < 80 else "글" if number < 115 else "옛말",
                "question": "물음" * (1 + number % 3),
            },
            "output": {"answer": "‘맞히다’가 옳다. 뜻이 그렇다."},
        }
        for number in range(ITEMS)
    ]


def scored(public: list[str] | None) -> ScoringRun:
    phase: Phase = PhaseFactory.create(track__recipe="rag-qa@1")
    publish_reference_version(phase=phase, data=file_bytes(questions()), actor=None)
    ReferenceVersion.objects.filter(phase=phase).update(public_ids=public)
    report = report_of(1, 0.7, items=ITEMS)
    row = finished_submission(phase, TeamFactory.create(competition=phase.track.competition), report.final_score)
    run = ScoringRun.objects.select_related("reference_version").get(submission=row)
    for name, value in results.result_of(report).items():
        setattr(run, name, value)
    run.save()
    results.keep(run, report, None)
    return run
