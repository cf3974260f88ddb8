"""One running site for the tests that leave it running, and a way to start others for those that kill it."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.system.stack import Stack


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The demo models, made once for all sites of the tests."""
    return Path(os.environ.get("MALPAN_TEST_VAR") or ROOT / "var" / "test") / "models"


@pytest.fixture(scope="session")
def stack(models_dir: Path) -> Iterator[Stack]:
    """A site without competitions, running for the whole session."""
    var_dir = Path(tempfile.mkdtemp(prefix="malpan-"))
    site = Stack(var_dir, models_dir)
    site.start()
    yield site
    site.stop()
    shutil.rmtree(var_dir)


@pytest.fixture
def new_stack(short_path: Path, models_dir: Path) -> Iterator[Callable[[], Stack]]:
    """Makes sites on the same directory, not yet started; whatever the test did to them, nothing is left running."""
    sites: list[Stack] = []

    def make() -> Stack:
        sites.append(Stack(short_path, models_dir))
        return sites[-1]

    yield make
    for site in sites:
        site.stop()
