"""Clocks that tests move on. To sleep through a pause of the code, or to be done before it is over, would depend on how
busy the machine is.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from types import ModuleType, SimpleNamespace

import pytest


def let_pass_in(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A function that lets seconds pass by the clock of ``module``, which else goes on as the machine's."""
    return _moved(module, monkeypatch, time.monotonic)


def stop_in(module: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A function that lets seconds pass by the clock of ``module``, which else stands still but while it sleeps."""
    return _moved(module, monkeypatch, lambda: 1000.0)


def _moved(module: ModuleType, monkeypatch: pytest.MonkeyPatch, clock: Callable[[], float]) -> Callable[[float], None]:
    passed = 0.0

    def let_pass(seconds: float) -> None:
        nonlocal passed
        passed += seconds

    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock() + passed, sleep=let_pass))
    return let_pass
