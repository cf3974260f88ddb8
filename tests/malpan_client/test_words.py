"""Every text in both languages, each of them used; which language is spoken."""

from __future__ import annotations

import ast
import re
import socket
from http.client import RemoteDisconnected
from string import Formatter

import pytest

from malpan.core.errors import DomainError
from malpan_client.single_file import FOLDER
from malpan_client.words import REASONS, TEXTS, language, reason_of, say, set_language

HANGUL = re.compile("[가-힣]")
MADE = (
    "help_",
    "state_",
    "step_",
    "count_",
    "next_",
    "source_",
    "design_",
    "not_compared_",
    "not_tested_",
    "kind_",
    "role_",
)  # how names begin that are put together


@pytest.fixture(autouse=True)
def _korean_afterwards():
    yield
    set_language([], {})


def named() -> set[str]:
    """The names that stand in the code, wherever a text may be asked for by one."""
    found = set()
    for path in FOLDER.glob("*.py"):
        if not path.name.endswith("texts.py"):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            found |= {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {each for each in found if isinstance(each, str)}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_is_there_in_both_languages_and_has_the_same_values(name):
    korean, english = TEXTS[name]
    fields = [
        sorted({field for _text, field, *_rest in Formatter().parse(text) if field}) for text in (korean, english)
    ]
    assert fields[0] == fields[1]
    assert korean.strip()
    assert english.strip()
    assert HANGUL.search(korean) or korean == english
    assert not HANGUL.search(english)


def test_every_text_is_asked_for_and_every_one_asked_for_is_there():
    said = named()
    unused = {name for name in TEXTS if name not in said and not name.startswith(MADE)}
    assert unused == set()
    asked = {
        node.args[0].value
        for path in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "say"
        and isinstance(node.args[0], ast.Constant)
    }
    assert len(asked) > 100
    assert asked - TEXTS.keys() == set()


@pytest.mark.parametrize("spoken", ["ko", "en"])
def test_what_python_says_of_files_and_connections_is_said_in_the_language_that_is_spoken(spoken, tmp_path):
    set_language([f"--lang={spoken}"], {})
    kinds = [socket.timeout, socket.gaierror, ConnectionRefusedError, RemoteDisconnected, BrokenPipeError, TimeoutError]
    assert {name for _kinds, name in REASONS} <= TEXTS.keys()
    errors = [*(kind(1, "english") for kind in kinds), PermissionError(13, "english")]
    for path in (tmp_path, tmp_path / "nothing"):
        with pytest.raises(OSError) as caught:
            path.read_bytes()
        errors.append(caught.value)
    for error in errors:
        assert bool(HANGUL.search(reason_of(error))) is (spoken == "ko")
        assert "english" not in reason_of(error)
    assert (reason_of(OSError(28, "No space left")), reason_of(ValueError())) == ("No space left", "ValueError")


def test_what_to_do_next_is_said_for_codes_that_the_server_has():
    codes = {name.removeprefix("next_") for name in TEXTS if name.startswith("next_")} - {"allowed", "time"}
    assert {code for code in codes if not code.isdigit()} <= DomainError.by_code.keys()


@pytest.mark.parametrize(
    ("arguments", "environment", "spoken"),
    [
        ([], {}, "ko"),
        ([], {"LANG": "C.UTF-8"}, "ko"),
        ([], {"LANG": "ko_KR.UTF-8"}, "ko"),
        ([], {"LANG": "en_US.UTF-8"}, "en"),
        ([], {"LC_ALL": "ko_KR", "LANG": "en_US.UTF-8"}, "ko"),
        ([], {"LANG": "fr_FR.UTF-8"}, "en"),
        ([], {"LANG": "ko_KR.UTF-8", "MALPAN_LANG": "en"}, "en"),
        ([], {"LANG": "en_US.UTF-8", "MALPAN_LANG": "nonsense"}, "en"),
        (["board", "--lang", "en"], {"MALPAN_LANG": "ko"}, "en"),
        (["--lang=ko", "board"], {"MALPAN_LANG": "en"}, "ko"),
    ],
)
def test_the_language_is_that_of_the_option_the_variable_or_the_locale(arguments, environment, spoken):
    set_language(arguments, environment)
    assert language() == spoken
    assert bool(HANGUL.search(say("no_files"))) is (spoken == "ko")
