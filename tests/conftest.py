"""Fixtures every test has, and who runs what of a suite that runs in several processes (``-n 2 --dist loadfile``).

The services are started by ``tests.settings``.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from unittest import mock

import pytest

if TYPE_CHECKING:
    from pytest_django import DjangoDbBlocker
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

SYSTEM = "tests/system/"
LONGEST = (SYSTEM, "tests/web/test_visibility_matrix.py")  # begun first: nobody is left with them at the end


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """A file is run by one process, for what its tests share; the whole sites of ``tests/system`` by one as well.

    Those tests wait for things to happen within seconds and may load two cores: two at a time would disturb each other.
    """
    from xdist.scheduler import LoadFileScheduling

    class OneSiteAtATime(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return SYSTEM if nodeid.startswith(SYSTEM) else super()._split_scope(nodeid)

    return OneSiteAtATime(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first where several processes share the work (``--no-loadscope-reorder`` keeps this order)."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: not item.nodeid.startswith(LONGEST))


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A database of this process: in the place of pytest-django's, which migrates one in every process."""
    from django.test import TransactionTestCase

    from tests import database

    with (
        django_db_blocker.unblock(),
        database.of_this_process(),
        mock.patch.object(TransactionTestCase, "_fixture_teardown", side_effect=database.empty),
    ):
        yield


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
