"""Requests to addresses that strangers chose: to public machines only, to the very one that was checked, in time."""

from __future__ import annotations

import ipaddress
import socket
import threading
import time
from http.client import HTTPException
from typing import Any

import pytest

from malpan.notifications import public_http
from malpan.notifications.public_http import AddressRefused, is_public, post
from tests.clocks import stop_in
from tests.notifications.receiver import listening

PRIVATE = (
    *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1"),
    *("224.0.0.1", "240.0.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fc00::1", "fd12::1", "ff02::1"),
    *("::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "64:ff9b::7f00:1", "64:ff9b::a00:1"),
    *("2002:7f00:1::", "2002:a00:1::", "2001:db8::1"),
)


def answers(monkeypatch: pytest.MonkeyPatch, *each: list[str]) -> list[str]:
    """Stub the resolver: the first question is answered with the first of ``each``, the last stays. Returns the names
    that were asked for.
    """
    asked: list[str] = []
    real = socket.getaddrinfo

    def look_up(host: str, port: int, *args: Any, **kwargs: Any) -> Any:
        if host.replace(".", "").isdigit() or ":" in host:
            return real(host, port, *args, **kwargs)
        found = each[min(len(asked), len(each) - 1)]
        asked.append(host)
        family = {4: socket.AF_INET, 6: socket.AF_INET6}
        return [(family[ipaddress.ip_address(a).version], socket.SOCK_STREAM, 6, "", (a, port)) for a in found]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    return asked


@pytest.mark.parametrize("address", PRIVATE)
def test_a_machine_that_is_not_public_is_not_reached(monkeypatch: pytest.MonkeyPatch, address: str) -> None:
    tried: list[Any] = []
    monkeypatch.setattr(socket, "create_connection", lambda *args, **_: tried.append(args))
    assert not is_public(ipaddress.ip_address(address))
    answers(monkeypatch, [address])
    for host in ("hooks.example.com", f"[{address}]" if ":" in address else address):
        with pytest.raises(AddressRefused):
            post(f"http://{host}:8080/", b"{}", {})
    answers(monkeypatch, ["93.184.216.34", address])
    with pytest.raises(AddressRefused):
        post("http://hooks.example.com:8080/", b"{}", {})
    assert tried == []


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "::ffff:93.184.216.34", "64:ff9b::808:808"])
def test_a_public_machine_is_one(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "localhost"])
def test_other_ways_to_write_this_machine_lead_to_it_no_more(host: str) -> None:
    with listening() as receiver, pytest.raises((AddressRefused, OSError)):
        post(receiver.address.replace("127.0.0.1", host), b"{}", {"webhook-id": "m"})
    assert receiver.calls == {}


def test_a_name_that_changes_after_the_check_leads_nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second answer is this machine, where somebody listens: the connection goes to the first."""
    asked = answers(monkeypatch, ["93.184.216.34"], ["127.0.0.1"])
    connected: list[Any] = []

    def connect(address: tuple[str, int], *_: Any) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(ConnectionRefusedError):
        post("http://rebound.example.com:8080/", b"{}", {})
    assert (asked, connected) == (["rebound.example.com"], [("93.184.216.34", 8080)])


@pytest.fixture
def _all_public(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public_http, "is_public", lambda _address: True)


@pytest.mark.usefixtures("_all_public")
def test_the_request_has_the_name_and_goes_to_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, ["127.0.0.1"])
    with listening() as receiver:
        port = receiver.address.rpartition(":")[2]
        assert post(f"http://hooks.example.com:{port}/a?b=c", b"{}", {"webhook-id": "m"}) == 204
    assert receiver.headers[0]["host"] == f"hooks.example.com:{port}"


@pytest.mark.usefixtures("_all_public")
def test_a_redirect_is_not_followed() -> None:
    with listening(lambda _key, _before: 307) as receiver:
        assert post(f"{receiver.address}/", b"{}", {"webhook-id": "m"}) == 307
    assert receiver.calls == {"m": 1}


@pytest.mark.usefixtures("_all_public")
@pytest.mark.parametrize("drip", [b"", b"H"])
def test_who_never_comes_to_an_end_is_cut_off(monkeypatch: pytest.MonkeyPatch, drip: bytes) -> None:
    """Also one that sends a byte now and then, so that no single wait is long."""
    monkeypatch.setattr(public_http, "SECONDS", 0.5)
    over = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            caller, _address = server.accept()
            with caller:
                while not over.wait(0.1):
                    try:
                        caller.sendall(drip)
                    except OSError:
                        return

        thread = threading.Thread(target=serve)
        thread.start()
        try:
            with pytest.raises((OSError, HTTPException)):
                post(f"http://127.0.0.1:{server.getsockname()[1]}/", b"{}", {})
        finally:
            over.set()
            thread.join()


def test_a_name_that_is_looked_up_too_long_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """A resolver may take minutes, and nothing ends its wait: the delivery goes on without it."""
    monkeypatch.setattr(public_http, "SECONDS", 0.3)
    over = threading.Event()
    tried: list[Any] = []
    monkeypatch.setattr(socket, "create_connection", lambda *args, **_: tried.append(args))

    def look_up(*_args: Any, **_kwargs: Any) -> Any:
        over.wait(60)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("93.184.216.34", 8080))]

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    began = time.monotonic()
    try:
        with pytest.raises(TimeoutError):
            post("http://slow.example.com:8080/", b"{}", {})
        assert time.monotonic() - began < 30, "half of what the lookup takes"
    finally:
        over.set()
    time.sleep(0.2)
    assert tried == [], "what it finds later leads nowhere"


def test_what_a_lookup_takes_is_taken_from_the_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    let_pass = stop_in(public_http, monkeypatch)
    answers(monkeypatch, ["93.184.216.34", "93.184.216.35"])
    quick = socket.getaddrinfo

    def look_up(*args: Any, **kwargs: Any) -> Any:
        let_pass(0.6 * public_http.SECONDS)
        return quick(*args, **kwargs)

    left: list[float] = []

    def connect(_address: Any, timeout: float) -> socket.socket:
        left.append(timeout)
        let_pass(timeout)
        raise TimeoutError

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(socket, "create_connection", connect)
    with pytest.raises(TimeoutError):
        post("http://hooks.example.com:8080/", b"{}", {})
    assert len(left) == 2
    assert sum(left) <= 0.4 * public_http.SECONDS


def test_a_name_that_is_not_there_is_an_error_of_the_lookup(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(*_args: Any, **_kwargs: Any) -> Any:
        raise socket.gaierror(socket.EAI_NONAME, "unknown")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    with pytest.raises(socket.gaierror):
        post("http://nowhere.example.com:8080/", b"{}", {})


@pytest.mark.usefixtures("_all_public")
def test_an_address_in_korean_is_sent_to() -> None:
    with listening() as receiver:
        assert post(f"{receiver.address}/알림?이름=값", b"{}", {"webhook-id": "m"}) == 204
    assert receiver.calls == {"m": 1}
