"""The way of one submission, as the README tells it: walked under a tracer."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, FunctionType
from typing import Any

import pytest

from malpan.competitions.models import Phase
from malpan.jobs import doorbell, tasks
from malpan.submissions.models import ScoringRun
from malpan.teams.models import Team
from tests.submissions.conftest import send
from tests.test_readme import resolve, way_of_one_submission

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def traced(functions: dict[Any, str]) -> Iterator[list[str]]:
    """The names of those ``functions`` (by code object) that are called inside, as they are called."""
    calls: list[str] = []

    def note(frame: FrameType, event: str, _argument: object) -> None:
        if event == "call" and (name := functions.get(frame.f_code)):
            calls.append(name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        yield calls
    finally:
        sys.setprofile(before)


def code_of(found: Any) -> Any:
    """The code of a function, or of the function behind a Celery task."""
    function = found if isinstance(found, FunctionType) else found.run
    return getattr(function, "__func__", function).__code__


def test_a_submission_takes_the_way_that_the_readme_tells(
    phase: Phase, team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the upload to the result in one thread: the ring is heard at once, by the task that hears it elsewhere."""
    way = way_of_one_submission("README.md")
    ring = doorbell.ring
    heard: list[str] = []
    monkeypatch.setattr(doorbell.current_app._get_current_object(), "send_task", lambda name, **_: heard.append(name))

    with traced({code_of(resolve(name)): name for name in way}) as calls:
        submission = send(phase, team)
        while heard:
            assert heard.pop() == doorbell.TASK
            tasks.work()

    assert calls == way
    assert ring is doorbell.ring
    assert submission.runs.get().state == ScoringRun.State.FINISHED
