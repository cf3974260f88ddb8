"""A site whose files are in a real S3 server: fixtures for all tests (``pytest_plugins`` in ``tests/conftest.py``)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.s3_server import ACCESS_KEY, BUCKET, SECRET_KEY, S3Server

_prefixes = itertools.count()


@pytest.fixture(scope="session")
def s3_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Server]:
    server = S3Server(tmp_path_factory.mktemp("s3"))
    yield server
    server.kill()


@pytest.fixture
def in_s3(settings: Any, s3_server: S3Server) -> S3Server:
    """The site's files are in a prefix of their own."""
    settings.S3_ENDPOINT = s3_server.endpoint
    settings.S3_REGION, settings.S3_ACCESS_KEY, settings.S3_SECRET_KEY = "us-east-1", ACCESS_KEY, SECRET_KEY
    settings.MALPAN_STORAGE = new_place()
    return s3_server


def new_place() -> str:
    """A prefix that nothing is in, for ``MALPAN_STORAGE``."""
    return f"s3://{BUCKET}/test-{next(_prefixes)}"
