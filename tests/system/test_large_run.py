"""A large run on a real site: its slices are computed by its worker, which is killed in the middle; scored once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.system.make_contest import answers
from tests.system.stack import LARGE_RUN_ITEMS, SLICE_ITEMS, Stack
from tests.system.visitor import Visitor, run_of, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services
ITEMS, WORDS = LARGE_RUN_ITEMS + SLICE_ITEMS, 4
SLUG = "large-run"


def slices_of(stack: Stack) -> list[tuple[Any, ...]]:
    """(parent, state, attempt) of every slice, in order."""
    return stack.query("SELECT parent_id, state, attempt FROM jobs_job WHERE kind = 'slice' ORDER BY id")


def values_of(stack: Stack, public_id: str) -> list[tuple[Any, ...]]:
    return stack.query(
        "SELECT metric, values FROM submissions_metricresult m JOIN submissions_submission s"
        " ON m.submission_id = s.id WHERE s.public_id = %s ORDER BY metric",
        public_id,
    )


def test_large_run_survives_the_death_of_its_worker_and_gives_the_same_to_the_last_bit(stack: Stack) -> None:
    contest = stack.call("tests.system.make_contest", "make_numbered", SLUG, ITEMS, WORDS)
    visitor = Visitor(stack)
    visitor.found_team(SLUG, "큰 파일")
    stack.wait_for_models()
    content = answers(contest["ids"], WORDS, wrong=ITEMS // 2)

    first = visitor.submit(SLUG, content)
    wait_for(lambda: any(state == "finished" for _, state, _ in slices_of(stack)), "a slice is done", every=0.02)
    stack.kill_in_slice()

    run = wait_until_finished(stack, first)
    slices = slices_of(stack)
    assert (run["attempt"], run["live_run_id"]) == (1, run["id"])
    assert [parent for parent, *_ in slices] == [run["job_id"]] * (ITEMS // SLICE_ITEMS)
    assert {state for _, state, _ in slices} == {"finished"}
    assert sorted(attempt for *_, attempt in slices) == [1] * (len(slices) - 1) + [2]

    stack.query("TRUNCATE submissions_pairvalue")
    other = Visitor(stack)
    other.found_team(SLUG, "같은 파일")
    second = other.submit(SLUG, content)
    again = wait_until_finished(stack, second)
    assert len(slices_of(stack)) == 2 * len(slices)
    assert again["final_score"] == run["final_score"] == run_of(stack, first)["final_score"]
    assert values_of(stack, second) == values_of(stack, first)
