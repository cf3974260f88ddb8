"""What one worker scored for one team is not computed by another worker for another team."""

from __future__ import annotations

import json

import pytest

from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services
ITEMS, REASON_WORDS, CHANGED = 40, 4, 10
STORED_METRICS = 3  # bleurt, bertscore, rouge_1


def test_ten_changed_answers_cost_ten_pairs_a_metric_with_real_models_and_another_process(stack: Stack) -> None:
    contest = stack.call("tests.system.make_contest", "make_numbered", "pairs", ITEMS, REASON_WORDS)
    ids = contest["ids"]
    first_file = json.loads(answers(ids, 2))
    changed = first_file[:-CHANGED] + json.loads(answers(ids, 3))[-CHANGED:]
    stack.wait_for_models()

    def stored() -> int:
        [(count,)] = stack.query("SELECT count(*) FROM submissions_pairvalue")
        return count

    def scored(team: str, rows: list[dict]) -> dict:
        visitor = Visitor(stack)
        visitor.found_team("pairs", team)
        run = wait_until_finished(stack, visitor.submit("pairs", json.dumps(rows, ensure_ascii=False).encode()))
        [(scores,)] = stack.query("SELECT scores FROM submissions_scoringrun WHERE id = %s", run["id"])
        return scores

    before = stored()
    scored("먼저 낸 팀", first_file)
    assert stored() - before == ITEMS * STORED_METRICS

    first_process = stack.pool_child().pid
    stack.pool_child().kill()
    wait_for(lambda: stack.pool_child().pid != first_process, "another process takes over")
    from_store = scored("나중에 낸 팀", changed)
    assert stored() - before == (ITEMS + CHANGED) * STORED_METRICS

    stack.query("TRUNCATE submissions_pairvalue")
    computed = scored("모두 새로 계산한 팀", changed)
    assert stored() == ITEMS * STORED_METRICS
    assert computed == pytest.approx(from_store, abs=1e-6)
