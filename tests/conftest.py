"""Fixtures every test has. The services are started by ``tests.settings``."""

import pytest


@pytest.fixture(autouse=True)
def _private_files_of_its_own(settings, tmp_path):
    settings.PRIVATE_ROOT = tmp_path / "private"
