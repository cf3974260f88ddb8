"""Where the token goes, what is no Malpan site, and how answers are read that should not be there."""

from __future__ import annotations

import subprocess
import time

import pytest

from malpan_client import transport
from malpan_client.failing import Failure
from malpan_client.keeping import site_address
from malpan_client.site import Site
from tests.malpan_client.conftest import SUBMISSIONS, TOKEN, accepted
from tests.malpan_client.scripted import CUT, Answer, Script, problem, serving

ME = {
    "name": "홍길동",
    "email": "a@example.com",
    "token": {"label": "CI", "prefix": "mlp_toke", "scopes": ["read"], "expires_at": None},
    "teams": [{"competition": "spring", "team": "말모이", "role": "leader"}],
    "roles": [],
}


def moved(address, status=302):
    return Answer(b"", status, {"Location": address})


@pytest.fixture
def elsewhere():
    with serving(Script()) as found:
        yield found


def test_whose_token_it_is(command, script):
    script.on("GET", "whoami/", ME)
    done = command("whoami")
    assert (done.status, "홍길동" in done.out, "spring: 말모이" in done.out) == (0, True, True)
    [asked] = script.requests
    assert asked.headers["Authorization"] == f"Bearer {TOKEN}"
    assert asked.headers["User-Agent"].startswith("malpan/")


# --- other hosts ------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "address", ["http://malpan.example.org", "http://192.0.2.1:8000", "http://localhost.example.org"]
)
def test_an_address_that_is_not_encrypted_is_refused(command, script, address):
    done = command("whoami", "--site", address)
    assert (done.status, "--insecure" in done.err) == (2, True)


@pytest.mark.parametrize("address", ["ftp://malpan.example.org", "https://user:word@malpan.example.org", "http://[::1"])
def test_what_is_no_address_is_refused(command, script, address):
    assert command("whoami", "--site", address).status == 2


@pytest.mark.parametrize("address", ["localhost:8000", "127.0.0.1:8000", "[::1]:8000"])
def test_this_machine_needs_no_encryption(address):
    assert site_address(address) == f"http://{address}"
    Site(site_address(address))


def test_a_name_alone_means_an_encrypted_address():
    assert site_address(" Malpan.Example.org/ ") == "https://malpan.example.org"


def test_a_redirection_within_the_site_is_followed_with_the_token(command, script):
    script.on("GET", "whoami/", moved("/api/v1/me/"))
    script.on("GET", "me/", ME)
    assert command("whoami").status == 0
    assert script.requests[1].headers["Authorization"] == f"Bearer {TOKEN}"


def test_the_token_goes_to_no_other_host_and_the_new_address_is_named(command, script, elsewhere):
    elsewhere.on("GET", "whoami/", ME)
    script.on("GET", "whoami/", moved(f"{elsewhere.url}/api/v1/whoami/"))
    done = command("whoami")
    assert (done.status, elsewhere.requests) == (5, [])
    assert f"malpan login {elsewhere.url}" in done.err


def test_a_change_is_not_sent_to_where_the_server_points(command, script):
    script.on("POST", "submissions/1/withdraw/", moved("/api/v1/other/", 308))
    assert command("withdraw", "1", "--yes").status == 5
    assert len(script.requests) == 1


def test_redirections_without_an_end_are_left(command, script):
    script.on("GET", "whoami/", moved("/api/v1/whoami/"))
    done = command("whoami")
    assert (done.status, len(script.requests)) == (5, 5)


def test_a_redirection_to_an_address_that_is_not_encrypted_is_refused(command, script):
    script.on("GET", "whoami/", moved("http://malpan.example.org/api/v1/whoami/"))
    assert command("whoami").status == 2


