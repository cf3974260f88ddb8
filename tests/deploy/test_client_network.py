"""Whom nginx counts: the map of nginx.conf, in an nginx of its own, puts together whom the site puts together."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import requests
from django.test import RequestFactory

from malpan.core.limits import network_of
from malpan.web_server import ARCHIVE_PATHS
from tests.deploy.manifests import DEPLOY
from tests.system.deployed import nginx
from tests.system.stack import free_port
from tests.waiting import wait_for

NGINX = (DEPLOY / "nginx.conf").read_text()
ADDRESSES = (
    *("192.0.2.7", "192.0.2.8", "10.10.10.10", "::ffff:192.0.2.7", "::ffff:10.10.10.10"),
    *("2001:db8:0:1::1", "2001:db8:0:1:ffff:ffff:ffff:ffff", "2001:db8:0:2::1", "2001:db8::ffff:ffff:ffff:ffff"),
    *("a0a:a0a:a0a:a0a:a0a:a0a:a0a:a0a", "a0a:a0a:a0a:a0a::1", "::1"),  # of line ends, and of nothing
)
CONFIGURATION = """
pid {folder}/nginx.pid; error_log {folder}/error.log; events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
    uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
    {map}
    server {{
        listen 127.0.0.1:{port};
        set_real_ip_from 127.0.0.1; real_ip_header X-Real-IP;
        location / {{ return 200 $client_network; }}
    }}
}}
"""


@pytest.fixture
def url(tmp_path: Path) -> Iterator[str]:
    """An nginx that answers with the key it counts a request under, sent from the address in ``X-Real-IP``."""
    [counted] = re.findall(r"map \$binary_remote_addr \$client_network \{\n(?:.*;\n)+ *\}\n", NGINX)
    port, file = free_port(), tmp_path / "nginx.conf"
    file.write_text(CONFIGURATION.format(folder=tmp_path, map=counted, port=port))
    command = [nginx(), "-e", "stderr", "-c", str(file), "-g", "daemon off;"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            wait_for(lambda: process.poll() is not None or is_up(port), "nginx answers")
            assert process.poll() is None, process.stderr.read()
            yield f"http://127.0.0.1:{port}/"
        finally:
            process.terminate()


def is_up(port: int) -> bool:
    try:
        return requests.get(f"http://127.0.0.1:{port}/", timeout=10).ok
    except requests.ConnectionError:
        return False


def test_nginx_counts_together_whom_the_site_counts_together(url: str) -> None:
    keys = {each: requests.get(url, headers={"X-Real-IP": each}, timeout=10).content for each in ADDRESSES}
    networks = {each: network_of(RequestFactory().get("/", REMOTE_ADDR=each)) for each in ADDRESSES}
    assert {len(key) for key in keys.values()} == {4, 8}, "no address is left out"
    for one, other in itertools.combinations(ADDRESSES, 2):
        assert (keys[one] == keys[other]) == (networks[one] == networks[other]), (one, other)


def test_every_limit_of_nginx_is_of_such_a_network() -> None:
    zones = re.findall(r"limit_(?:conn|req)_zone (\S+) zone=(\w+)", NGINX)
    assert zones == [("$client_network", "address"), ("$client_network", "archives")]
    assert re.findall(r"limit_(?:conn|req) (\w+) ", NGINX) == ["address", *["address", "archives"] * 2]


def test_an_address_sends_few_archives_at_once_and_no_more_of_anything_than_elsewhere() -> None:
    """A location that has a limit of its own has none of those around it."""
    limits = re.findall(r"limit_conn (\w+) (\d+);", NGINX)
    assert {*limits} == {("address", "100"), ("archives", "2")}
    for path in ARCHIVE_PATHS:
        location = NGINX.partition(f"location {path} {{")[2].partition("}")[0]
        assert re.findall(r"limit_conn (\w+) (\d+);", location) == [("address", "100"), ("archives", "2")]
