"""The local default from its first start on: a demo contest scored through the real queue, the board printed at the
end. Then a web process is killed amid an upload, and the whole site; the next start finds all data, and what the dead
had begun is gone.

SIGTERM stops this site, SIGHUP, as of a closed terminal, that of ``outages``, SIGINT that of all other tests: none
leaves a process behind.
"""

from __future__ import annotations

import shutil
import signal
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from tests.system.new_site import running_site
from tests.system.stack import Stack
from tests.system.visitor import Visitor
from tests.waiting import wait_for

pytestmark = pytest.mark.services
PATIENCE_SECONDS = 600  # it takes half a minute on an idle machine of two cores; CI has other work
ABOVE_MEMORY = 3 * 1024 * 1024  # a smaller file is never on the disk
CONTEST, TEAM, RENAMED = "demo-captions", "끊긴 팀", "남은 사람"


@dataclass(frozen=True)
class Killed:
    """A site started again after everything was killed. ``left`` is what the dead had in the folder of temporary files
    and could not remove; ``password`` is what the first start wrote down for the administrator.
    """

    site: Stack
    left: list[Path]
    password: str


@pytest.fixture(scope="module")
def site() -> Iterator[Stack]:
    """With the demo, at its first start of all."""
    directory = Path(tempfile.mkdtemp(prefix="malpan-"))  # short, for PostgreSQL's sockets
    directory.rmdir()
    with running_site(directory, LOAD_DEMO="on") as running:
        wait_for(lambda: "board complete" in running.log, "the complete board", seconds=PATIENCE_SECONDS, every=0.5)
        yield running
    shutil.rmtree(directory)


def teams(site: Stack) -> list[str]:
    """Those whose names stand on the board as they are."""
    named = "SELECT DISTINCT name FROM teams_team WHERE NOT is_baseline AND length(name) <= 15 AND name <> %s"
    return [name for (name,) in site.query(named, TEAM)]


def test_the_first_start_ends_with_a_complete_board(site: Stack) -> None:
    workers = site.query(
        "SELECT state, split_part(worker, '@', 1), count(*) FROM jobs_job WHERE lane < 2 GROUP BY 1, 2"
    )
    assert [(state, worker) for state, worker, _ in workers] == [("finished", "scoring")]
    assert len(teams(site)) >= 7
    assert all(name in site.log for name in teams(site))
    assert "데모 모델 점수" in site.log


def test_the_log_in_that_is_printed_after_it_leads_to_an_evaluation_to_judge(site: Stack) -> None:
    address, kept = "demo-judge@example.com", site.var_dir / "demo-judge-password"
    wait_for(lambda: address in site.log, "the judge's log-in", seconds=PATIENCE_SECONDS, every=0.5)
    assert f"{address}, 비밀번호 / password: {kept.read_text().strip()}" in site.log
    with requests.Session() as browser:
        form = browser.get(f"{site.url}/accounts/login/?next=/arena/", timeout=120)
        sent = {"login": address, "password": kept.read_text().strip(), "next": "/arena/"}
        token = {"csrfmiddlewaretoken": browser.cookies["csrftoken"]}
        page = browser.post(form.url, data=sent | token, headers={"Referer": form.url}, timeout=120)
    assert page.url == f"{site.url}/arena/"
    [[title]] = site.query("SELECT title_ko FROM arena_campaign WHERE closed_at IS NULL")
    assert title in page.text


@pytest.fixture(scope="module")
def killed(site: Stack) -> Killed:
    left = killed_amid_an_upload(site)
    half_checked = site.var_dir / "tmp" / "check-x" / "frames"
    half_checked.mkdir(parents=True)
    password = (site.var_dir / "admin-password").read_text()
    site.query("UPDATE accounts_user SET name = %s WHERE is_superuser", RENAMED)
    site.kill_supervisor()
    site.start()
    return Killed(site, [*left, half_checked.parent], password)


def killed_amid_an_upload(site: Stack) -> list[Path]:
    """What web processes had of a file when they were killed."""
    visitor = Visitor(site)
    visitor.found_team(CONTEST, TEAM)
    large = site.call("tests.system.make_contest", "sample_of", CONTEST).encode() + b" " * ABOVE_MEMORY

    def send() -> None:
        with pytest.raises(requests.ConnectionError):
            visitor.upload(CONTEST, large)

    sender = threading.Thread(target=send)
    [[team]] = site.query("SELECT id FROM teams_team WHERE name = %s", TEAM)
    with site.held("teams_team", team):  # its upload stands still before it is accepted
        sender.start()
        wait_for(lambda: uploads(site), "the upload is on the disk")
        for web in site.programs("malpan.web_server"):
            web.kill()
        sender.join(120)
    left = uploads(site)
    assert left, "a killed process cannot remove its file"
    return left


def uploads(site: Stack) -> list[Path]:
    return list((site.var_dir / "tmp").glob("*.upload*"))


def test_after_kill_9_the_next_start_finds_all_data(killed: Killed) -> None:
    site = killed.site
    assert site.query("SELECT name FROM accounts_user WHERE is_superuser") == [(RENAMED,)]
    confirmed = "SELECT verified FROM account_emailaddress WHERE email = 'admin@localhost'"
    assert site.query(confirmed) == [(True,)]  # else a site that asks for a link by mail would not let them in
    assert (site.var_dir / "admin-password").read_text() == killed.password


def test_the_second_start_keeps_the_board(killed: Killed) -> None:
    wait_for(lambda: "s after start" in killed.site.log, "the board again", every=0.2)
    _first, _complete, again = killed.site.log.partition("board complete")
    assert all(name in again for name in teams(killed.site))
    assert "데모가 이미 모두 올라와 있습니다" in again


def test_what_a_killed_process_had_of_an_upload_is_gone_after_the_next_start(killed: Killed) -> None:
    assert not any(path.exists() for path in killed.left)
    sent = "SELECT count(*) FROM submissions_submission JOIN teams_team team ON team.id = team_id WHERE team.name = %s"
    assert killed.site.query(sent, TEAM) == [(0,)]


def test_sigterm_stops_everything(killed: Killed) -> None:
    killed.site.stop_at(signal.SIGTERM)
