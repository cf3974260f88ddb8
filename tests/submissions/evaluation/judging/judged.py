"""A phase of essays whose rationales a demo judge scores, and files for it."""

from __future__ import annotations

from malpan.competitions.models import Phase
from malpan.submissions.models import MetricResult, ScoringRun
from malpan.teams.models import Team
from tests.factories import file_bytes
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK
from tests.submissions.conftest import send

ITEMS = 12


def references() -> bytes:
    scores = {"content": 3.4, "organization": 2.75, "expression": 4.0, "average": 3.383}
    return file_bytes(
        [
            {
                "id": f"e{number}",
                "prompt_num": "1",
                "prompt": "채식의 날",
                "essay": f"{ESSAY} {number}",
                "score": scores,
            }
            for number in range(ITEMS)
        ]
    )


def predictions(mark: str = "", changed: int = 0) -> bytes:
    """Scores with reasons; those of the first ``changed`` essays end with ``mark``."""
    return file_bytes(
        [
            {
                "id": f"e{number}",
                **{
                    trait: {
                        "score": 3,
                        "rationale": f"{GOOD if number % 2 else STOCK} {mark if number < changed else ''}",
                    }
                    for trait in ("content", "organization", "expression")
                },
            }
            for number in range(ITEMS)
        ]
    )


def sent(phase: Phase, team: Team, data: bytes | None = None) -> ScoringRun:
    return send(phase, team, predictions() if data is None else data).runs.get()


def judged_values(run: ScoringRun) -> dict[str, float]:
    return dict(MetricResult.objects.get(submission=run.submission_id, metric="llm_judge").values)
