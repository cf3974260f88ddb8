"""Fixtures every test has. The services are started by ``tests.settings``."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def _private_files_of_its_own(settings, tmp_path):
    settings.PRIVATE_ROOT = tmp_path / "private"


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A path of its own where nothing is yet, short enough for a Unix socket below it, and open to system users."""
    path = Path(tempfile.mkdtemp(prefix="malpan-"))
    path.rmdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)
