"""A whole site whose files are in an S3 server: no program of it needs a disk of another, and none is lost with it.

Its spans go to a collector: one trace from the upload to the score, through a real web process and the forked process
of a real worker.
"""

from __future__ import annotations

import time

import pytest

from tests.collector import Collector
from tests.s3_server import S3Server
from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Unavailable, Visitor, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services
ITEMS = 6


def test_the_spans_of_the_upload_and_of_the_score_are_one_trace(site: Stack, collector: Collector) -> None:
    began = time.time_ns()
    ids = site.call("tests.system.make_contest", "make_numbered", "traced", 5, 3)["ids"]
    visitor = Visitor(site)
    visitor.found_team("traced", "추적되는 팀")
    site.wait_for_models()
    wait_until_finished(site, visitor.submit("traced", answers(ids, 3)))

    def sent_by(wanted: str) -> dict:
        """By name; of web processes there are several."""
        found = [(program, span) for program, span in collector.received() if span.end_time_unix_nano > began]
        return {span.name: span for program, span in found if program.startswith(wanted)}

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


def test_files_go_through_the_store_alone_and_what_was_uploaded_before_it_fell_is_scored_after(
    site: Stack, s3_server: S3Server
) -> None:
    contest = site.call("tests.system.make_contest", "make_numbered", "s3", ITEMS, 3)
    visitor = Visitor(site)
    visitor.found_team("s3", "가나다라")
    first = visitor.submit("s3", answers(contest["ids"], 3, wrong=1))
    wait_until_finished(site, first)

    site.wait_for_models()
    worker = site.program("scoring")
    worker.suspend()  # what comes now waits
    waiting = visitor.submit("s3", answers(contest["ids"], 3, wrong=2))
    s3_server.kill()
    try:
        worker.resume()
        with pytest.raises(Unavailable) as refused:
            visitor.upload("s3", answers(contest["ids"], 3, wrong=3))
        assert "서버가 파일을 저장하거나 읽지 못했습니다. 잠시 뒤에 다시 시도해 주십시오." in refused.value.page
        form = visitor.get("/competitions/s3/submit/").text
        assert "<strong>18</strong>/20회 남음" in form, "nothing is charged for it"
        met = "SELECT failures FROM jobs_job WHERE error_code = 'storage_unavailable' AND state = 'queued'"
        wait_for(lambda: site.query(met) == [(0,)], "an attempt met the store that is away, and waits")
    finally:
        s3_server.start()
    assert wait_until_finished(site, waiting)["live_run_id"]
    third = visitor.submit("s3", answers(contest["ids"], 3, wrong=3))
    wait_until_finished(site, third)

    sent = "SELECT count(*) FROM submissions_submission JOIN teams_team team ON team.id = team_id WHERE team.name = %s"
    assert site.query(sent, "가나다라") == [(3,)]
    assert not [path for path in (site.var_dir / "private").rglob("*") if path.is_file()]
