"""The first start of the local default: a demo contest scored through the real queue, the board printed at the end.

SIGHUP, as of a closed terminal, stops the site and leaves no process behind.
"""

from __future__ import annotations

import signal

import pytest

from tests.system.stack import Stack
from tests.waiting import wait_for

pytestmark = pytest.mark.services
PATIENCE_SECONDS = 600  # it takes half a minute on an idle machine of two cores; CI has other work


def test_the_first_start_ends_with_a_complete_board_and_the_second_keeps_it(empty_stack: Stack) -> None:
    site = empty_stack
    site.environment["LOAD_DEMO"] = "on"
    site.start()
    wait_for(lambda: "board complete" in site.log, "the complete board", seconds=PATIENCE_SECONDS, every=0.5)

    workers = site.query(
        "SELECT state, split_part(worker, '@', 1), count(*) FROM jobs_job WHERE lane < 2 GROUP BY 1, 2"
    )
    assert [(state, worker) for state, worker, _ in workers] == [("finished", "scoring")]
    teams = site.query("SELECT DISTINCT name FROM teams_team WHERE NOT is_baseline AND length(name) <= 15")
    assert len(teams) >= 7
    assert all(name in site.log for (name,) in teams)
    assert "데모 모델 점수" in site.log

    site.stop_at(signal.SIGHUP)
    site.start()
    wait_for(lambda: "s after start" in site.log, "the board again", every=0.2)
    assert all(name in site.log for (name,) in teams)
