"""One running site for the tests that leave it running, and a way to start others for those that kill it."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.scoring.test_plugins import block, install
from tests.system.browsers import EXPECTED_WITHIN, chromium, pages_of
from tests.system.new_site import MODELS, new_site
from tests.system.stack import Stack

expect.set_options(timeout=EXPECTED_WITHIN)


@pytest.fixture(scope="session")
def models_dir() -> Path:
    return MODELS


@pytest.fixture(scope="package")
def stack(models_dir: Path) -> Iterator[Stack]:
    """A site without competitions for all tests of this folder, with the plug-in of ``EXTENDING.md`` installed."""
    var_dir = Path(tempfile.mkdtemp(prefix="malpan-"))
    var_dir.rmdir()
    site = Stack(new_site(var_dir), models_dir)
    plugin = install(var_dir / "plug-in", block("toy_metrics.py"), block("pyproject.toml"))
    site.environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(plugin), site.environment["PYTHONPATH"]]))
    site.start()
    yield site
    if site.is_supervised():
        site.stop_at(signal.SIGINT)  # as Ctrl-C does
    site.stop()
    shutil.rmtree(var_dir)


@pytest.fixture
def empty_stack(short_path: Path, models_dir: Path) -> Iterator[Stack]:
    """A site never started; whatever the test does to it, nothing is left running."""
    site = Stack(short_path, models_dir)
    yield site
    site.stop()


@pytest.fixture
def new_directory(short_path: Path) -> Path:
    """That of a site with nothing in its database."""
    return new_site(short_path)


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """One for all tests of this folder; what a page knows, it has of its own context."""
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose errors, of scripts or of the security policy, fail the test."""
    with pages_of(browser, 1) as (opened,):
        yield opened
