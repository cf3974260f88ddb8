"""Infrastructure of the tests: embedded PostgreSQL and Redis, started once and shared, a database per test run."""

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "platform"))

if "DATABASE_URL" not in os.environ or "REDIS_URL" not in os.environ:
    from config import embedded

    services = embedded.start(Path(os.environ.get("MALPAN_TEST_VAR", ROOT / "var" / "test")))
    os.environ.setdefault("DATABASE_URL", services.database_url)
    os.environ.setdefault("REDIS_URL", services.redis_url)


import pytest


@pytest.fixture(scope="session")
def django_db_modify_db_settings() -> None:
    """Give each run of pytest a database of its own, so that two runs at once do not meet."""
    from django.conf import settings

    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = f"test_malpan_{os.getpid()}"


@pytest.fixture(autouse=True)
def _private_files_of_its_own(settings, tmp_path):
    settings.PRIVATE_ROOT = tmp_path / "private"
