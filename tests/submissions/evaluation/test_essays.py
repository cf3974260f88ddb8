"""Essay scoring by the real queue and engine: two splits, and an essay that came to the references later."""

from __future__ import annotations

import pytest

from malpan.submissions.evaluation import runs
from malpan.submissions.models import HiddenResult, ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.submissions.visibility import shown_run
from tests.factories import PhaseFactory, TeamFactory
from tests.scoring.essays import dumped, prediction, reference, rmse, traits
from tests.submissions.conftest import execute, send

pytestmark = pytest.mark.django_db(transaction=True)

ROWS = [reference(number, (1 + number % 5, 3, 3)) for number in range(10)]
SCORES = [2.5, 3.5, 1, 4.5, 2, 3, 5, 1.5, 4, None]


def answers(count: int = 10) -> list[dict[str, object]]:
    return [
        {"essay_id": f"e{number}", "output": "모르겠다"} if score is None else {"id": f"e{number}", **traits(score)}
        for number, score in enumerate(SCORES[:count])
    ]


def expected(numbers: range) -> float:
    predicted = [prediction(None if SCORES[number] is None else [SCORES[number]] * 3) for number in numbers]
    return rmse(predicted, [ROWS[number]["score"]["average"] for number in numbers])


def test_each_split_has_its_own_errors_ranks_and_failures() -> None:
    phase = PhaseFactory.create(track__recipe="essay-scoring@1")
    public = [f"e{number}" for number in range(4)]
    publish_reference_version(phase=phase, data=dumped(ROWS, as_lines=True), actor=None, public_ids=public)
    submission = send(phase, TeamFactory.create(competition=phase.track.competition), dumped(answers()))
    run = execute(submission.runs.get())
    hidden = HiddenResult.objects.get(run=run)
    assert (run.state, run.error_code) == (ScoringRun.State.FINISHED, "")
    assert (run.scores["parse_failures"], hidden.scores["parse_failures"]) == (0, 1)
    assert run.scores["rmse"] == pytest.approx(expected(range(4)), abs=1e-12)
    assert hidden.scores["rmse"] == pytest.approx(expected(range(4, 10)), abs=1e-12)
    assert hidden.final_score == 1 - hidden.scores["rmse"] / 5
    shown = shown_run(run, submission)
    assert [row["code"] for row in shown.warnings] == ["llm_judge_not_configured"]
    assert not run.is_demo_models


def test_an_essay_added_to_the_references_is_a_prediction_of_0() -> None:
    phase = PhaseFactory.create(track__recipe="essay-scoring@1")
    publish_reference_version(phase=phase, data=dumped(ROWS[:9]), actor=None)
    submission = send(phase, TeamFactory.create(competition=phase.track.competition), dumped(answers(9)))
    first = execute(submission.runs.get())
    publish_reference_version(phase=phase, data=dumped(ROWS), actor=None, replace_in_use=True)
    again = execute(runs.queue_run(submission=submission))
    assert (first.scores["parse_failures"], again.scores["parse_failures"]) == (0, 1)
    assert again.scores["rmse"] == pytest.approx(expected(range(10)), abs=1e-12)
