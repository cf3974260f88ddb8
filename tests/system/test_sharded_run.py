"""A large run on a real site: cut into shards by its worker, which is killed in the middle, and gathered once."""

from __future__ import annotations

from typing import Any

import pytest

from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, run_of, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services
ITEMS, WORDS, SLICE_ITEMS = 180, 4, 30
SLUG = "sharded"


@pytest.fixture
def site(new_stack: Stack) -> Stack:
    """A site that takes a hundred items for many and remembers no pair."""
    new_stack.environment |= {
        "LARGE_RUN_ITEMS": "100",
        "SLICE_ITEMS": str(SLICE_ITEMS),
        "PAIR_VALUES_MAX_ROWS": "0",
    }
    new_stack.start()
    return new_stack


def shards_of(stack: Stack) -> list[tuple[Any, ...]]:
    """(kind, state, attempt) of every shard, in order."""
    return stack.query("SELECT kind, state, attempt FROM submissions_runshard ORDER BY run_id, number")


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
    wait_for(lambda: any(state == "finished" for _, state, _ in shards_of(site)), "a shard is done", every=0.02)
    wait_for(lambda: any(state == "running" for _, state, _ in shards_of(site)), "one is under way", every=0.01)
    site.pool_child().kill()

    run = wait_until_finished(site, first)
    shards = shards_of(site)
    assert (run["attempt"], run["live_run_id"]) == (1, run["id"])
    assert [kind for kind, *_ in shards] == ["score"] * (ITEMS // SLICE_ITEMS) + ["gather"]
    assert {state for _, state, _ in shards} == {"finished"}
    assert sorted(attempt for *_, attempt in shards) == [1] * (len(shards) - 1) + [2]
    work = site.var_dir / "private" / "work"
    assert not work.exists() or not list(work.iterdir())

    other = Visitor(site)
    other.found_team(SLUG, "같은 파일")
    second = other.submit(SLUG, content)
    again = wait_until_finished(site, second)
    assert again["final_score"] == run["final_score"] == run_of(site, first)["final_score"]
    assert values_of(site, second) == values_of(site, first)
