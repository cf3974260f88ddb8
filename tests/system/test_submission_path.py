"""One submission all the way: HTTP upload, the queue, a Celery worker process, the board over HTTP."""

from __future__ import annotations

import pytest
import requests

from tests.system.make_contest import answers
from tests.system.stack import METRICS_TOKEN, Stack
from tests.system.visitor import Visitor, wait_until_finished

pytestmark = pytest.mark.services


def test_an_upload_is_scored_by_a_worker_process_and_stands_on_the_board(stack: Stack) -> None:
    contest = stack.call("tests.system.make_contest", "make_numbered", "small", 4, 3)
    visitor = Visitor(stack)
    visitor.found_team("small", "가나다라")

    public_id = visitor.submit("small", answers(contest["ids"], words=3, wrong=1))
    run = wait_until_finished(stack, public_id)

    assert str(run["worker"]).startswith("scoring@")
    assert run["attempt"] == 1
    page = visitor.get("/competitions/small/board/").text
    assert "가나다라" in page
    assert "75.0000" in page  # three of four answers are right
    assert f"{run['final_score'] * 100:.4f}" in page
    assert f"{run['final_score'] * 100:.7f}" in visitor.get(f"/submissions/{public_id}/").text
    reported = requests.get(
        f"{stack.url}/openmetrics/", headers={"Authorization": f"Bearer {METRICS_TOKEN}"}, timeout=120
    ).text
    assert "malpan_workers 1.0\n" in reported
    assert 'malpan_pairs_total{known="no",worker="scoring@' in reported
    assert (
        'malpan_http_requests_total{method="POST",route="competitions/<slug:slug>/submit/",status="302"} ' in reported
    )


def test_the_recipe_and_metric_of_a_plug_in_work_on_the_site(stack: Stack) -> None:
    ids = ["1", "2", "3"]
    stack.call("tests.system.make_contest", "make_scored_by", "toy@1", "toys", ids)
    visitor = Visitor(stack)
    visitor.found_team("toys", "장난감 팀")

    run = wait_until_finished(stack, visitor.submit("toys", answers(ids, words=3)))

    assert run["final_score"] == 1.0
    [(recipe, signature)] = stack.query("SELECT recipe, signature FROM submissions_scoringrun WHERE id = %s", run["id"])
    assert recipe == "toy@1"
    assert signature["plugin"] == {"distribution": "toy-metrics", "version": "1.2"}
    page = visitor.get("/competitions/toys/board/").text
    assert "장난감 팀" in page
    assert "글자 겹침" in page
    assert "100.0000" in page