def test_a_proxy_is_asked_for_hosts_that_are_not_this_machine(command, script, monkeypatch):
    monkeypatch.setenv("http_proxy", script.url.replace("://", "://me:secret@"))
    script.on("GET", "http://malpan.example.org/api/v1/whoami/", ME)
    script._answers["GET", "/api/v1/whoami/"] = [Answer(ME)]
    done = command("whoami", "--site", "http://malpan.example.org", "--insecure")
    assert done.status == 0
    [asked] = script.requests
    assert asked.path == "http://malpan.example.org/api/v1/whoami/"
    assert asked.headers["Proxy-Authorization"] == "Basic bWU6c2VjcmV0"


def test_a_certificate_that_nobody_vouches_for_is_not_trusted(command, script, tmp_path, monkeypatch):
    import ssl
    import threading

    from tests.malpan_client.scripted import Handler, Server

    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subject = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", *subject]
    subprocess.run([*made, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    script.on("GET", "whoami/", ME)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with Server(("127.0.0.1", 0), type("Encrypted", (Handler,), {"script": script})) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=[0.01], daemon=True).start()
        address = f"https://127.0.0.1:{server.server_port}"
        doubted = command("whoami", "--site", address)
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        trusted = command("whoami", "--site", address)
        server.shutdown()
    assert (doubted.status, "SSL_CERT_FILE" in doubted.err, len(script.requests)) == (5, True, 1)
    assert trusted.status == 0


# --- what is no answer of a Malpan site -------------------------------------------------------------------------------
GARBAGE = {
    "a log-in page": Answer(b"<html>Wi-Fi</html>", headers={"Content-Type": "text/html"}),
    "half an object": Answer(b'{"name": '),
    "nothing": Answer(b""),
    "another object": Answer({"hello": "world"}),
    "a list": Answer([1, 2]),
    "a number": Answer(1),
    "not UTF-8": Answer(b'{"name": "\xff"}'),
    "nested without end": Answer(b"[" * 100_000),
    "teams that are none": Answer({**ME, "teams": 7}),
    "a page that is missing": Answer(b"<html>404", 404, {"Content-Type": "text/html"}),
    "a refusal of another kind": Answer({"message": "nope"}, 403),
    "a status of no kind": Answer({"a": 1}, 399),
}


@pytest.mark.parametrize("answer", GARBAGE.values(), ids=GARBAGE)
def test_garbage_is_told_in_words_and_as_json(command, script, answer):
    script.on("GET", "whoami/", answer)
    done = command("whoami", "--json")
    assert done.status == 5
    assert done.json["error"]["exit_status"] == 5
    assert "Traceback" not in done.err


def test_an_answer_that_is_cut_short_is_asked_for_again(command, script, waits):
    script.on("GET", "whoami/", Answer(ME, writes=20), Answer(ME))
    assert (command("whoami").status, waits) == (0, [1.0])


def test_a_site_that_is_not_there_is_asked_for_some_seconds(command, script, waits):
    done = command("whoami", "--site", "http://127.0.0.1:9")
    assert done.status == 5
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert "127.0.0.1:9" in done.err


@pytest.mark.parametrize(
    ("method", "path", "words"),
    [
        ("POST", "submissions/1/withdraw/", ["withdraw", "1", "--yes"]),
        ("DELETE", "competitions/spring/manage/references/1/", ["references", "discard", "spring", "1"]),
    ],
)
def test_a_change_that_may_have_been_done_is_not_sent_again(command, script, waits, method, path, words):
    script.on(method, path, CUT)
    done = command(*words)
    assert (done.status, len(script.requests), waits) == (5, 1, [])
    assert "먼저 확인" in done.err


def test_a_change_that_was_refused_for_being_one_too_many_is(command, script, waits):
    refusal = problem(429, "too_many_requests", headers={"Retry-After": "3"})
    script.on("POST", "submissions/1/withdraw/", refusal, {"id": "1"})
    assert (command("withdraw", "1", "--yes").status, waits) == (0, [3.0])


def test_what_is_refused_before_it_is_read_is_told(command, script, home):
    """Such as a body that is too large: the server answers and takes no more of it."""
    file = home / "large.json"
    file.write_bytes(b"x" * 5_000_000)
    early = problem(413, "upload_too_large", "너무 큽니다.")
    early.is_early = True
    script.on("POST", "competitions/spring/tracks/main/check/", early)
    done = command("check", "spring/main", str(file))
    assert (done.status, "너무 큽니다." in done.err) == (1, True)


@pytest.mark.parametrize("answer", [Answer({"a": 1}, headers={"API-Version": "2.0.0"}), problem(404, "x")])
def test_a_server_of_another_version_is_named_with_where_to_get_the_right_command(command, script, answer):
    answer.headers["API-Version"] = "2.3.1"
    script.on("GET", "whoami/", answer)
    done = command("whoami")
    assert done.status == 8
    assert "2.3.1" in done.err
    assert f"{script.url}/api/malpan.py" in done.err


def test_a_newer_version_of_the_same_kind_is_asked(command, script):
    script.on("GET", "whoami/", Answer(ME, headers={"API-Version": "1.7.0"}))
    assert command("whoami").status == 0


def test_what_others_wrote_does_not_steer_the_terminal(command, script):
    script.on("GET", "whoami/", {**ME, "name": "\x1b[2J\u202e홍\x07"})
    assert "[2J홍" in command("whoami").out


def test_pages_of_a_list_are_joined_and_the_address_of_the_next_one_is_not_trusted(script, home):
    path = "competitions/spring/manage/rescoring/"
    pages = [{"items": [1], "next": "http://elsewhere.example/?page=2"}, {"items": [2], "next": None}]
    script.on("GET", path, *pages)
    found = Site(script.url, TOKEN).pages(path, "items", page_size=1)
    assert (found["items"], found["next"]) == ([1, 2], None)
    assert [each.query for each in script.requests] == [{"page_size": "1"}, {"page_size": "1", "page": "2"}]


def test_a_body_has_the_size_that_was_declared(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(b"abc")
    body = transport.Body(b"1", file, b"2")
    file.write_bytes(b"ab")
    reader = body.opened()
    with pytest.raises(Failure):
        list(iter(lambda: reader.read(10), b""))
    file.write_bytes(b"abcdef")
    reader = body.opened()
    assert b"".join(iter(lambda: reader.read(10), b"")) == b"1abcd", "no byte more than was declared"


# --- servers that say nothing -----------------------------------------------------------------------------------------
SILENT = Answer({}, silent=30)


def test_a_silent_server_is_left_when_the_time_to_wait_is_over(command, script, waits):
    script.on("GET", "competitions/spring/tracks/main/limits/", SILENT)
    started = time.monotonic()
    done = command("limits", "spring/main", "--max-wait", "2")
    assert (done.status, "시간 초과" in done.err) == (5, True)
    assert 1.5 < time.monotonic() - started < 8
    assert sum(waits) < 2


def test_silence_counts_as_waiting(command, script, waits):
    script.on("GET", "competitions/spring/tracks/main/limits/", SILENT)
    command("limits", "spring/main", "--max-wait", "4")
    assert 1 <= len(script.requests) <= 2


def test_a_change_is_not_waited_for_longer_either(command, script):
    script.on("POST", "submissions/1/withdraw/", SILENT)
    started = time.monotonic()
    assert command("withdraw", "1", "--yes", "--max-wait", "1").status == 5
    assert time.monotonic() - started < 5


def test_a_file_that_was_sent_is_answered_in_its_own_time(command, contest, answers, monkeypatch):
    slow = accepted()
    slow.silent = 1.5
    contest.on("POST", SUBMISSIONS, slow)
    assert command("submit", "spring/main", str(answers), "--max-wait", "1").status == 0


def test_a_file_is_not_waited_for_without_an_end(command, contest, answers, monkeypatch):
    monkeypatch.setattr(transport, "ANSWER_SECONDS", 1.0)
    contest.on("POST", SUBMISSIONS, SILENT)
    done = command("submit", "spring/main", str(answers), "--max-wait", "1")
    assert (done.status, len(contest.asked("POST", "submissions/"))) == (5, 1)
