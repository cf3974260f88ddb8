"""How often a process of tests looks for garbage: a plugin of pytest, loaded before all others (``addopts``).

What is imported and collected stays to the end: looking through it again and again took a quarter of the time of
collecting, and later a fifth of that of the tests. Looking for the garbage of the tests themselves after every 700 new
objects, as Python does, took a twentieth.
"""

from __future__ import annotations

import gc

import pytest

gc.set_threshold(50_000, 1_000, 1_000)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)
