"""The disk of the database is really full: PostgreSQL has a file system of its own, filled to the last byte."""

from __future__ import annotations

import re
import subprocess
import sys
import time

import psycopg
import pytest
import requests

from tests.chaos.invariants import RECORD, never
from tests.paths import ROOT
from tests.system.disks import Disk
from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services

ITEMS, REASON_WORDS = 60, 6
LONG_WORDS = 40  # of some seconds: the disk is full in its middle
TEAM = "팀 앞에서 찬 디스크"
PAGE = "/competitions/full/submit/"


def send(visitor: Visitor, token: str, content: bytes) -> requests.Response:
    """An upload by the page, whatever becomes of it."""
    return visitor.session.post(
        visitor.stack.url + PAGE,
        data={"csrfmiddlewaretoken": token},
        files={"file": ("answers.json", content, "application/json")},
        headers={"Referer": visitor.stack.url + PAGE},
        timeout=60,
    )


def submission_in(answer: requests.Response) -> str:
    found = re.search(r"/submissions/([0-9a-f-]{36})/", answer.url)
    assert found, (answer.url, answer.text[-2000:])
    return found[1]


def keep_connections_possible(site: Stack) -> None:
    """A vacuum of catalogues removes a file that the next connection writes anew; PostgreSQL refuses it without room.
    That the disk is full would then show as another fault than the one here: at a connection, not at a row.
    """
    site.query("ALTER SYSTEM SET autovacuum = off")
    site.query("SELECT pg_reload_conf()")
    running = "SELECT 1 FROM pg_stat_activity WHERE backend_type LIKE 'autovacuum%%'"
    wait_for(lambda: not site.query(running), "nothing is vacuumed any more")
    site.query("SELECT 1")  # by a connection that has begun since


def has_crashed(site: Stack) -> bool:
    """Write to the log of PostgreSQL; whether it had no room for that, which ends all its processes."""
    try:
        site.query("SELECT pg_logical_emit_message(false, 'test', repeat('x', 1000000))")
    except psycopg.OperationalError:
        return True
    return False


def answers_again(site: Stack) -> bool:
    try:
        return bool(site.query("SELECT 1"))
    except psycopg.OperationalError:
        return False


def test_a_full_disk_of_the_database_costs_nobody_a_submission(site: Stack, disk: Disk) -> None:
    ids = site.call("tests.system.make_contest", "make_numbered", "full", ITEMS, REASON_WORDS)["ids"]
    site.query(RECORD)
    keep_connections_possible(site)
    visitor = Visitor(site)
    visitor.found_team("full", TEAM)
    site.wait_for_models()
    accepted = [visitor.submit("full", answers(ids, REASON_WORDS))]
    wait_until_finished(site, accepted[0])
    token = visitor.token_at(PAGE)
    accepted.append(visitor.submit("full", answers(ids, LONG_WORDS, wrong=1)))
    wait_for(lambda: site.query("SELECT 1 FROM jobs_job WHERE state = 'running' AND stage <> ''"), "it is scored")

    # every page of the tables that has room is used up; then an upload is refused
    disk.fill()
    refused = None
    for wrong in range(2, 20):
        answer = send(visitor, token, answers(ids, REASON_WORDS, wrong=wrong))
        if answer.status_code != 200:
            refused = answer
            break
        accepted.append(submission_in(answer))
    print(len(accepted), "accepted; refused:", "nothing" if refused is None else refused.status_code)
    assert refused is not None
    assert refused.status_code == 507, refused.text
    assert "저장 공간이 부족해 요청을 처리하지 못했습니다" in refused.text
    assert "차감되지 않습니다" in refused.text

    # the write-ahead log needs room: PostgreSQL ends, and cannot start
    disk.fill()
    wait_for(lambda: has_crashed(site), "PostgreSQL ends without room for its log")
    disk.fill()
    away = time.monotonic()
    page = visitor.session.get(f"{site.url}/competitions/full/", timeout=60)
    assert page.status_code == 503, page.text
    assert "이용하시는 분의 잘못이 아니며" in page.text
    wait_for(lambda: "trying again in" in site.log, "it cannot be started either")

    disk.free()
    freed = time.monotonic()
    wait_for(lambda: answers_again(site), "PostgreSQL is back", every=0.02)
    print(f"away for {time.monotonic() - away:.1f} s, back {time.monotonic() - freed:.1f} s after there was room")
    for public_id in accepted:
        wait_until_finished(site, public_id)
    print(f"all scored {time.monotonic() - freed:.1f} s after there was room")
    accepted.append(submission_in(send(visitor, token, answers(ids, REASON_WORDS, wrong=30))))
    wait_until_finished(site, accepted[-1])

    assert site.is_supervised()
    held = never(float(site.environment["JOB_LEASE_SECONDS"]))
    assert {text: rows for text, sql in held.items() if (rows := site.query(sql))} == {}
    of_the_team = f"JOIN teams_team team ON team.id = team_id WHERE team.name = '{TEAM}'"
    there = {str(row[0]) for row in site.query(f"SELECT public_id FROM submissions_submission {of_the_team}")}
    assert there == set(accepted)
    charged = f"SELECT count(*) FROM submissions_quotaentry {of_the_team} AND kind = 'charge'"
    assert site.query(charged) == [(len(accepted),)]
    subprocess.run([sys.executable, "manage.py", "verify_chain", "full"], cwd=ROOT, env=site.environment, check=True)
