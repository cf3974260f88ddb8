"""PostgreSQL killed and away for seconds, or hanging, as Redis too: the site goes on by itself."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

import psutil
import psycopg
import pytest

from malpan.core.database.base import AGAIN_SECONDS
from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Unavailable, Visitor, run_of, submission_at, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services

AWAY_SECONDS = 4.0
# within which a worker, every half second, or a page, after two, asks again where others do not take the cores
BACK_SECONDS = 10.0
HANG_SECONDS = 15.0  # 8 where nobody takes the cores
ITEMS, REASON_WORDS = 150, 6  # work of a second
LONG_WORDS = 18  # of some seconds: PostgreSQL goes in its middle


def runs_of(site: Stack, team: str) -> list[tuple]:
    """(attempt, failures, state) of the job of every run of a team's submissions."""
    return site.query(
        "SELECT job.attempt, job.failures, job.state FROM jobs_job job JOIN submissions_scoringrun run"
        " ON run.job_id = job.id JOIN submissions_submission sent ON sent.id = run.submission_id"
        " JOIN teams_team team ON team.id = sent.team_id WHERE team.name = %s ORDER BY job.id",
        team,
    )


@contextmanager
def stopped(*processes: psutil.Process) -> Iterator[None]:
    for each in processes:
        each.suspend()
    try:
        yield
    finally:
        for each in processes:
            with suppress(psutil.NoSuchProcess):  # a child that saves for its server ends with it
                each.resume()


@contextmanager
def without_postgres(site: Stack) -> Iterator[float]:
    """PostgreSQL is killed and back after ``AWAY_SECONDS``; left when it answers again. Gives since when it is away."""
    server = postgres_of(site)
    with stopped(site.supervisor):  # which starts it again
        server.send_signal(signal.SIGKILL)
        yield time.time()
        time.sleep(AWAY_SECONDS)
    wait_for(lambda: answers_again(site), "PostgreSQL is back", every=0.01)


def postgres_of(site: Stack) -> psutil.Process:
    return next(each for each in site.processes() if each.name() == "postgres" and "-D" in each.cmdline())


def answers_again(site: Stack) -> bool:
    try:
        return bool(site.query("SELECT 1"))
    except psycopg.OperationalError:
        return False


def test_an_outage_costs_no_ring_and_no_second_scoring(site: Stack) -> None:
    ids = site.call("tests.system.make_contest", "make_numbered", "outage", ITEMS, REASON_WORDS)["ids"]
    visitor = Visitor(site)
    visitor.found_team("outage", "기다리는 팀")
    site.wait_for_models()
    child, worker = site.pool_child(), site.program("scoring")
    with stopped(site.program("housekeeping"), site.program("beat")):
        with stopped(worker):  # until PostgreSQL is away, it takes no ring
            waiting = visitor.submit("outage", answers(ids, REASON_WORDS))
            outage = ExitStack()
            outage.enter_context(without_postgres(site))
        outage.close()
        assert seconds_to(site, waiting, "running", "finished") < BACK_SECONDS
        wait_until_finished(site, waiting)

        in_hand = visitor.submit("outage", answers(ids, LONG_WORDS, wrong=ITEMS // 2))
        wait_for(lambda: is_computed(site), "the worker has read the files and tells of its progress", every=0.01)
        with without_postgres(site) as gone:
            pass
        seconds_to(site, in_hand, "finished")
    assert child.is_running()
    assert runs_of(site, "기다리는 팀") == [(1, 0, "finished")] * 2, site.log[-4000:]
    late = "SELECT finished_at > to_timestamp(%s) FROM jobs_job WHERE kind = 'run' ORDER BY id DESC LIMIT 1"
    assert site.query(late, gone) == [(True,)], "PostgreSQL went in the middle of it"


def is_computed(site: Stack) -> bool:
    """Whether the newest job is: what a worker reads before, it reads again after an outage, in another attempt."""
    return site.query("SELECT stage <> '' FROM jobs_job WHERE kind = 'run' ORDER BY id DESC LIMIT 1") == [(True,)]


def seconds_to(site: Stack, public_id: str, *states: str) -> float:
    """From now, when PostgreSQL is back, until the run of ``public_id`` is in one of ``states``."""
    back = time.monotonic()
    wait_for(lambda: run_of(site, public_id)["state"] in states, f"the run is {states[0]}", every=0.02)
    seconds = time.monotonic() - back
    print(f"{states[0]} {seconds:.2f} s after the database was back")
    return seconds


def test_servers_that_hang_hold_no_page_and_lose_no_upload(site: Stack) -> None:
    """They are stopped, not killed: the kernel accepts for them, and nobody answers."""
    ids = site.call("tests.system.make_contest", "make_numbered", "hang", ITEMS, REASON_WORDS)["ids"]
    visitor = Visitor(site)
    visitor.found_team("hang", "매달린 팀")
    site.wait_for_models()
    with stopped(*(each for each in site.processes() if each.name() == "redis-server")):
        began = time.monotonic()
        sent = visitor.submit("hang", answers(ids, REASON_WORDS))
        assert time.monotonic() - began < HANG_SECONDS
    wait_until_finished(site, sent)

    server = postgres_of(site)
    with stopped(server, *server.children()):
        for _again in range(3):
            began = time.monotonic()
            answer = visitor.session.get(f"{site.url}/competitions/hang/", timeout=60)
            assert (answer.status_code, time.monotonic() - began < HANG_SECONDS) == (503, True)
    others = answers(ids, REASON_WORDS, wrong=9)
    sent = wait_for(lambda: accepted(visitor, "hang", others), "an upload is accepted", seconds=BACK_SECONDS)
    wait_until_finished(site, sent)
    assert [(failures, state) for _, failures, state in runs_of(site, "매달린 팀")] == [(0, "finished")] * 2
    sent = "SELECT count(*) FROM submissions_submission JOIN teams_team team ON team.id = team_id WHERE team.name = %s"
    assert site.query(sent, "매달린 팀") == [(2,)]
    time.sleep(AGAIN_SECONDS)  # the other web process may not have asked again yet, and the next test wants any


def accepted(visitor: Visitor, slug: str, content: bytes) -> str | None:
    """The public id of what is sent; ``None`` where its sender is told to come again: for two seconds after PostgreSQL
    did not answer it, a process asks for no other connection. It may be stored, and only its page be refused.
    """
    try:
        return visitor.submit(slug, content)
    except Unavailable as refused:
        return submission_at(refused.address)
