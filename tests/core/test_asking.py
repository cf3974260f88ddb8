"""Commands that remove something say what, and take only the word itself for a yes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from io import StringIO

import pytest
from django.core.management import BaseCommand, CommandError

from malpan.core.asking import ask
from tests.confirmation import types
from tests.paths import ROOT

WHAT = "All of it goes; nothing stays."


def asked(*, is_sure: bool = False) -> str:
    out = StringIO()
    ask(BaseCommand(stdout=out), what=WHAT, word="malpan", is_sure=is_sure)
    return out.getvalue()


def test_the_word_goes_on_and_everything_else_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    types(monkeypatch, " malpan ", "", "y", "yes", "Malpan", "malpan2")
    said = asked()
    assert said.startswith(WHAT)
    assert "press Enter: malpan" in said
    for _line in range(6):  # and at last the end of the input
        with pytest.raises(CommandError, match="nothing was changed"):
            asked()


def test_a_program_says_so_beforehand_and_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", StringIO("malpan\n"))  # no terminal
    with pytest.raises(CommandError, match="--yes"):
        asked()
    assert asked(is_sure=True) == ""


PROGRAM = """
from django.core.management import BaseCommand
from malpan.core.asking import ask
ask(BaseCommand(), what="goes", word="malpan", is_sure=False)
print("went")
"""


@pytest.mark.parametrize(("typed", "goes"), [("malpan\n", True), ("y\n", False), ("\x04", False)])
def test_at_a_real_terminal(typed: str, goes: bool) -> None:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.close(theirs)
    os.write(ours, typed.encode())
    out, error = process.communicate(timeout=60)
    os.close(ours)
    assert (b"went" in out, process.returncode == 0) == (goes, goes), error
