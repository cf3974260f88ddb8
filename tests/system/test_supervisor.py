"""``manage.py up``: what it starts it stops, what dies it starts again.

That a kill of all of it leaves nothing in the way, and which signals stop it, is in ``test_first_start``.
"""

from __future__ import annotations

import stat
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.chaos.alternate import alternate
from tests.paths import ROOT
from tests.system.stack import Stack, status_of
from tests.waiting import wait_for

pytestmark = pytest.mark.services
MEGABYTE = 2**20


def test_a_second_start_on_the_same_directory_says_where_the_site_runs(stack: Stack) -> None:
    second = subprocess.run(
        [sys.executable, "manage.py", "up", "--port", "0"],
        cwd=ROOT, env=stack.environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert second.returncode == 1
    assert f"이미 실행 중입니다: {stack.url} (pid {stack.supervisor.pid})" in second.stderr
    assert f"Already running at {stack.url} (pid {stack.supervisor.pid})" in second.stderr
    assert stack.is_well()


def test_a_taken_port_is_named_and_nothing_is_left_running(empty_stack: Stack, stack: Stack) -> None:
    site = empty_stack
    refused = subprocess.run(
        [sys.executable, "manage.py", "up", "--port", str(stack.port)],
        cwd=ROOT, env=site.environment, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert refused.returncode == 1
    assert f"Cannot listen on 127.0.0.1:{stack.port}" in refused.stderr
    assert site.processes() == []


def test_the_scoring_process_holds_torch_and_nothing_that_scoring_does_not_use(stack: Stack) -> None:
    stack.wait_for_models()
    held = {part for mapped in stack.pool_child().memory_maps() for part in Path(mapped.path).parts}
    assert "torch" in held
    assert not {"sklearn", "scipy", "pandas"} & held


@pytest.mark.parametrize("word", ["malpan.web_server", "scoring", "housekeeping", "beat"])
def test_a_program_that_dies_is_started_again(stack: Stack, word: str) -> None:
    killed, before = stack.program(word), len(stack.supervisor.children())
    killed.kill()
    wait_for(lambda: killed not in (running := stack.supervisor.children()) and len(running) == before, f"{word} again")
    wait_for(stack.is_well, "the site is well again")


def test_every_kill_is_told_and_leaves_no_descriptor_behind(stack: Stack) -> None:
    """The quick form of ``python -m tests.chaos --alternate 200``."""
    found = alternate(stack, 4, {"scoring": 0.6, "malpan.web_server": 0.4})
    assert {"worker", "web"} <= set(found.kills)
    assert found.holds(), found.table()


@pytest.mark.parametrize(("name", "option"), [("postgres", "-D"), ("redis", "--unixsocket")])
def test_an_embedded_server_that_dies_is_started_again(stack: Stack, name: str, option: str) -> None:
    server = next(process for process in stack.processes() if name in process.name() and option in process.cmdline())
    server.kill()
    wait_for(lambda: f"{name}: 끝나 있어서 다시 시작했습니다" in stack.log, f"{name} is started again")
    wait_for(stack.is_well, "the site is well again")


def test_log_lines_bear_the_name_of_their_program(stack: Stack) -> None:
    stack.wait_for_models()
    assert "worker | " in stack.log


def test_web_processes_stay_under_200_mb(stack: Stack) -> None:
    for path in ("/", "/accounts/signup/", "/accounts/login/", "/healthz/"):
        assert status_of(stack.port, path) == 200
    web = stack.program("malpan.web_server")
    for process in (web, *web.children()):
        assert process.memory_info().rss < 200 * MEGABYTE


@pytest.mark.parametrize("name", ["admin-password", "secret-key"])
def test_secrets_of_the_local_default_are_for_their_owner_alone(stack: Stack, name: str) -> None:
    assert stat.S_IMODE((stack.var_dir / name).stat().st_mode) == 0o600
    assert len((stack.var_dir / name).read_text().strip()) >= 16


def test_a_sites_programs_share_its_own_secret_key(stack: Stack) -> None:
    keys = {stack.program(word).environ()["SECRET_KEY"] for word in ("malpan.web_server", "scoring")}
    assert keys == {(stack.var_dir / "secret-key").read_text()}


def test_a_killed_demo_judge_answers_again_at_the_address_that_the_workers_know(stack: Stack) -> None:
    url = stack.program("celery", "scoring").environ()["MALPAN_DEMO_JUDGE_URL"]
    before = stack.program("scoring.judging.demo")
    before.kill()
    with urllib.request.urlopen(f"{url}/v1/models", timeout=120) as answer:
        assert "malpan-demo-judge" in answer.read().decode()
    assert stack.program("scoring.judging.demo").pid != before.pid
