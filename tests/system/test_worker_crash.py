"""A scoring process killed in the middle of a run: the run is finished by another attempt, once, by itself."""

from __future__ import annotations

from collections.abc import Callable

import psutil
import pytest

from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, run_of, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services
ITEMS, REASON_WORDS = 150, 6  # enough work to be caught in the middle


@pytest.fixture(scope="module")
def contest(stack: Stack) -> dict:
    return stack.call("tests.system.make_contest", "make_numbered", "large", ITEMS, REASON_WORDS)


@pytest.mark.parametrize(
    ("victim", "words"),  # reasons of other lengths: what one case has scored must not spare the other its work
    [(Stack.pool_child, REASON_WORDS), (lambda stack: stack.program("scoring"), REASON_WORDS - 1)],
    ids=["the pool's child", "the whole worker"],
)
def test_a_run_whose_worker_was_killed_is_finished_once_by_another_attempt(
    stack: Stack, contest: dict, victim: Callable[[Stack], psutil.Process], words: int, request: pytest.FixtureRequest
) -> None:
    visitor = Visitor(stack)
    visitor.found_team("large", request.node.callspec.id)
    stack.wait_for_models()
    public_id = visitor.submit("large", answers(contest["ids"], words, wrong=ITEMS // 2))
    [[submission]] = stack.query("SELECT id FROM submissions_submission WHERE public_id = %s", public_id)
    with stack.held("submissions_submission", submission):  # the run cannot be finished before the kill
        wait_for(lambda: run_of(stack, public_id)["state"] == "running", "the run is claimed", every=0.02)
        victim(stack).kill()

    run = wait_until_finished(stack, public_id)
    assert run["attempt"] == 2
    assert run["live_run_id"] == run["id"]
    values = stack.query(
        "SELECT metric, count(*) FROM submissions_metricresult m"
        " JOIN submissions_submission s ON m.submission_id = s.id WHERE s.public_id = %s GROUP BY metric",
        public_id,
    )
    assert dict(values) == {"exact_match": 1, "rouge1_mecab": 1, "bertscore": 1, "bleurt": 1}
