"""A large run on a real site: its slices are computed by its worker, which is killed in the middle; scored once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, run_of, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services
ITEMS, WORDS, SLICE_ITEMS = 180, 4, 30
SLUG = "large"


@pytest.fixture
def site(new_stack: Stack) -> Stack:
    """A site that takes a hundred items for many."""
    new_stack.environment |= {"LARGE_RUN_ITEMS": "100", "SLICE_ITEMS": str(SLICE_ITEMS)}
    new_stack.start()
    return new_stack


def slices_of(stack: Stack) -> list[tuple[Any, ...]]:
    """(parent, state, attempt) of every slice, in order."""
    return stack.query("SELECT parent_id, state, attempt FROM jobs_job WHERE kind = 'slice' ORDER BY id")


def values_of(stack: Stack, public_id: str) -> list[tuple[Any, ...]]:
    return stack.query(
        "SELECT metric, values FROM submissions_metricresult m JOIN submissions_submission s"
        " ON m.submission_id = s.id WHERE s.public_id = %s ORDER BY metric",
        public_id,
    )


def test_large_run_survives_the_death_of_its_worker_and_gives_the_same_to_the_last_bit(site: Stack) -> None:
    contest = site.run_script("tests.system.make_contest", SLUG, str(ITEMS), str(WORDS))
    visitor = Visitor(site)
    visitor.found_team(SLUG, "큰 파일")
    wait_for(lambda: "models of demo loaded" in site.log, "the worker is ready", seconds=90)
    content = answers(contest["ids"], WORDS, wrong=ITEMS // 2)

    first = visitor.submit(SLUG, content)
    wait_for(lambda: any(state == "finished" for _, state, _ in slices_of(site)), "a slice is done", every=0.02)
    wait_for(lambda: any(state == "running" for _, state, _ in slices_of(site)), "one is under way", every=0.01)
    site.pool_child().kill()

    run = wait_until_finished(site, first)
    slices = slices_of(site)
    assert (run["attempt"], run["live_run_id"]) == (1, run["id"])
    assert [parent for parent, *_ in slices] == [run["job_id"]] * (ITEMS // SLICE_ITEMS)
    assert {state for _, state, _ in slices} == {"finished"}
    assert sorted(attempt for *_, attempt in slices) == [1] * (len(slices) - 1) + [2]

    site.query("TRUNCATE submissions_pairvalue")
    other = Visitor(site)
    other.found_team(SLUG, "같은 파일")
    second = other.submit(SLUG, content)
    again = wait_until_finished(site, second)
    assert len(slices_of(site)) == 2 * len(slices)
    assert again["final_score"] == run["final_score"] == run_of(site, first)["final_score"]
    assert values_of(site, second) == values_of(site, first)
