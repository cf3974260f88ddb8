"""One running site for the tests that leave it running, and a way to start others for those that kill it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.paths import ROOT
from tests.scoring.test_plugins import block, install
from tests.system.browsers import chromium, pages_of
from tests.system.stack import Stack
from tests.waiting import wait_for

EXPECTED_WITHIN = 60_000  # milliseconds; a page takes a fraction of one second where nothing else runs
expect.set_options(timeout=EXPECTED_WITHIN)


@pytest.fixture(scope="session")
def models_dir() -> Path:
    """The demo models, made once for all sites of the tests."""
    return Path(os.environ.get("MALPAN_TEST_VAR") or ROOT / "var" / "test") / "models"


@pytest.fixture(scope="session")
def migrated(models_dir: Path) -> Iterator[Path]:
    """The directory of a site with a migrated database that does not run: sites begin as a copy of it."""
    path = Path(tempfile.mkdtemp(prefix="malpan-"))
    site = Stack(path, models_dir)
    command = [sys.executable, "manage.py", "migrate", "-v0", "--skip-checks"]  # those import every page
    subprocess.run(command, cwd=ROOT, env=site.environment, check=True)
    wait_for(lambda: not site.processes(), "the servers stop after their last user")
    yield path
    shutil.rmtree(path)


@pytest.fixture(scope="session")
def stack(migrated: Path, models_dir: Path) -> Iterator[Stack]:
    """A site without competitions, running for the whole session, with the plug-in of ``EXTENDING.md`` installed."""
    var_dir = migrated.with_name(f"{migrated.name}-s")
    site = Stack(_copy(migrated, var_dir), models_dir)
    plugin = install(var_dir / "plug-in", block("toy_metrics.py"), block("pyproject.toml"))
    site.environment["PYTHONPATH"] = os.pathsep.join(filter(None, [str(plugin), site.environment["PYTHONPATH"]]))
    site.start()
    yield site
    site.stop()
    shutil.rmtree(var_dir)


@pytest.fixture
def empty_stack(short_path: Path, models_dir: Path) -> Iterator[Stack]:
    """A site never started; whatever the test does to it, nothing is left running."""
    site = Stack(short_path, models_dir)
    yield site
    site.stop()


@pytest.fixture
def new_directory(migrated: Path, short_path: Path) -> Path:
    """That of a site with nothing in its database."""
    return _copy(migrated, short_path)


@pytest.fixture
def new_stack(new_directory: Path, models_dir: Path) -> Iterator[Stack]:
    """A site with nothing in its database, not yet started; nothing is left running."""
    site = Stack(new_directory, models_dir)
    yield site
    site.stop()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A page whose errors, of scripts or of the security policy, fail the test."""
    with pages_of(browser, 1) as (opened,):
        yield opened


def _copy(directory: Path, to: Path) -> Path:
    """``directory`` as it is, with the owners of its files: PostgreSQL is another user where the tests are root."""
    subprocess.run(["cp", "-a", str(directory), str(to)], check=True)
    return to
