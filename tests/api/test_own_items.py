"""Own submissions item by item, and two of them compared, by the API: what the pages show to the same reader."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from django.core.cache import cache

from malpan.competitions.models import Phase
from malpan.jobs.models import Job
from malpan.leaderboard.comparing import computing
from malpan.leaderboard.models import ResultComparison
from malpan.submissions.models import HiddenResult, Submission
from tests.api.conftest import Api
from tests.database import written_for_now
from tests.factories import CANARY, PhaseFactory, TeamFactory, UserFactory, leader_of
from tests.leaderboard.compared_world import ANSWERS, TRIALS, two_results
from tests.web.matrix import client_of
from tests.web.test_comparison_page import work
from tests.web.visibility_world import STATES, State, World, canaries_in, make

pytestmark = pytest.mark.django_db
Pair = tuple[Submission, Submission]
VALUES = {"q1": 0.9, "q2": 0.1, "q3": 0.4}  # of one metric; q2 is private


@pytest.fixture
def pair(monkeypatch: pytest.MonkeyPatch) -> Pair:
    monkeypatch.setattr(computing, "TRIALS", TRIALS)
    return two_results()


def asked(user: Any, path: str, status: int = 200, **query: Any) -> Any:
    answer = Api(user).client.get(f"/api/v1/submissions/{path}", query)
    assert answer.status_code == status, answer.content.decode()
    assert CANARY not in answer.content.decode()
    return answer.json()


def items_of(row: Submission, **query: Any) -> Any:
    return asked(leader_of(row.team), f"{row.public_id}/items/", **query)


def compared(pair: Pair, rest: str = "", **query: Any) -> Any:
    one, other = pair
    return asked(leader_of(one.team), f"{one.public_id}/compare/{other.public_id}/{rest}", **query)


def open_items(pair: Pair, item_scores: str) -> None:
    """With ``VALUES``, of which q2 is private."""
    Phase.objects.filter(pk=pair[0].phase_id).update(item_scores=item_scores)
    for row in pair:
        row.metric_results.exclude(metric="bleurt").delete()
        row.metric_results.filter(metric="bleurt").update(values=VALUES)
        assert row.live_run is not None
        type(row.live_run.reference_version).objects.filter(phase=row.phase).update(public_ids=["q1", "q3"])


def test_own_answers_are_there_and_no_values_while_items_are_closed(pair: Pair) -> None:
    found = items_of(pair[1])
    assert [(each["id"], each["answer"], each["values"]) for each in found["items"]] == [
        ("q1", ANSWERS[0], {}), ("q2", ANSWERS[0], {}), ("q3", ANSWERS[1], {}),
    ]  # fmt: skip
    assert (found["item_scores"], found["metrics"], found["is_unreadable"]) == ("closed", [], False)
    assert [each["question"] for each in found["items"]] == ["1번 문제", "2번 문제", "3번 문제"]
    both = compared(pair, "items/")
    assert [(each["one"], each["other"], each["is_same"], each["values"]) for each in both["items"]] == [
        (ANSWERS[0], ANSWERS[0], True, {}), (ANSWERS[0], ANSWERS[0], True, {}), (*ANSWERS, False, {}),
    ]  # fmt: skip
    assert [each["question"] for each in both["items"]] == ["1번 문제", "2번 문제", "3번 문제"]
    assert both["changed_count"] == 1


def test_open_items_have_the_values_of_the_public_split_the_lowest_first(pair: Pair) -> None:
    open_items(pair, "open")
    found = items_of(pair[1], by="bleurt")
    assert [(each["id"], each["values"]) for each in found["items"]] == [
        ("q3", {"bleurt": {"low": 0.4, "high": 0.4}}), ("q1", {"bleurt": {"low": 0.9, "high": 0.9}}), ("q2", {}),
    ]  # fmt: skip
    assert [each["key"] for each in found["metrics"]] == ["bleurt"]
    both = {each["id"]: each["values"] for each in compared(pair, "items/")["items"]}
    assert both == {
        "q1": {"bleurt": [{"low": 0.9, "high": 0.9}] * 2},
        "q2": {},
        "q3": {"bleurt": [{"low": 0.4, "high": 0.4}] * 2},
    }


def test_binned_items_are_in_quarters_and_in_the_order_of_the_file(pair: Pair) -> None:
    open_items(pair, "binned")
    found = items_of(pair[1], by="bleurt")
    assert [(each["id"], each["values"].get("bleurt")) for each in found["items"]] == [
        ("q1", {"low": 0.75, "high": 1.0}), ("q2", None), ("q3", {"low": 0.25, "high": 0.5}),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("rules", "refusal"),
    [({"score_step": Decimal("0.01")}, "rounded"), ({"board": "hidden", "shows_own_score": False}, "withheld")],
)
def test_scores_that_are_not_told_are_told_in_no_item_and_not_compared(
    pair: Pair, rules: dict[str, Any], refusal: str
) -> None:
    open_items(pair, "open")
    Phase.objects.filter(pk=pair[0].phase_id).update(**rules)
    assert [each["values"] for each in items_of(pair[0])["items"]] == [{}, {}, {}]
    assert [each["values"] for each in compared(pair, "items/")["items"]] == [{}, {}, {}]
    found = compared(pair)
    assert (found["refusal"], found["scores"], found["is_computed"]) == (refusal, [], False)
    assert not ResultComparison.objects.exists()


def test_differences_are_tested_by_a_worker_once(pair: Pair) -> None:
    first = compared(pair)
    assert (first["is_computed"], first["refusal"], first["reason"]) == (False, None, None)
    [final] = [each for each in first["scores"] if each["key"] == "final_score"]
    assert final["difference"] == pytest.approx(final["other"] - final["one"])
    assert "p" not in final
    compared(pair[::-1])
    assert Job.objects.filter(kind="compare_results").count() == 1
    work()
    found, row = compared(pair[::-1]), ResultComparison.objects.get()
    assert (found["one"], found["other"]) == tuple(str(each.public_id) for each in pair)
    assert (found["is_computed"], found["items"], found["trials"]) == (True, 40, TRIALS)
    known = {each["key"]: (each.get("p"), each.get("interval"), each.get("is_significant")) for each in found["scores"]}
    line = row.lines["final_score"]
    assert known["final_score"] == (line["p"], line["interval"], True)
    assert [each["difference_text"][0] for each in found["scores"] if each["key"] == "final_score"] == ["+"]


def test_private_scores_are_compared_after_the_final_board_alone(pair: Pair) -> None:
    for row, score in zip(pair, (0.2, 0.3), strict=True):
        scores = {"final_score": score}
        HiddenResult.objects.create(
            run=row.live_run, final_score=score, scores=scores, coverage={}, warnings=[], signature_hash="6" * 64
        )
    found = compared(pair, split="private")
    assert (found["split"], found["has_private"]) == ("public", False)
    assert 0.2 not in [each["one"] for each in found["scores"]]
    Phase.objects.filter(pk=pair[0].phase_id).update(final_published_at=pair[1].created_at)
    found = compared(pair, split="private")
    assert (found["split"], found["has_private"]) == ("private", True)
    assert [(each["key"], each["one"], each["other"]) for each in found["scores"]] == [("final_score", 0.2, 0.3)]
    assert compared(pair)["split"] == "public"
    asked(leader_of(pair[0].team), f"{pair[0].public_id}/compare/{pair[1].public_id}/", 422, split="both")


def test_nobody_else_has_them_not_even_organisers(pair: Pair) -> None:
    one, other = pair
    paths = [
        f"{one.public_id}/{rest}"
        for rest in ("items/", f"compare/{other.public_id}/", f"compare/{other.public_id}/items/")
    ]
    for user in (
        leader_of(TeamFactory.create(competition=one.team.competition)),
        UserFactory.create(is_superuser=True),
    ):
        for path in paths:
            assert asked(user, path, 404)["code"] == "submission_not_found"
    for path in paths:
        asked(None, path, 401)
    own = leader_of(one.team)
    for rest in ("", "items/"):
        asked(own, f"{one.public_id}/compare/{one.public_id}/{rest}", 404)
    Submission.objects.filter(pk=other.pk).update(phase=PhaseFactory.create(track=one.phase.track))
    asked(own, paths[1], 404)


def test_lists_come_in_pages(pair: Pair) -> None:
    found = items_of(pair[0], page_size=2)
    assert (found["count"], len(found["items"])) == (3, 2)
    assert "page=2" in found["next"]
    last = items_of(pair[0], page_size=2, page=2)
    assert ([each["id"] for each in last["items"]], last["next"]) == (["q3"], None)
    assert [each["id"] for each in compared(pair, "items/", changed=True)["items"]] == ["q3"]


def test_a_file_that_cannot_be_read_is_no_fault(pair: Pair) -> None:
    Submission.objects.filter(pk=pair[1].pk).update(file_sha256="0" * 64)
    found, both = items_of(pair[1]), compared(pair, "items/")
    for each in (found, both):
        assert (each["is_unreadable"], each["items"], each["count"]) == (True, [], 0)


@pytest.fixture(scope="module", params=STATES, ids=lambda state: state.name)
def made(kept: None, request: pytest.FixtureRequest) -> Iterator[tuple[State, World]]:
    """A state and the world in it, which is gone before that in the next state is made."""
    state: State = request.param
    with written_for_now():
        yield state, make(state)


@pytest.mark.parametrize("item_scores", ["closed", "binned", "open"])
def test_the_api_shows_the_canaries_of_the_page_and_no_others(made: tuple[State, World], item_scores: str) -> None:
    """In every state of a phase, of the own team; none to any other."""
    state, world = copy.deepcopy(made)
    Phase.objects.filter(pk=world.phase.pk).update(item_scores=item_scores)
    cache.clear()
    one, other = (f"/submissions/{world.submissions[name].public_id}/" for name in ("own.before", "own.after"))
    compare = f"{one}compare/{world.submissions['own.after'].public_id}/"
    asked = {  # of the page, and of the API
        f"{one}items/": [f"{one}items/"],
        f"{other}items/": [f"{other}items/"],
        f"{compare}?items=all": [compare, f"{compare}items/"],
        f"{compare}?split=private&items=all": [f"{compare}?split=private", f"{compare}items/"],
    }
    paths = dict.fromkeys(path for answers in asked.values() for path in answers)
    client = client_of(world, "own team")
    shown_at = {page: set(canaries_in(client.get(page).content.decode())) for page in asked}
    told_at = {path: set(canaries_in(client.get(f"/api/v1{path}").content.decode())) for path in paths}
    seen: set[str] = set()
    for page, answers in asked.items():
        told = {each for path in answers for each in told_at[path]}
        assert told == shown_at[page], page
        assert {each for each in told if each.startswith("answers")}, "the own answers are there, whatever is closed"
        seen |= told
    for viewer in ("anonymous", "judge", "other team", "organiser"):
        stranger = client_of(world, viewer)
        for path in paths:
            refused = stranger.get(f"/api/v1{path}")
            assert (refused.status_code in (401, 404), list(canaries_in(refused.content.decode()))) == (True, [])
    values = {each for each in seen if each.startswith(("public item", "private item"))}
    if item_scores != "open":
        assert values == set()
    assert any(each.startswith("private item") for each in values) == (state.is_published and item_scores == "open")
