"""A whole site whose files are in an S3 server: no program of it needs a disk of another, and none is lost with it."""

from __future__ import annotations

import pytest

from tests.in_s3 import new_place
from tests.s3_server import ACCESS_KEY, SECRET_KEY, S3Server
from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services
ITEMS = 6


@pytest.fixture
def site(new_stack: Stack, s3_server: S3Server) -> Stack:
    new_stack.environment |= {
        "MALPAN_STORAGE": new_place(),
        "S3_ENDPOINT": s3_server.endpoint,
        "S3_ACCESS_KEY": ACCESS_KEY,
        "S3_SECRET_KEY": SECRET_KEY,
    }
    new_stack.start()
    return new_stack


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
        refused = visitor.upload("s3", answers(contest["ids"], 3, wrong=3), at_end="/submit/").text
        assert "서버가 파일을 저장하거나 읽지 못했습니다. 잠시 뒤에 다시 시도해 주십시오." in refused
        assert "<strong>18</strong>/20회 남음" in refused, "nothing is charged for it"
        met = "SELECT failures FROM jobs_job WHERE error_code = 'storage_unavailable' AND state = 'queued'"
        wait_for(lambda: site.query(met) == [(0,)], "an attempt met the store that is away, and waits")
    finally:
        s3_server.start()
    assert wait_until_finished(site, waiting)["live_run_id"]
    third = visitor.submit("s3", answers(contest["ids"], 3, wrong=3))
    wait_until_finished(site, third)

    assert site.query("SELECT count(*) FROM submissions_submission") == [(3,)]
    assert not [path for path in (site.var_dir / "private").rglob("*") if path.is_file()]
