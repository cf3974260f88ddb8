"""An operator at a terminal, for commands that ask before they remove something."""

from __future__ import annotations

import io

import pytest


class Terminal(io.StringIO):
    """A terminal at which somebody types these lines."""

    def isatty(self) -> bool:
        return True


def types(monkeypatch: pytest.MonkeyPatch, *lines: str) -> None:
    """From now on somebody sits there and answers with ``lines``, one after another."""
    monkeypatch.setattr("sys.stdin", Terminal("".join(f"{line}\n" for line in lines)))
