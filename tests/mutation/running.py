"""Tests on mutants, each in a forked process: what all of them need is imported, and collected, once.

A change within a function is made in place: the function gets the code of the mutant, after the tests were collected.
Only those tests run that reach the changed lines, as a run on the original tells. Other changes (a constant, a default,
what no test reaches) may happen while modules are imported: for them the process is forked before anything of the site
is imported, imports the mutant in the place of the module, and runs all tests of the rule. Both stop at the first test
that fails.
"""

from __future__ import annotations

import contextlib
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import math
import os
import pickle
import resource
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import _lru_cache_wrapper, partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, Final, TypeVar

import psycopg
import pytest
from django.core.cache import caches

from malpan.local.die_with_parent import die_with_parent
from tests import settings  # starts PostgreSQL and Redis, for all processes
from tests.caches import OwnKeysRedisCache
from tests.mutation.mutants import Mutant, Source
from tests.mutation.rules import Rule

KILLED: Final = "killed"
SURVIVED: Final = "survived"
TIMED_OUT: Final = "timed out"
_CPU: Final = 5  # seconds that a mutant may compute beyond three times what its tests did on the original,
_WALL: Final = 120.0  # and that may pass beyond thirty times: others may load the machine
_BROKEN: Final = 3  # the exit status of a process that did not do its work
Key = TypeVar("Key")
_WARM: Final = ("django.test", "django.contrib.admin", "factory.django", "celery", "kombu", "psycopg_pool", "numpy")


class BrokenTests(Exception):
    """The tests of a rule fail on its original, or no test reaches it."""


def outcomes(rule: Rule, *, jobs: int, only: Collection[str] | None = None) -> Iterator[tuple[Mutant, str]]:
    """Every mutant of ``rule``, or those of these names, with what became of it. Raises ``BrokenTests``."""
    source = rule.source
    wanted = [each for each in source.mutants if only is None or each.name in only]
    imported = [each for each in wanted if not each.function or not _fits(source, each)]
    inside = [each for each in wanted if each not in set(imported)]
    if inside:
        found, unreached = _outcomes_of_swapped(rule, source, inside, jobs)
        if only is None and not found:
            raise BrokenTests(f"{rule.module}: no test reaches it, of {' '.join(rule.tests)}")
        yield from found
        imported += unreached
    if imported:
        yield from _outcomes_of_imported(rule, source, imported, jobs)


