"""A submission that an LLM judge scored, as the database has it, and people's scores of its items."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from malpan.competitions.models import Phase
from malpan.submissions.models import MetricResult, Submission
from malpan.teams.models import Team
from scoring.signature import metric_signatures
from tests.factories import finished_submission

PART: Final[dict[str, Any]] = {
    "metric": "llm_judge",
    "model": "Qwen3-8B-AWQ",
    "server": {"version": "0.11.0", "model": {}, "quantisation": "AWQ"},
    "prompt": {"id": "rationale-1", "language": "ko", "sha256": "p" * 64},
}
SIGNATURE: Final[dict[str, Any]] = {
    "references": {"items": 24, "sha256": "0" * 64},
    "metrics": {"llm_judge": PART},
    "about": {"is_demo": True},
}


def judged_submission(phase: Phase, team: Team, values: Mapping[str, float], **fields: Any) -> Submission:
    """A live result whose judge gave the items these ``values``, in two splits."""
    submission = finished_submission(phase, team, 0.5, **fields)
    run = submission.live_run
    assert run is not None
    run.signature = SIGNATURE
    run.save(update_fields=["signature"])
    items = sorted(values)
    for split, ids in (("public", items[::2]), ("private", items[1::2])):
        MetricResult.objects.create(
            submission=submission,
            reference_version=run.reference_version,
            split=split,
            metric="llm_judge",
            metric_signature=metric_signatures(SIGNATURE)["llm_judge"],
            values={item: values[item] for item in ids},
        )
    return submission


def human_bytes(scores: Mapping[str, float]) -> bytes:
    return json.dumps([{"id": item, "score": score} for item, score in scores.items()]).encode()
