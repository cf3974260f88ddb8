"""A web process killed amid an upload: what it had of the file is gone after the next start.

SIGTERM stops the site and leaves no process behind.
"""

from __future__ import annotations

import signal
import threading
from pathlib import Path

import pytest
import requests

from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor
from tests.waiting import wait_for

pytestmark = pytest.mark.services
ABOVE_MEMORY = 3 * 1024 * 1024  # a smaller file is never on the disk


def uploads(stack: Stack) -> list[Path]:
    return list((stack.var_dir / "tmp").glob("*.upload*"))


def test_what_a_killed_process_had_of_an_upload_is_gone_after_the_next_start(new_stack: Stack) -> None:
    new_stack.environment["WEB_WORKERS"] = "1"
    new_stack.start()
    ids = new_stack.call("tests.system.make_contest", "make_numbered", "killed", 3, 3)["ids"]
    visitor = Visitor(new_stack)
    visitor.found_team("killed", "끊긴 팀")
    large = answers(ids, 3) + b" " * ABOVE_MEMORY

    def send() -> None:
        with pytest.raises(requests.ConnectionError):
            visitor.upload("killed", large)

    sender = threading.Thread(target=send)
    [[team]] = new_stack.query("SELECT id FROM teams_team")
    with new_stack.held("teams_team", team):  # its upload stands still before it is accepted
        sender.start()
        wait_for(lambda: uploads(new_stack), "the upload is on the disk")
        new_stack.program("malpan.web_server").kill()
        sender.join(120)
    left = uploads(new_stack)
    assert left, "a killed process cannot remove its file"
    half_checked = new_stack.var_dir / "tmp" / "check-x" / "frames"
    half_checked.mkdir(parents=True)

    new_stack.stop_at(signal.SIGTERM)
    new_stack.start()
    assert not any(path.exists() for path in [*left, half_checked.parent])
    assert new_stack.query("SELECT count(*) FROM submissions_submission") == [(0,)]
