"""Every bad file over HTTP to a running site: told what is wrong, charged nothing, shown no reference answer."""

from __future__ import annotations

import json
import socket
import time
from contextlib import ExitStack, closing, suppress
from hashlib import sha256
from html import escape, unescape
from http.client import HTTPConnection
from statistics import quantiles

import pytest
import requests

from malpan.web_server import FORM_BYTES
from scoring.errors import InvalidFile
from scoring.reading import MAX_BYTES, read_predictions, read_references
from scoring.recipes import get_recipe
from tests.benchmarks import bench_flood
from tests.scoring.bad_files import BAD_FILES, CANARY, GOOD, REFERENCES
from tests.system.stack import REQUEST_SECONDS, STALL_SECONDS, Stack, status_of
from tests.system.visitor import Visitor, wait_until_finished
from tests.waiting import wait_for

pytestmark = pytest.mark.services

RECIPE = get_recipe("rag-qa@1")
FRONT_PAGE = "/"  # /healthz/ is unwell, too, where a worker on busy cores was silent for seconds
FAR_TOO_LARGE = 60_000_000  # bytes
LARGER_THAN_WATERMARK = 18  # MiB; the web server's default is 16


@pytest.fixture(scope="module")
def visitor(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Visitor:
    references = tmp_path_factory.mktemp("hostile") / "references.json"
    references.write_bytes(REFERENCES)
    stack.call("tests.system.make_contest", "make_from", "hostile", str(references))
    visitor = Visitor(stack)
    visitor.found_team("hostile", "두드려 보는 팀")
    return visitor


def first_message(data: bytes) -> str:
    """What the instrument itself says first about ``data``."""
    with pytest.raises(InvalidFile) as caught:
        read_predictions(data, RECIPE, read_references(REFERENCES, RECIPE))
    return caught.value.errors[0].message("ko")


def test_every_bad_file_gets_its_message_and_none_costs_quota(stack: Stack, visitor: Visitor) -> None:
    assert len(BAD_FILES) >= 30
    for bad in BAD_FILES:
        response = visitor.upload("hostile", bad.data, name=f"{bad.name[:40]}.json")

        page = unescape(response.text)
        expected = "제출 오류" if len(bad.data) > MAX_BYTES else first_message(bad.data)
        assert response.status_code == 200, bad
        assert unescape(escape(expected)) in page, bad
        assert "<strong>20</strong>/20회 남음" in response.text, bad
        assert CANARY not in page, bad

    assert stack.query("SELECT count(*) FROM submissions_submission s JOIN teams_team t ON t.id = s.team_id"
                       " WHERE t.name = '두드려 보는 팀'") == [(0,)]  # fmt: skip


@pytest.mark.parametrize(
    "beginning",
    [
        b"GET / HT",
        b"POST /accounts/login/ HTTP/1.1\r\nHost: localhost\r\nCookie: csrftoken=%b\r\n"
        b"Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 9\r\n\r\nlogin" % (b"a" * 32),
    ],
    ids=["head", "body"],
)
def test_clients_that_stall_do_not_keep_the_others_out(stack: Stack, beginning: bytes) -> None:
    with ExitStack() as stalled:
        clients = [stalled.enter_context(_connection(stack)) for _ in range(200)]
        for client in clients:
            client.sendall(beginning)
        started = time.monotonic()
        assert status_of(stack.port, FRONT_PAGE) == 200
        assert time.monotonic() - started < STALL_SECONDS
        wait_for(lambda: all(map(_is_closed, clients)), "those who stall are dropped", seconds=6 * STALL_SECONDS)


def test_clients_that_send_a_byte_at_a_time_do_not_keep_the_others_out(stack: Stack) -> None:
    """They are never silent, so it is the time for the whole request that runs out."""
    with ExitStack() as slow:
        clients = [slow.enter_context(_connection(stack)) for _ in range(200)]
        waits = []
        while clients:
            for client in list(clients):
                try:
                    client.sendall(b"G")
                except OSError:
                    clients.remove(client)
            started = time.monotonic()
            assert status_of(stack.port, FRONT_PAGE) == 200
            waits.append(time.monotonic() - started)
            assert len(waits) < 40 * REQUEST_SECONDS, "they are dropped"
            time.sleep(0.1)
        assert max(waits) < STALL_SECONDS


def test_clients_that_read_a_byte_a_second_do_not_keep_the_others_out(stack: Stack, visitor: Visitor) -> None:
    """Nor do they stay: what they have not read is thrown away when their time is over."""
    large = stack.call("tests.system.make_contest", "add_large_answers", "hostile", LARGER_THAN_WATERMARK)
    wanted = [large["chain"]] * 12 + [large["file"], large["board"]] * 94
    with ExitStack() as slow:
        clients = [slow.enter_context(_connection(stack, received_at_once=4096)) for _ in wanted]
        for client, path in zip(clients, wanted, strict=True):
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        waits = []
        for _second in range(2 * STALL_SECONDS):
            for client in clients:
                with suppress(OSError):
                    client.recv(1, socket.MSG_DONTWAIT)
            for path in (FRONT_PAGE, large["board"]):
                started = time.monotonic()
                assert status_of(stack.port, path) == 200
                waits.append(time.monotonic() - started)
            time.sleep(1)
        print(f"95 of 100 answers within {quantiles(waits, n=20)[-1]:.2f} s, the last within {max(waits):.2f} s")
        assert max(waits) < STALL_SECONDS
        wait_for(lambda: not _established(stack), "those who do not read are dropped", seconds=6 * STALL_SECONDS)


def test_a_body_beyond_the_limit_is_refused_before_it_is_sent_in_words_for_who_sent_it(stack: Stack) -> None:
    said = {
        "/competitions/x/submit/": ("제출 오류", "제출 횟수는 차감되지 않습니다.<"),
        "/competitions/x/manage/setup/tracks/t/new-file/": ("요청 오류", "20 MiB까지 받습니다. 저장된 것은 없습니다.<"),
        "/api/v1/competitions/x/tracks/t/submissions/": ('"upload_too_large"', '차감되지 않습니다."'),
    }
    for address, words in said.items():
        with _connection(stack) as client:
            client.sendall(f"POST {address} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 90000000\r\n\r\n".encode())
            answer = client.makefile("rb").read().decode()
        assert answer.startswith("HTTP/1.1 413")
        assert "보낸 파일이 너무 큽니다. 20 MiB까지 받습니다." in answer
        assert all(word in answer for word in words)
        assert ('<a href="">돌아가기' in answer) == (not address.startswith("/api/"))


@pytest.mark.parametrize("in_chunks", [False, True], ids=["declared", "in chunks"])
def test_who_sends_all_of_a_body_beyond_the_limit_reads_the_refusal_too(stack: Stack, in_chunks: bool) -> None:
    body = b"0" * FAR_TOO_LARGE
    pieces = (body[start : start + 65_536] for start in range(0, len(body), 65_536))
    with closing(HTTPConnection("127.0.0.1", stack.port, timeout=60)) as connection:
        connection.request("POST", "/competitions/x/submit/", pieces if in_chunks else body)  # a reset would raise here
        answer = connection.getresponse()
        page = answer.read().decode()
    assert answer.status == 413
    assert "제출 오류" in page
    assert "보낸 파일이 너무 큽니다. 20 MiB까지 받습니다." in page


def test_an_upload_in_chunks_of_no_known_length_is_taken(stack: Stack, visitor: Visitor) -> None:
    token = stack.call("tests.system.make_contest", "make_token", visitor.email)
    status, answer = _send_in_chunks(stack, token, GOOD)
    assert (status, answer["file_sha256"]) == (201, sha256(GOOD).hexdigest())

    status, answer = _send_in_chunks(stack, token, b" " * (MAX_BYTES + 1))  # the site refuses it
    assert (status, answer["error"]["code"]) == (413, "upload_too_large")
    assert f"상한({MAX_BYTES:,}바이트)을 넘습니다" in answer["error"]["message"]

    status, answer = _send_in_chunks(stack, token, b" " * (MAX_BYTES + FORM_BYTES))  # its web server does, before
    assert (status, answer["error"]["code"]) == (413, "upload_too_large")
    assert "20 MiB까지 받습니다" in answer["error"]["message"]


def _send_in_chunks(stack: Stack, token: str, data: bytes) -> tuple[int, dict]:
    """Send ``data`` to the API as a client that does not know its length; the status and the body of the answer."""
    request = requests.Request("POST", stack.url, files={"file": ("answers.json", data)}).prepare()
    chunks = (request.body[start : start + 65_536] for start in range(0, len(request.body), 65_536))
    headers = {
        "Authorization": f"Bearer {token}",
        "Content-Type": request.headers["Content-Type"],
        "Transfer-Encoding": "chunked",
    }
    with closing(HTTPConnection("127.0.0.1", stack.port, timeout=60)) as connection:
        connection.request(
            "POST", "/api/v1/competitions/hostile/tracks/main/submissions/", chunks, headers, encode_chunked=True
        )
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())