# --- changes that an import makes -------------------------------------------------------------------------------------
def _outcomes_of_imported(
    rule: Rule, source: Source, mutants: Sequence[Mutant], jobs: int
) -> Iterator[tuple[Mutant, str]]:
    def run(code: CodeType) -> Callable[[], bool]:
        def work() -> bool:
            sys.meta_path.insert(0, _Finder(rule.module, code))
            try:
                return pytest.main(["-x", "-q", *rule.tests]) == 0
            except Exception:  # noqa: BLE001 (the mutant cannot be imported)
                return False

        return work

    for name in _WARM:
        importlib.import_module(name)
    before = computed()
    [(_, found)] = in_children([(rule.module, run(source.original), math.inf)], 1)
    _require_sound(rule, found)
    seconds = computed() - before
    yield from in_children(((each, run(source.mutated(each)), seconds) for each in mutants), jobs)


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives the module ``name`` other code than its file."""

    def __init__(self, name: str, code: CodeType) -> None:
        self._name, self._code = name, code

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self._name:
            return None
        found = importlib.machinery.PathFinder.find_spec(fullname, path)
        assert found is not None
        found.loader = self
        return found

    def exec_module(self, module: ModuleType) -> None:
        exec(self._code, module.__dict__)


# --- changes within functions -----------------------------------------------------------------------------------------
def _outcomes_of_swapped(
    rule: Rule, source: Source, mutants: Sequence[Mutant], jobs: int
) -> tuple[list[tuple[Mutant, str]], list[Mutant]]:
    """What became of ``mutants``, and those that no test reaches: only an import may run them.

    pytest is the caller of what follows: results are handed over in a file.
    """
    with tempfile.TemporaryDirectory() as folder:
        results = Path(folder, "results")

        def work() -> bool:
            plugin = _Rounds(rule.module, source, mutants, jobs, results)
            pytest.main(["-q", *rule.tests], plugins=[plugin])
            return plugin.complete

        [(_, found)] = in_children([(rule.module, work, math.inf)], 1)
        told = pickle.loads(results.read_bytes()) if results.exists() else ()
        if isinstance(told, _Failures):
            raise BrokenTests(f"{rule.module} as it is: {'; '.join(told)}")
        _require_sound(rule, found)
        found, unreached = told
        return found, unreached


class _Failures(list[str]):
    """The tests that failed on the original, each with the last line of what it said."""


class _Rounds:
    """A plugin of pytest that runs the collected tests again and again, on one mutant after the other."""

    def __init__(self, module: str, source: Source, mutants: Sequence[Mutant], jobs: int, results: Path) -> None:
        self._module, self._source, self._mutants = module, source, mutants
        self._jobs, self._results = jobs, results
        self._functions: dict[str, list[FunctionType]] = {}
        self._kept: list[Callable[[], object]] = []
        self._lines: set[int] = set()  # that run now
        self._lines_for_all: dict[Any, set[int]] = {}  # that a fixture runs for all tests below a node
        self._failures = _Failures()
        self.complete = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        importlib.import_module(self._module)  # what is loaded late must be there as well
        self._functions, self._kept = _living(str(self._source.path))
        missing = {mutant.function for mutant in self._mutants} - self._functions.keys()
        assert not missing, f"no such function is alive: {missing}"
        reached = self._reached(session)
        if reached is not None:
            lines = set().union(*(lines for _seconds, lines in reached.values()))
            unreached = [mutant for mutant in self._mutants if lines.isdisjoint(mutant.lines)]
            tasks = (self._task(session, reached, each) for each in self._mutants if each not in unreached)
            self._results.write_bytes(pickle.dumps((list(in_children(tasks, self._jobs)), unreached)))
            self.complete = True
        return True

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        around, self._lines = self._lines, set()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self._lines_for_all.setdefault(request.node, set()).update(self._lines)
            self._lines |= around

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self._failures.append(f"{report.nodeid} failed, {report.longreprtext.rpartition(chr(10))[2]}")

    def _reached(self, session: pytest.Session) -> dict[str, tuple[float, set[int]]] | None:
        """How long each test takes and which lines of the module it runs, by its id; ``None`` if one fails."""

        def work() -> bool:
            reached: dict[str, tuple[float, set[int]]] = {}
            self._trace(str(self._source.path))
            before = time.process_time()
            for item in _run(session.items):
                reached[item.nodeid] = (time.process_time() - before, self._lines)
                for forget in self._kept:  # else only the first test of all would run the lines that make it
                    forget()
                self._lines, before = set(), time.process_time()
            for item in session.items:
                reached[item.nodeid][1].update(*(self._lines_for_all.get(node, ()) for node in item.listchain()))
            self._results.write_bytes(pickle.dumps(self._failures or reached))
            return not session.testsfailed

        [(_, found)] = in_children([(None, work, math.inf)], 1)
        return pickle.loads(self._results.read_bytes()) if found == SURVIVED else None

    def _trace(self, path: str) -> None:
        """Keep from now on which lines of the file ``path`` run, in any thread."""

        def of_line(frame: Any, event: str, argument: Any) -> Any:
            self._lines.add(frame.f_lineno)
            return of_line

        def of_call(frame: Any, event: str, argument: Any) -> Any:
            return of_line(frame, event, argument) if frame.f_code.co_filename == path else None

        threading.settrace(of_call)
        sys.settrace(of_call)

    def _task(
        self, session: pytest.Session, reached: dict[str, tuple[float, set[int]]], mutant: Mutant
    ) -> tuple[Mutant, Callable[[], bool], float]:
        items = [item for item in session.items if not reached[item.nodeid][1].isdisjoint(mutant.lines)]
        seconds: dict[Path, float] = {}
        for item in items:
            seconds[item.path] = seconds.get(item.path, 0.0) + reached[item.nodeid][0]
        items.sort(key=lambda item: (seconds[item.path], item.path))

        def work() -> bool:
            for name, code in _codes(self._source.mutated(mutant)).items():
                if mutant.function in (name, name.partition(".<locals>")[0]):
                    for function in self._functions.get(name, ()):
                        function.__code__ = code
            session.items[:] = items
            return not any(session.testsfailed for _ in _run(items))

        return mutant, work, sum(seconds.values())


def _run(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """Each of ``items`` when it has run."""
    for number, item in enumerate(items, start=1):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=items[number] if number < len(items) else None)
        yield item


def _require_sound(rule: Rule, found: str) -> None:
    if found != SURVIVED:
        raise BrokenTests(f"{rule.module} as it is: {found} by its tests, {' '.join(rule.tests)}")


def _living(path: str) -> tuple[dict[str, list[FunctionType]], list[Callable[[], object]]]:
    """The functions from the file ``path``, wherever they are held and however they are wrapped, by qualified name; and
    what forgets each thing that they make once a process: results in a cache of functools, prepared queries.
    """
    gc.unfreeze()
    functions: dict[str, list[FunctionType]] = {}
    kept: list[Callable[[], object]] = []
    for each in gc.get_objects():
        if isinstance(each, FunctionType) and each.__code__.co_filename == path:
            functions.setdefault(each.__code__.co_qualname, []).append(each)
        elif isinstance(each, _lru_cache_wrapper) and _is_from(path, each.__wrapped__):
            kept.append(each.cache_clear)
        elif type(each).__qualname__ == "Prepared" and _is_from(path, vars(each)["_build"]):
            kept.append(partial(vars(each).pop, "_written", None))
    gc.freeze()
    return functions, kept


def _is_from(path: str, function: Any) -> bool:
    return isinstance(function, FunctionType) and function.__code__.co_filename == path


def _codes(code: CodeType) -> dict[str, CodeType]:
    """The code of every function within ``code``, by qualified name; of one name the last, as Python has it."""
    found: dict[str, CodeType] = {}
    for each in code.co_consts:
        if isinstance(each, CodeType):
            found |= {each.co_qualname: each} | _codes(each)
    return found


def _fits(source: Source, mutant: Mutant) -> bool:
    """Whether the function of ``mutant`` can take its code: it must have the same variables of outer functions."""
    before, after = (_codes(code)[mutant.function] for code in (source.original, source.mutated(mutant)))
    return before.co_freevars == after.co_freevars


# --- processes --------------------------------------------------------------------------------------------------------
def in_children(tasks: Iterable[tuple[Key, Callable[[], bool], float]], jobs: int) -> Iterator[tuple[Key, str]]:
    """Do the work of each task in a forked process, ``jobs`` at a time.

    A task says how many seconds of a processor its work took on the original.
    """
    waiting = iter(tasks)
    running: dict[int, tuple[Key, float]] = {}
    try:
        while True:
            while len(running) < jobs and (task := next(waiting, None)) is not None:
                key, work, seconds = task
                running[_fork(work, seconds)] = key, time.monotonic() + 30 * seconds + _WALL
            if not running:
                return
            for pid, (key, deadline) in list(running.items()):
                ended, status = os.waitpid(pid, os.WNOHANG)
                if not ended and time.monotonic() > deadline:
                    _end(pid)
                if ended or time.monotonic() > deadline:
                    del running[pid]
                    _forget_database(pid)
                    if ended and status == _BROKEN << 8:
                        raise BrokenTests(f"{key}: its process failed")
                    is_late = not ended or status == signal.SIGXCPU
                    yield key, TIMED_OUT if is_late else KILLED if status else SURVIVED
            time.sleep(0.02)
    finally:
        for pid in running:
            _end(pid)
            _forget_database(pid)


def computed() -> float:
    """The processor time of all child processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _fork(work: Callable[[], bool], seconds: float) -> int:
    sys.stdout.flush()
    parent, pid = os.getpid(), os.fork()
    if pid:
        return pid
    status = _BROKEN
    try:
        die_with_parent(parent)
        os.setpgid(0, 0)  # what it starts ends with it
        if seconds < math.inf:
            limit = int(3 * seconds) + _CPU
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        _own_keys(f"test-{os.getpid()}")
        status = 0 if work() else 1
    finally:
        os._exit(status)


def _own_keys(prefix: str) -> None:
    """Begin the keys in the cache with ``prefix``: those of caches that the parent opened, and of threads to come."""
    settings.CACHES["default"]["KEY_PREFIX"] = prefix
    for cache in caches.all(initialized_only=True):
        if isinstance(cache, OwnKeysRedisCache):
            cache.key_prefix = prefix


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def _forget_database(pid: int) -> None:
    """Drop the database of a process that ended without doing so: see ``tests.database``."""
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f"DROP DATABASE IF EXISTS test_malpan_{pid} WITH (FORCE)")
