"""One site for all that it depends on to go away: its PostgreSQL has a file system of its own, its files are in S3, and
its spans go to a collector.

SIGHUP, as of a closed terminal, stops it and leaves no process behind.
"""

from __future__ import annotations

import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from malpan.core import tracing
from tests.collector import Collector
from tests.in_s3 import new_place
from tests.s3_server import ACCESS_KEY, SECRET_KEY, S3Server
from tests.system.disks import Disk, NoDisk, mounted
from tests.system.new_site import new_site, running_site
from tests.system.stack import Stack

LEASE_SECONDS = 30  # of a real site
ROOM_BYTES = 192 * 2**20  # beside what is there: for the contests of all tests, and PostgreSQL's log of them


@pytest.fixture(scope="package")
def collector() -> Iterator[Collector]:
    found = Collector()
    yield found
    found.close()


@pytest.fixture(scope="package")
def directory() -> Iterator[tuple[Path, Disk | None]]:
    """That of the site, and the file system of its database, where one can be had."""
    with tempfile.TemporaryDirectory(prefix="malpan-") as parent, ExitStack() as own:  # short, for sockets
        Path(parent).chmod(0o711)  # PostgreSQL is another user where the tests are root
        made = new_site(Path(parent) / "s")
        disk = None
        with suppress(NoDisk):
            disk = own.enter_context(mounted(made / "embedded" / "postgres", ROOM_BYTES))
        yield made, disk


@pytest.fixture
def disk(directory: tuple[Path, Disk | None]) -> Iterator[Disk]:
    """The file system of the site's database; the next test finds room on it."""
    if directory[1] is None:
        pytest.skip("a file system can be mounted by an administrator only")
    yield directory[1]
    directory[1].free()


@pytest.fixture(scope="package")
def site(directory: tuple[Path, Disk | None], s3_server: S3Server, collector: Collector) -> Iterator[Stack]:
    files = {"S3_ENDPOINT": s3_server.endpoint, "S3_ACCESS_KEY": ACCESS_KEY, "S3_SECRET_KEY": SECRET_KEY}
    where = {"MALPAN_STORAGE": new_place(), tracing.ENDPOINT: collector.url, "JOB_LEASE_SECONDS": str(LEASE_SECONDS)}
    with running_site(directory[0], **where, **files) as running:
        yield running
        running.stop_at(signal.SIGHUP)
