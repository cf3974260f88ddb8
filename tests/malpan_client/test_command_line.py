"""What is asked of the command, its help, and wrong usage, in both languages."""

from __future__ import annotations

import argparse
import re

import pytest

from malpan_client import failing
from malpan_client.command_line import parser
from malpan_client.words import set_language
from tests.malpan_client.test_words import HANGUL
from tests.paths import ROOT

COMMANDS = (
    *("login", "logout", "whoami", "competitions", "files", "download", "terms", "team", "check", "submit"),
    *("submissions", "submission", "items", "compare", "fetch", "limits", "board", "final", "withdraw"),
    *("create", "settings get", "settings update", "close", "export", "publish contest", "publish board"),
    *("publish stage", "publish standing"),
    *(f"references {name}" for name in ("list", "upload", "publish", "diff", "discard")),
    *(f"webhooks {name}" for name in ("list", "create", "update", "remove", "test", "log", "resend")),
    *(f"rescore {name}" for name in ("list", "start", "show", "preview", "apply", "order", "withdraw", "cancel")),
    *(f"awards {name}" for name in ("list", "propose", "create", "update", "move", "remove", "publish", "withdraw")),
    *(f"stages {name}" for name in ("list", "show", "create", "update", "remove")),
    *(f"stages {name}" for name in ("teams", "scores", "enter", "confirm", "reject")),
    *(f"teams {name}" for name in ("list", "create", "update")),
    *(f"quota {name}" for name in ("show", "ledger", "grant", "refund", "reset")),
    *(f"arena {name}" for name in ("rubrics", "rubric", "list", "show", "create", "update", "remove", "systems")),
    *(f"arena {name}" for name in ("invite", "judges", "remind", "open", "close", "publish", "votes")),
)
STATUSES = {value for name, value in vars(failing).items() if name.isupper() and isinstance(value, int)}


def leaves(made: argparse.ArgumentParser, before: str = ""):
    groups = [each for each in made._actions if isinstance(each, argparse._SubParsersAction)]
    if not groups:
        yield before.strip(), made
    for each in groups:
        for name, inner in each.choices.items():
            yield from leaves(inner, f"{before} {name}")


@pytest.mark.parametrize("spoken", ["ko", "en"])
def test_every_command_has_help_in_the_language_that_is_spoken(spoken):
    set_language([f"--lang={spoken}"], {})
    found = dict(leaves(parser()))
    set_language([], {})
    assert {*found} == {*COMMANDS}
    for made in found.values():
        options = {name for each in made._actions for name in each.option_strings}
        assert options >= {"--json", "--lang", "--site", "--insecure", "--max-wait"}
        assert bool(HANGUL.search(made.description or "")) is (spoken == "ko")
        assert [each.dest for each in made._actions if not each.help] == []


@pytest.mark.parametrize("spoken", ["ko", "en"])
def test_the_help_and_the_readme_name_every_exit_status(command, spoken):
    text = command("--help", "--lang", spoken).out
    assert {status for status in STATUSES if not re.search(rf"\b{status} ", text)} == set()
    readme = (ROOT / ("README.ko.md" if spoken == "ko" else "README.md")).read_text(encoding="utf-8")
    row = readme[readme.index("malpan submit") :]
    assert {status for status in STATUSES if not re.search(rf"\b{status}\b", row)} == set()


@pytest.mark.parametrize(
    ("words", "korean"),
    [
        ([], "필요한 인자"),
        (["nothing"], "쓸 수 없습니다"),
        (["submit", "spring"], "필요한 인자"),
        (["board", "spring", "--nothing"], "모르는 인자"),
        (["submit", "spring", "a.json", "--wait-limit", "soon"], "숫자가 아닙니다"),
        (["submit", "spring", "a.json", "--memo"], "값이 필요합니다"),
        (["board", "spring", "--all=yes"], "값을 받지 않습니다"),
        (["rescore", "start", "spring", "--reason", "x", "--teams", "1,b"], "숫자가 아닙니다"),
        (["stages", "update", "spring", "1", "--cut", "all"], "숫자가 아닙니다"),
    ],
)
def test_wrong_usage_is_told_in_the_language_that_is_spoken(command, words, korean):
    done = command(*words)
    assert (done.status, korean in done.err) == (2, True), done.err
    english = command(*words, "--lang", "en")
    assert (english.status, HANGUL.search(english.err)) == (2, None)
    assert command(*words, "--json").json["error"]["exit_status"] == 2


def test_options_may_stand_anywhere():
    for words in (
        ["final", "spring/main", "--site", "x", "a", "b", "--json"],
        ["final", "--json", "spring/main", "a", "--site", "x", "b"],
        ["--json", "--site", "x", "final", "spring/main", "a", "b"],
    ):
        found = parser().parse_args(words)
        assert (found.place, found.ids, found.site, found.json) == ("spring/main", ["a", "b"], "x", True)
    for words in (["settings", "--json", "get", "spring"], ["settings", "get", "spring", "--json"]):
        assert parser().parse_args(words).json
    found = parser().parse_args(["submit", "spring", "--", "--odd-name.json"])
    assert found.file == "--odd-name.json"


@pytest.mark.parametrize("place", ["a/b/c/d", "a//b", ""])
def test_a_place_has_up_to_three_parts(command, script, place):
    assert (command("limits", place).status, script.requests) == (2, [])


def test_a_competition_of_several_tracks_asks_for_one(command, script):
    script.on("GET", "competitions/spring/", {"tracks": [{"slug": "a"}, {"slug": "b"}]})
    done = command("limits", "spring")
    assert (done.status, "a, b" in done.err) == (2, True)
    script.on("GET", "competitions/spring/", {"tracks": [{"slug": "a"}]})
    script.on("GET", "competitions/spring/tracks/a/limits/", {"left_today": None})
    command("limits", "spring")
    assert script.requests[-1].path.endswith("/tracks/a/limits/")


def test_what_cannot_be_undone_is_asked_first(command, script, monkeypatch):
    done = command("withdraw", "1")
    assert (done.status, "--yes" in done.err, script.requests) == (2, True, [])
    for typed, status in (("n\n", 2), ("\n", 2), ("네\n", 0)):
        stdin = type("Terminal", (), {"isatty": lambda self: True, "readline": lambda self, typed=typed: typed})()
        monkeypatch.setattr("sys.stdin", stdin)
        script.on("POST", "submissions/1/withdraw/", {"id": "1"})
        assert command("withdraw", "1").status == status
    assert len(script.requests) == 1


def test_a_command_that_is_not_there_is_named_once_and_a_wrong_option_shows_the_help_of_its_command(command):
    assert "‘frobnicate’" in command("frobnicate").err
    wrong = command("board", "spring", "--nothing").err
    assert "malpan board" in wrong.splitlines()[0]
    assert "malpan board --help" in wrong


def test_where_there_are_no_terms_none_are_accepted(command, script):
    script.on("GET", "competitions/spring/terms/", {"version": 0, "text": "", "accepted_at": None})
    done = command("terms", "spring", "--accept", "1")
    assert (done.status, "약관이 없습니다" in done.out, script.asked("POST")) == (0, True, [])
