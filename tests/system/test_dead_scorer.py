"""A scoring worker that stands still: what a participant, an organiser, an operator and a load balancer are told."""

from __future__ import annotations

import signal

import pytest

from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services

WAITS = "채점 서버를 기다리는 중입니다"
DEAD = "채점하는 서버가 없습니다"


def test_all_four_places_say_that_nobody_scores_and_stop_saying_it(stack: Stack) -> None:
    contest = stack.call("tests.system.make_contest", "make_numbered", "dead", 5, 3)
    visitor, operator = Visitor(stack), Visitor(stack)
    visitor.found_team("dead", "기다리는 팀")
    stack.query("UPDATE accounts_user SET is_staff = true, is_superuser = true WHERE email = %s", operator.email)
    stack.wait_for_models()
    wait_for(lambda: DEAD not in operator.get("/manage/site/").text, "the worker reports")
    stopped = [stack.program("scoring@%h"), stack.pool_child()]
    for process in stopped:
        process.send_signal(signal.SIGSTOP)
    try:
        public_id = visitor.submit("dead", answers(contest["ids"], 3))
        places = {
            "participant": lambda: WAITS in visitor.get(f"/submissions/{public_id}/").text,
            "history": lambda: WAITS in visitor.get("/competitions/dead/submissions/").text,
            "organiser": lambda: DEAD in operator.get("/competitions/dead/manage/phases/").text,
            "operator": lambda: DEAD in operator.get("/manage/site/").text,
            "healthz": lambda: "no scoring process takes work" in operator.get("/healthz/?format=text").text,
        }
        for place, says_so in places.items():
            wait_for(says_so, f"{place} is told")
        assert "예상 완료" not in visitor.get(f"/submissions/{public_id}/").text
        assert "보고 없음" in operator.get("/manage/site/").text
    finally:
        for process in stopped:
            process.send_signal(signal.SIGCONT)
    wait_until_finished(stack, public_id)
    for place, says_so in places.items():
        wait_for(lambda says_so=says_so: not says_so(), f"{place} is told that it is over")
