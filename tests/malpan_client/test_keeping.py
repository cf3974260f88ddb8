"""Tokens are for their owner alone: in a file that nobody else reads, never in an argument or in what is printed."""

from __future__ import annotations

import io
import stat

import pytest

from malpan_client import keeping
from malpan_client.failing import Failure
from tests.malpan_client.conftest import TOKEN
from tests.malpan_client.scripted import Answer, problem
from tests.malpan_client.test_site import ME

OTHER = "mlp_another-token"


@pytest.fixture
def typed(monkeypatch):
    def type_(text):
        monkeypatch.setattr("sys.stdin", io.StringIO(text))

    return type_


@pytest.fixture
def config(home):
    return home / "config/malpan/sites.json"


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_token_is_tried_and_kept_for_its_owner_alone(command, script, typed, config, monkeypatch):
    monkeypatch.delenv("MALPAN_TOKEN")
    monkeypatch.delenv("MALPAN_SITE")
    script.on("GET", "whoami/", ME)
    typed(f"{OTHER}\n")
    done = command("login", script.url)
    assert (done.status, OTHER in done.out + done.err) == (0, False)
    assert script.requests[-1].headers["Authorization"] == f"Bearer {OTHER}"
    assert (mode(config), mode(config.parent)) == (0o600, 0o700)

    assert command("whoami").status == 0, "the site of the last log-in"
    assert script.requests[-1].headers["Authorization"] == f"Bearer {OTHER}"
    config.chmod(0o644)
    assert command("whoami").status == 0
    assert mode(config) == 0o600, "whoever copied it"

    assert command("logout").status == 0
    assert OTHER not in config.read_text()
    assert command("whoami").status == 3


def test_a_wrong_token_is_not_kept(command, script, typed, config):
    script.on("GET", "whoami/", problem(401, "api_token_invalid"))
    typed(OTHER)
    assert command("login").status == 3
    assert not config.exists()


@pytest.mark.parametrize("text", ["", "short", "two words here", "mlp_한글토큰입니다", "a" * 201])
def test_what_cannot_be_a_token_is_not_sent(command, script, typed, text, monkeypatch):
    typed(text)
    assert command("login").status == 3
    if text:
        monkeypatch.setenv("MALPAN_TOKEN", text)
        assert command("whoami").status == 3
    assert script.requests == []


def test_no_option_takes_a_token(command):
    assert command("login", "--token", OTHER).status == 2


def test_a_token_is_for_its_site(home, monkeypatch):
    monkeypatch.delenv("MALPAN_TOKEN", raising=False)
    keeping.keep_token("https://a.example", "mlp_token-of-a")
    keeping.keep_token("https://b.example", "mlp_token-of-b")
    assert [keeping.token_of(f"https://{name}.example") for name in "abc"] == ["mlp_token-of-a", "mlp_token-of-b", ""]
    assert keeping.usual_site() == "https://b.example"


def test_a_log_out_leaves_the_usual_site_and_other_tokens(home, monkeypatch):
    monkeypatch.delenv("MALPAN_TOKEN", raising=False)
    keeping.keep_token("https://a.example", "mlp_token-of-a")
    keeping.keep_token("https://b.example", "mlp_token-of-b")
    assert keeping.forget_token("https://a.example")
    assert (keeping.usual_site(), keeping.token_of("https://b.example")) == ("https://b.example", "mlp_token-of-b")
    assert not keeping.forget_token("https://a.example")


def test_what_cannot_be_written_leaves_no_token_behind(home, config):
    config.mkdir(parents=True)
    with pytest.raises(Failure):
        keeping._write(config, {"tokens": {"https://a.example": OTHER}})
    assert [each.name for each in config.parent.iterdir()] == ["sites.json"]


def test_the_environment_comes_first(home, monkeypatch):
    keeping.keep_token("https://a.example", "mlp_token-of-a")
    monkeypatch.setenv("MALPAN_TOKEN", TOKEN)
    monkeypatch.setenv("MALPAN_SITE", "b.example")
    assert (keeping.usual_site(), keeping.token_of("https://a.example")) == ("https://b.example", TOKEN)


def test_a_damaged_file_is_named(command, script, config, monkeypatch):
    monkeypatch.delenv("MALPAN_TOKEN")
    config.parent.mkdir(parents=True)
    config.write_bytes(b"{")
    done = command("whoami")
    assert (done.status, str(config) in done.err) == (1, True)


def test_an_upload_of_long_ago_is_forgotten(home, monkeypatch):
    keeping.begin_upload("a", "key")
    assert keeping.key_of("a") == "key"
    monkeypatch.setattr("malpan_client.keeping.WEEK", -1.0)
    assert keeping.key_of("a") is None


def test_without_a_site_it_asks_for_one(command, monkeypatch):
    monkeypatch.delenv("MALPAN_SITE")
    done = command("whoami")
    assert (done.status, "MALPAN_SITE" in done.err) == (2, True)


def test_what_anybody_may_read_takes_no_token(command, script, monkeypatch):
    monkeypatch.delenv("MALPAN_TOKEN")
    each = {"slug": "spring", "title": "봄 대회", "organiser": "국립국어원"}
    script.on("GET", "competitions/", Answer({"running": [each], "upcoming": [], "past": [], "count": 0, "next": None}))
    done = command("competitions")
    assert (done.status, "봄 대회" in done.out) == (0, True)
    assert "Authorization" not in script.requests[0].headers
