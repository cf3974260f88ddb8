"""CPU metrics beside the neural ones: the same scores, one voice, and no thread that outlives the scoring."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pytest

from scoring.metrics import Metric, PairMetric
from scoring.recipes import Layout, Pairs
from scoring.records import Progress
from scoring.running.run import MetricFault, Scored, run_metrics
from tests.scoring.memory_store import MemoryPairValues
from tests.waiting import wait_for

PAIRS = Pairs(("a", "b", "c"), (("가",), ("나", "다"), ("라",)), ("가", "다", "마"))
NEURAL = ("bleurt", "bertscore", "clipscore")
Work = Callable[[Callable[[int, int], None]], None]


class Metered(PairMetric):
    """A pair metric that does ``work`` (given the report) and gives each pair 1 where the texts agree."""

    def __init__(self, name: str, work: Work = lambda report: None) -> None:
        self.name, self._work = name, work
        self.model = name if name in NEURAL else None
        self.thread = ""

    def signature(self) -> dict[str, Any]:
        return {}

    def score_pairs(self, references: Sequence[str], candidates: Sequence[str], progress: Any = None) -> list[float]:
        self.thread = threading.current_thread().name
        self._work(progress)
        return [float(reference == candidate) for reference, candidate in zip(references, candidates, strict=True)]


class Lost(Exception):
    """What a lease that was lost raises from the progress callback."""


@pytest.fixture(autouse=True)
def _no_thread_is_left() -> Iterator[None]:
    before = set(threading.enumerate())
    yield
    assert set(threading.enumerate()) <= before


def run(*metrics: Metric, progress: Callable[[Progress], None] | None = None) -> Scored:
    names = [metric.name for metric in metrics]
    prepared = Layout(PAIRS.ids, dict.fromkeys(names, PAIRS))
    by_name = {metric.name: metric for metric in metrics}
    return run_metrics(by_name, prepared, dict.fromkeys(names, ""), known={}, progress=progress)


def test_cpu_metrics_run_beside_the_neural_ones_and_results_stand_in_order() -> None:
    both = threading.Barrier(2)
    metrics = [
        Metered("rouge_1", lambda _: both.wait(10) and None),
        Metered("bleurt", lambda _: both.wait(10) and None),
        Metered("exact_match"),
    ]
    values = run(*metrics).values
    assert list(values) == ["rouge_1", "bleurt", "exact_match"]
    assert all(of_metric == {"a": 1.0, "b": 1.0, "c": 0.0} for of_metric in values.values())
    here = threading.current_thread().name
    assert [metric.thread == here for metric in metrics] == [False, True, False]


def test_without_both_kinds_all_run_in_the_calling_thread() -> None:
    for names in (["exact_match", "rouge_1"], ["bleurt", "bertscore"]):
        metrics = [Metered(name) for name in names]
        run(*metrics)
        assert {metric.thread for metric in metrics} == {threading.current_thread().name}


def test_the_callback_is_never_called_twice_at_once_and_hears_every_stage_to_its_end() -> None:
    inside, most, heard = 0, 0, []

    def listen(progress: Progress) -> None:
        nonlocal inside, most
        inside += 1
        most = max(most, inside)
        time.sleep(0.002)
        heard.append(progress)
        inside -= 1

    def chatter(report: Callable[[int, int], None]) -> None:
        for done in range(3):
            report(done, 4)
            report(0, 4)

    names = ["exact_match", "bleurt", "rouge_1", "bertscore", "rouge_2", "clipscore"]
    run(*[Metered(name, chatter) for name in names], progress=listen)
    assert most == 1
    assert {progress.stage: (progress.done, progress.total) for progress in heard} == dict.fromkeys(names, (4, 4))


def test_a_lease_lost_in_the_calling_thread_stops_the_other_at_its_next_report() -> None:
    started, reports = threading.Event(), []

    def endless(report: Callable[[int, int], None]) -> None:
        started.set()
        for done in range(10_000):
            reports.append(done)
            report(done, 10_000)
            time.sleep(0.001)
        raise AssertionError("was not stopped")

    def listen(progress: Progress) -> None:
        if progress.stage == "bleurt" and progress.done == 1:
            raise Lost

    def lose(report: Callable[[int, int], None]) -> None:
        assert started.wait(10)
        time.sleep(0.25)  # past the throttle of the first report
        report(1, 4)

    with pytest.raises(Lost):
        run(Metered("rouge_1", endless), Metered("bleurt", lose), progress=listen)
    assert 0 < len(reports) < 10_000


def test_a_lease_lost_in_the_background_stops_the_neural_metric() -> None:
    reported = threading.Event()

    def listen(progress: Progress) -> None:
        if progress.stage == "rouge_1":
            reported.set()
            raise Lost

    def endless(report: Callable[[int, int], None]) -> None:
        assert reported.wait(10)
        for done in range(1_000_000):
            report(done, 1_000_000)
            time.sleep(0.001)
        raise AssertionError("was not stopped")

    with pytest.raises(Lost):
        run(Metered("rouge_1"), Metered("bleurt", endless), progress=listen)


@pytest.mark.parametrize("where", ["rouge_1", "bleurt"])
def test_a_fault_surfaces_as_itself_from_either_thread(where: str) -> None:
    fault = MemoryError("no room")

    def fail(_: object) -> None:
        raise fault

    with pytest.raises(MemoryError) as caught:
        run(*[Metered(name, fail if name == where else lambda _: None) for name in ("rouge_1", "bleurt")])
    assert caught.value is fault
    assert any(entry.name == "fail" for entry in caught.traceback)


def test_a_metric_fault_in_the_background_is_a_metric_fault() -> None:
    class Short(Metered):
        def score_pairs(self, *args: Any, **options: Any) -> list[float]:
            return super().score_pairs(*args, **options)[1:]

    with pytest.raises(MetricFault, match="rouge_1 returned 3 values for 4 pairs"):
        run(Short("rouge_1"), Metered("bleurt"))


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Ctrl-C as in a terminal: a shell has its background processes ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_while_waiting_for_the_cpu_metrics_stops_them() -> None:
    """Ctrl-C in the calling thread after its own metrics are done."""
    reports: list[int] = []

    def endless(report: Callable[[int, int], None]) -> None:
        wait_for(lambda: neural.thread, "the calling thread waits")
        time.sleep(0.05)
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        for done in range(10_000):
            reports.append(done)
            report(done, 10_000)
            time.sleep(0.001)
        raise AssertionError("was not stopped")

    neural = Metered("bleurt")
    with pytest.raises(KeyboardInterrupt):
        run(Metered("rouge_1", endless), neural)
    assert len(reports) < 10_000


def test_what_was_computed_before_a_fault_is_kept_in_the_store() -> None:
    def fail(_: object) -> None:
        raise MemoryError

    store = MemoryPairValues()
    metrics = {"bleurt": Metered("bleurt"), "bertscore": Metered("bertscore", fail)}
    prepared = Layout(PAIRS.ids, dict.fromkeys(metrics, PAIRS))
    with pytest.raises(MemoryError):
        run_metrics(metrics, prepared, dict.fromkeys(metrics, "s"), known={}, pair_values=store)
    assert len(store.get("bleurt", "s", [("가", "가"), ("나", "다"), ("다", "다"), ("라", "마")])) == 4