def test_the_benchmark_of_floods_counts_what_it_is_answered(stack: Stack) -> None:
    """In its quick form; ``python -m tests.benchmarks flood`` measures on a machine that has nothing else to do."""
    load = bench_flood.Load(items=6_000, floods=2, slow=20, seconds=1.0, teams=3)
    readings, answers = bench_flood.flooded(stack, load)
    readings += bench_flood.slowly_asked(stack, load)
    assert answers["422 file_rejected"] > 0
    assert answers["302 page the errors"] > 0
    assert all("5" not in code[:1] or code in ("503 checks_busy", "503 page") for code in answers), answers
    assert all(each.failures == 0 for each in readings)
    assert all(0 < each.share <= 1.2 for each in readings), "in hundredths of a second, of all processors"
    assert "beside 20 slow clients" in bench_flood.table(readings, {"quick": answers})


def _connection(stack: Stack, *, received_at_once: int = 0) -> socket.socket:
    """A connection; its system takes ``received_at_once`` bytes that nobody has read, by default what it likes."""
    client = socket.socket()
    if received_at_once:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, received_at_once)
    client.settimeout(30)
    client.connect(("127.0.0.1", stack.port))
    return client


def _established(stack: Stack) -> int:
    """The connections that the web processes hold."""
    served = [each for web in stack.programs("malpan.web_server") for each in web.net_connections("tcp")]
    return sum(each.status == "ESTABLISHED" for each in served)


def _is_closed(client: socket.socket) -> bool:
    try:
        return client.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK) == b""
    except BlockingIOError:
        return False
    except OSError:
        return True


def test_good_file_after_all_the_bad_ones_is_scored_and_nothing_shows_a_reference(
    stack: Stack, visitor: Visitor
) -> None:
    public_id = visitor.submit("hostile", GOOD)
    wait_until_finished(stack, public_id)

    pages = ["", "data/", "submit/", "submissions/", "board/", "team/"]
    seen = [visitor.get(f"/competitions/hostile/{page}").text for page in pages]
    seen.append(visitor.get(f"/submissions/{public_id}/").text)
    assert CANARY not in "".join(seen)
    assert CANARY not in stack.log
