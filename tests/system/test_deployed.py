"""The files of deploy/ at work: TLS, limits and addresses at nginx, the site's programs as their units start them, and
what a Prometheus sees of them.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import ssl
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPResponse
from pathlib import Path
from typing import Any

import pytest
import requests
from django.utils import translation
from requests.adapters import HTTPAdapter

from malpan.core.errors import SystemFault
from malpan.core.messages import text_of
from malpan.jobs import heartbeat
from tests.system.deployed import Deployed
from tests.system.make_contest import answers
from tests.system.new_site import new_site
from tests.system.prometheus import Prometheus
from tests.system.stack import METRICS_TOKEN, status_of
from tests.system.visitor import Visitor, run_of, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services

SLOW = 60  # more than the connections that nginx keeps open to the web servers, fewer than it takes from an address
BEYOND = 30_000_000
WAITS_SHORTER = 60  # a minute of the alert rules' waits is a second here
# chores have little to say otherwise; and a mail server that is not there, as mails would be printed between the lines
LOGGED = {"LOG_FORMAT": "json", "LOG_LEVEL": "INFO", "EMAIL_URL": "smtp://127.0.0.1:1"}
WRONG = "이메일 또는 비밀번호가 올바르지 않습니다"


@pytest.fixture(scope="module")
def site(models_dir: Path) -> Iterator[Deployed]:
    folder = Path(tempfile.mkdtemp(prefix="malpan-"))
    folder.chmod(0o711)
    migrated = new_site(folder / "s")
    deployed = Deployed(folder / "d", models_dir, site=migrated, METRICS_TOKEN=METRICS_TOKEN, **LOGGED)
    try:
        deployed.start()
        yield deployed
    finally:
        deployed.stop()
        shutil.rmtree(folder)


def connection(site: Deployed) -> ssl.SSLSocket:
    context = ssl.create_default_context(cafile=site.certificate)
    return context.wrap_socket(
        socket.create_connection(("localhost", site.port), timeout=30), server_hostname="localhost"
    )


def answer_to(client: socket.socket, request: str) -> tuple[HTTPResponse, str]:
    """What is answered to the head of a request, before any of its body was sent."""
    client.sendall(request.encode())
    response = HTTPResponse(client)
    response.begin()
    return response, response.read().decode()


def test_an_upload_over_tls_is_scored_and_stands_on_the_board(site: Deployed) -> None:
    contest = site.call("tests.system.make_contest", "make_numbered", "deployed", 4, 3)
    visitor = Visitor(site)
    visitor.found_team("deployed", "가나다라")

    public_id = visitor.submit("deployed", answers(contest["ids"], words=3, wrong=1))
    run = wait_until_finished(site, public_id)

    assert str(run["worker"]).startswith("scoring@")
    page = visitor.get("/competitions/deployed/board/").text
    assert "가나다라" in page
    assert f"{run['final_score'] * 100:.4f}" in page


def test_pages_and_static_files_come_over_tls_with_the_headers_of_production(site: Deployed) -> None:
    with requests.Session() as session:
        page = session.get(site.url, verify=site.certificate)
        assert page.status_code == 200
        assert "max-age=2592000" in page.headers["Strict-Transport-Security"]
        assert "default-src 'self'" in page.headers["Content-Security-Policy"]
        assert page.headers["Content-Encoding"] == "gzip"
        style = page.text.split('rel="stylesheet" href="')[1].split('"')[0]
        sent = session.get(site.url + style, verify=site.certificate)
        assert (sent.status_code, sent.headers["Content-Type"]) == (200, 'text/css; charset="utf-8"')
        assert "immutable" in sent.headers["Cache-Control"]


def test_plain_http_leads_to_https_but_a_load_balancer_is_answered(site: Deployed) -> None:
    plain = f"http://localhost:{site.plain_port}"
    page = requests.get(f"{plain}/board/?page=2", allow_redirects=False)
    assert page.status_code == 308
    assert page.headers["Location"] == "https://localhost/board/?page=2"
    assert requests.get(f"{plain}/healthz/", allow_redirects=False).status_code == 200


def test_a_body_beyond_the_limit_is_refused_by_nginx_in_the_words_of_the_site(site: Deployed) -> None:
    request = (
        "POST {} HTTP/1.1\r\nHost: localhost\r\nAccept-Language: {}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", site.web_ports[0])) as direct:
        _, text = answer_to(direct, request.format("/competitions/x/submit/", "ko", BEYOND))
    korean, english = re.findall(r"<p(?: lang=\"en\")?>([^<]*MiB[^<]*)", text)

    for address in ("/competitions/x/submit/", "/competitions/x/manage/references/", "/manage/import/"):
        beyond = 3 * 1024**3 if address == "/manage/import/" else BEYOND
        somebody = "Host: localhost\r\nCookie: sessionid=x"  # else the web server does not ask how large an archive is
        with socket.create_connection(("127.0.0.1", site.web_ports[0])) as direct:
            _, said = answer_to(direct, request.format(address, "ko", beyond).replace("Host: localhost", somebody))
        with connection(site) as client:
            answer, page = answer_to(client, request.format(address, "ko", beyond))
        assert (answer.status, answer.headers["Content-Type"]) == (413, "text/html; charset=utf-8")
        at_nginx(site, answer.headers["X-Request-ID"])
        assert page == said

    for language, sentence in (("ko", korean), ("en-US,en;q=0.8", english)):
        address = "/api/v1/competitions/x/tracks/y/submissions/"
        with socket.create_connection(("127.0.0.1", site.web_ports[0])) as direct:
            _, said = answer_to(direct, request.format(address, language, BEYOND))
        with connection(site) as client:
            answer, body = answer_to(client, request.format(address, language, BEYOND))
        assert (answer.status, answer.headers["Content-Type"]) == (413, "application/problem+json")
        assert (
            json.loads(body) == json.loads(said) == problem("upload_too_large", "submission", 413, sentence, language)
        )


def test_slow_clients_reach_nginx_and_no_web_server(site: Deployed) -> None:
    request = b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\n\r\n" + b"x" * 5000
    with ExitStack() as stack:
        for _ in range(SLOW):
            stack.enter_context(connection(site)).sendall(request)
        wait_for(lambda: site.connections_of("nginx") >= SLOW, "nginx holds them")
        started = time.monotonic()
        for _ in range(4):
            assert requests.get(f"{site.url}/healthz/?format=text", verify=site.certificate).status_code == 200
        assert time.monotonic() - started < 10
        assert sum(site.connections_of(site.web(index)) for index in range(2)) < SLOW / 2


class From(HTTPAdapter):
    """Connects from an address of this machine."""

    def __init__(self, address: str) -> None:
        self._address = address
        super().__init__()

    def init_poolmanager(self, *args: object, **options: object) -> None:
        super().init_poolmanager(*args, source_address=(self._address, 0), **options)


def test_log_ins_are_counted_by_the_real_address_whatever_a_visitor_claims(site: Deployed) -> None:
    page = f"{site.url}/accounts/login/"

    def guess(session: requests.Session, number: int) -> str:
        claim = {"X-Forwarded-For": f"192.0.2.{number}", "X-Forwarded-Proto": "http"}
        session.get(page, headers=claim, verify=site.certificate)
        form = {"login": "x@example.org", "password": "wrong", "csrfmiddlewaretoken": session.cookies["csrftoken"]}
        return session.post(page, data=form, headers={"Referer": page, **claim}, verify=site.certificate).text

    with requests.Session() as here, requests.Session() as elsewhere:
        here.mount("https://", From("127.0.0.1"))
        elsewhere.mount("https://", From("127.0.0.2"))
        guesses = [guess(here, number) for number in range(7)]
        assert WRONG in guesses[0]
        assert "로그인에 여러 번 실패하여" in guesses[-1]
        assert WRONG in guess(elsewhere, 7)


def test_without_redis_people_read_and_upload_and_the_work_is_done_when_it_is_back(site: Deployed) -> None:
    contest = site.call("tests.system.make_contest", "make_numbered", "no-redis", 4, 3)
    visitor = Visitor(site)
    visitor.found_team("no-redis", "종이와 연필")
    site.lose_redis()

    healthz = requests.get(f"{site.url}/healthz/?format=text", verify=site.certificate)
    assert (healthz.status_code, "Cache" in healthz.text) == (500, True)
    assert "종이와 연필" in visitor.get("/competitions/no-redis/team/").text
    public_id = visitor.submit("no-redis", answers(contest["ids"], words=3))
    assert run_of(site, public_id)["state"] == "queued"

    assert site.bring_services_back() == ["redis"]
    wait_until_finished(site, public_id)


KEY = "Qm9va3Mgb3BlbiBhdCBub29u"  # of an invitation
MARK = "참가자의비밀답"
TEAM = "로그에 없는 팀"
HERE = "127.0.0.3"  # a visitor


def logged(site: Deployed, pattern: str) -> list[dict[str, Any]]:
    """What the log files of this name have, a JSON object a line."""
    paths = sorted(site.home.glob(pattern))
    assert paths, pattern
    return [json.loads(line) for path in paths for line in path.read_text(errors="replace").splitlines()]


def test_every_line_is_json_and_names_the_request_run_and_job_but_nobody_and_nothing_that_was_sent(
    site: Deployed,
) -> None:
    contest = site.call("tests.system.make_contest", "make_numbered", "logged", 4, 3)
    visitor = Visitor(site)
    visitor.session.mount("https://", From(HERE))
    visitor.found_team("logged", TEAM)
    told = {"X-Request-ID": "claimed-by-a-visitor", "Referer": f"{site.url}/invitations/{KEY}/", "User-Agent": KEY}
    page = visitor.session.get(
        f"{site.url}/invitations/{KEY}/?again={KEY}", headers=told, verify=site.certificate, allow_redirects=False
    )
    public_id = visitor.submit("logged", answers(contest["ids"], words=3).replace("바른".encode(), MARK.encode()))
    run = wait_until_finished(site, public_id)

    [accepted] = [
        line for line in logged(site, "malpan-web@*.log") if line["message"] == f"accepted as submission {public_id}"
    ]
    assert (accepted["run"], accepted["job"]) == (run["id"], run["job_id"])
    sent, asked = (at_nginx(site, request) for request in (accepted["request"], page.headers["X-Request-ID"]))
    assert (sent["method"], sent["path"], sent["status"]) == ("POST", "/competitions/logged/submit/", "302")
    assert (asked["method"], asked["path"], asked["status"]) == ("GET", "/invitations/…/", str(page.status_code))

    def scored() -> list[dict[str, Any]]:
        lines = logged(site, "malpan-worker@*.log")
        return [line for line in lines if (line["message"], line.get("run")) == ("scored", run["id"])]

    assert [line["job"] for line in wait_for(scored, "the worker says so")] == [run["job_id"]]

    assert {line["program"] for line in logged(site, "malpan-*.log")} >= {"web", "worker", "chores"}
    said = "".join(path.read_text(errors="replace") for path in site.home.rglob("*.log"))  # the database's too
    cookies = [cookie.value for cookie in visitor.session.cookies if len(str(cookie.value)) > 20]
    assert cookies
    secrets = [KEY, MARK, TEAM, HERE, "claimed-by-a-visitor", visitor.email, "홍길동", *cookies]
    assert [secret for secret in secrets if str(secret) in said] == []


def at_nginx(site: Deployed, request: str) -> dict[str, Any]:
    """Its line about the request with this id."""
    assert re.fullmatch("[0-9a-f]{32}", request)
    [line] = wait_for(
        lambda: [line for line in logged(site, "access.log") if line["request"] == request], "nginx writes its line"
    )
    return line


SENT = {"ko": "이미 접수되었을 수 있으니", "en": "may have been accepted"}
NOT_CHARGED = {"ko": "차감되지 않습니다", "en": "no submission is charged"}


def problem(code: str, kind: str, status: int, sentence: str, language: str) -> dict[str, Any]:
    """The document of the API (malpan.api.http), whoever refuses."""
    headings = {"submission": ("제출 오류", "Submission error"), "system": ("시스템 오류", "System error")}
    facts = {"code": code, "kind": kind}
    return {
        "type": f"/api/docs/#{code}",
        "title": headings[kind][language.startswith("en")],
        "status": status,
        "detail": sentence,
        **facts,
        "error": {**facts, "message": sentence},
    }


def test_one_web_process_may_be_restarted_while_people_come(site: Deployed) -> None:
    site.stop_unit(site.web(0))
    for _ in range(6):
        assert requests.get(site.url, verify=site.certificate).status_code == 200

    site.start_unit("malpan-web@.service", str(site.web_ports[0]))
    wait_for(lambda: status_of(site.web_ports[0], "/healthz/?format=text") == 200, "it serves", every=0.05)
    site.stop_unit(site.web(1))  # at once, as the guide has it
    for _ in range(6):
        assert requests.get(site.url, verify=site.certificate).status_code == 200
    site.stop_unit(site.web(0))
    for language in ("ko", "en"):
        headers = {"Accept-Language": language}
        with translation.override(language):
            sentence = text_of(SystemFault())
        page = requests.get(site.url, verify=site.certificate, headers=headers)
        assert page.status_code == 503
        at_nginx(site, page.headers["X-Request-ID"])
        assert sentence in page.text
        requests.get(f"{site.url}/invitations/{KEY}/", verify=site.certificate)
        answer = requests.get(f"{site.url}/api/v1/competitions/", verify=site.certificate, headers=headers)
        assert (answer.status_code, answer.headers["Retry-After"]) == (503, "10")
        assert answer.headers["Content-Type"] == "application/problem+json"
        assert answer.json() == problem(SystemFault.code, "system", 503, sentence, language)
        for path, told in (("/competitions/x/submit/", SENT[language]), ("/api/v1/", "Idempotency-Key")):
            sent = requests.post(f"{site.url}{path}", data=b"x", verify=site.certificate, headers=headers)
            assert (sent.status_code, told in sent.text) == (503, True)
            assert NOT_CHARGED[language] not in sent.text, "it may have been accepted"
    assert KEY not in (site.home / "error.log").read_text()

    for port in site.web_ports:
        site.start_unit("malpan-web@.service", str(port))
    wait_for(lambda: requests.get(site.url, verify=site.certificate).status_code == 200, "the site is back")


def test_prometheus_misses_a_worker_and_a_web_process_that_are_stopped(site: Deployed, tmp_path: Path) -> None:
    """The last test: they stay away. A stopped worker goes within the time that its unit gives."""
    targets = [f"127.0.0.1:{port}" for port in site.web_ports]
    with Prometheus(tmp_path, METRICS_TOKEN, targets, faster=WAITS_SHORTER) as prometheus:

        def reported(workers: float) -> bool:
            return prometheus.values("malpan_workers") == dict.fromkeys(targets, workers)

        wait_for(lambda: reported(1) and not prometheus.firing("MalpanNoWorker"), "one worker is known, none is missed")
        assert prometheus.values("sum(malpan_http_requests_total)")[""] > 0

        site.stop_unit("malpan-worker@0.service")
        site.query(
            "UPDATE jobs_worker SET seen_at = seen_at - %s", heartbeat.silence_limit()
        )  # so long it would not be missed
        wait_for(lambda: reported(0) and prometheus.firing("MalpanNoWorker"), "the worker is missed")
        wait_for(lambda: not prometheus.firing("MalpanDown"), "both web processes answer")

        site.stop_unit(site.web(0))
        [down] = wait_for(lambda: prometheus.firing("MalpanDown"), "the web process is missed")
        assert (down["instance"], down["severity"]) == (targets[0], "page")
