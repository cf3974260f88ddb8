"""One trace from the upload to the score, through a real web process and the forked process of a real worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from malpan.core import tracing
from tests.collector import Collector
from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services


@pytest.fixture
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.close()


def test_the_spans_of_the_upload_and_of_the_score_are_one_trace(new_stack: Stack, collector: Collector) -> None:
    site = new_stack
    site.environment[tracing.ENDPOINT] = collector.url
    site.start()
    ids = site.call("tests.system.make_contest", "make_numbered", "traced", 5, 3)["ids"]
    visitor = Visitor(site)
    visitor.found_team("traced", "추적되는 팀")
    site.wait_for_models()
    wait_until_finished(site, visitor.submit("traced", answers(ids, 3)))

    def sent_by(wanted: str) -> dict:
        """By name; of web processes there are several."""
        return {span.name: span for program, span in collector.received() if program.startswith(wanted)}

    wait_for(lambda: {"run", "engine"} <= sent_by("worker").keys(), "the worker's spans arrive")
    run, engine = (sent_by("worker")[name] for name in ("run", "engine"))
    upload = wait_for(
        lambda: next((each for each in sent_by("web").values() if each.span_id == run.parent_span_id), None),
        "the upload's span arrives",
    )
    assert upload.name.startswith("POST competitions/")
    assert upload.name.endswith("/submit/")
    assert upload.trace_id == run.trace_id == engine.trace_id
    assert engine.parent_span_id == run.span_id
