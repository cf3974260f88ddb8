"""Fixtures every test has, and who runs what of a suite that runs in several processes (``-n 2 --dist loadfile``).

The services are started by ``tests.settings``.
"""

from __future__ import annotations

import itertools
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

import pytest
from _pytest import runner
from django.template import Template
from django.test import utils
from django.utils import translation

from malpan.core.deep_calls import with_room

if TYPE_CHECKING:
    from pytest_django import DjangoDbBlocker
    from xdist.remote import Producer
    from xdist.scheduler import LoadFileScheduling

pytest_plugins = ["tests.in_s3"]

SYSTEM = "tests/system/"
# those that wait more than they compute, on sites of their own, and have minutes for what should take seconds
PATIENT = tuple(f"{SYSTEM}{name}.py" for name in ("test_chaos", "test_first_start"))
MATRIX = "tests/web/test_visibility_matrix.py"
OKT = ("tests/scoring/metrics/", "tests/scoring/text/", "tests/scoring/matching/")
RENDER = Template._render  # before Django's test environment puts its own there
PRIVATE_ROOT = pytest.StashKey[Path]()  # of a module: where the files of what its tests share are
LONGEST = (  # begun first: nobody is left with them at the end
    SYSTEM,
    MATRIX,
    "tests/web/test_write_matrix.py",
    *OKT,
    "tests/benchmarks/",
    "tests/submissions/rescoring/",
    "tests/submissions/test_intake_under_stress.py",
    "tests/scoring/reading/",
)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> LoadFileScheduling | None:
    """A file is run by one process, for what its tests share; the whole sites of ``tests/system`` by two.

    Those tests wait for things to happen within seconds and may load two cores: two at a time would disturb each other.
    Only the ``PATIENT`` ones are beside them. Those that ask the Java analyser share one, which takes seconds to start
    and grows faster with use. The states of the visibility matrix share nothing, and each takes long: whoever is free
    takes the next.
    """
    from xdist.scheduler import LoadFileScheduling

    class InSuitablePieces(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            if nodeid.startswith(SYSTEM):
                return PATIENT[0] if nodeid.startswith(PATIENT) else SYSTEM
            if nodeid.startswith(OKT):
                return OKT[0]
            return nodeid if nodeid.startswith(MATRIX) else super()._split_scope(nodeid)

    return InSuitablePieces(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest first where several processes share the work (``--no-loadscope-reorder`` keeps this order)."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        items.sort(key=lambda item: [not item.nodeid.startswith(start) for start in LONGEST])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """pytest's own, with room for the calls of a test: a page begins a hundred frames deep (``core.deep_calls``)."""
    return with_room(runner.pytest_runtest_protocol)(item, nextitem)


@pytest.fixture(scope="session")
def django_db_setup(django_test_environment: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """A database of this process: in the place of pytest-django's, which migrates one in every process."""
    from django.test import TransactionTestCase

    from tests import database

    own = ExitStack()
    with django_db_blocker.unblock():
        own.enter_context(database.of_this_process())
    with mock.patch.object(TransactionTestCase, "_fixture_teardown", side_effect=database.empty):
        yield  # blocked: a test that asks for no database would write what nobody takes back
    with django_db_blocker.unblock():
        own.close()


@pytest.fixture(scope="session", autouse=True)
def _pages_are_rendered_as_by_the_site(django_test_environment: None) -> Iterator[None]:
    """Django's test environment copies the context of every template that is rendered, also of each included one: a
    quarter of a request. Tests that read contexts ask for ``contexts``.
    """
    with mock.patch.object(Template, "_render", RENDER):
        yield


@pytest.fixture(scope="session", autouse=True)
def _what_the_audit_log_says_has_words() -> Iterator[None]:
    """Whatever a service writes into it in any test."""
    from malpan.core import audit
    from tests.audit_words import wordless_in

    record = audit.record

    def checked(**entry: Any) -> Any:
        made = record(**entry)
        is_of_a_test = sys._getframe(1).f_globals["__name__"].startswith("tests.")
        assert is_of_a_test or wordless_in(made) == []
        return made

    with mock.patch.object(audit, "record", checked):
        yield


@pytest.fixture
def contexts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A response has its ``context``, as Django's test client gives it."""
    monkeypatch.setattr(Template, "_render", utils.instrumented_test_render)


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """What a test stores need not outlive a power cut: its files are not flushed to the disk, nor is the database."""
    with mock.patch.object(os, "fsync"):
        yield


class _Now(dict[object, float]):
    """Everything happened just now."""

    def get(self, *_: object) -> float:
        return time.monotonic()


@pytest.fixture(autouse=True)
def _numbers_are_those_of_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """The metrics of a worker within a test are not checked: ``tests.submissions.evaluation.test_canary`` does that."""
    monkeypatch.setattr("malpan.submissions.evaluation.canary._checked", _Now())


@pytest.fixture(scope="session")
def _private_roots(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A path for every test, made when something is stored: most store nothing."""
    folder = tmp_path_factory.mktemp("private")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(autouse=True)
def _language_of_its_own() -> Iterator[None]:
    """A request in English leaves its language to the thread: the next test must not read it."""
    yield
    translation.deactivate()


@pytest.fixture(autouse=True)
def _no_answers_of_another_test() -> None:
    """Answers of files are kept by the sha256 of what equal tests store anew."""
    if (answers := sys.modules.get("malpan.submissions.integrity.answers")) is not None:
        answers.forget()


@pytest.fixture(autouse=True)
def _private_files_of_its_own(request: pytest.FixtureRequest, settings: Any, _private_roots: Iterator[Path]) -> None:
    settings.PRIVATE_ROOT = next(_private_roots)
    of_the_module = request.node.getparent(pytest.Module).stash.get(PRIVATE_ROOT, None)
    if of_the_module is not None and of_the_module.exists():
        shutil.copytree(of_the_module, settings.PRIVATE_ROOT)


@pytest.fixture(scope="module")
def kept(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: DjangoDbBlocker, _private_roots: Any
) -> Iterator[None]:
    """What fixtures of the module that ask for this write stays for all its tests; what a test writes goes with it.

    Every test runs within a savepoint and on a copy of the private files. Hand the tests copies of mutable objects. For
    tests that commit there is ``tests.snapshots``.
    """
    from django.test import override_settings

    from tests.database import written_for_now

    module = request.node
    commits = [
        item.nodeid for item in request.session.items if item.getparent(pytest.Module) is module and _commits(item)
    ]
    assert not commits, f"they would meet the open transaction of their module: {commits}"
    module.stash[PRIVATE_ROOT] = next(_private_roots)
    with (
        django_db_blocker.unblock(),
        written_for_now(),
        override_settings(PRIVATE_ROOT=module.stash[PRIVATE_ROOT]),
    ):
        yield
    del module.stash[PRIVATE_ROOT]


def _commits(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    return bool(marker and marker.kwargs.get("transaction"))


@pytest.fixture
def short_path() -> Iterator[Path]:
    """A path of its own where nothing is yet, short enough for a Unix socket below it, and open to system users."""
    path = Path(tempfile.mkdtemp(prefix="malpan-"))
    path.rmdir()
    yield path
    shutil.rmtree(path, ignore_errors=True)
