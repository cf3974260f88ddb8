"""A worker whose numbers differ from the known ones takes no work and says why."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from malpan import worker_process
from malpan.jobs import refusal, registry
from malpan.jobs.models import Job, Worker
from malpan.jobs.tasks import work_next
from malpan.submissions.evaluation import canary
from malpan.submissions.models import CanaryRows, PairValue, ScoringRun
from scoring.canary import TEXTS
from scoring.errors import ModelUnavailable
from scoring.metrics import METRICS
from tests.scoring.tiny_models import make_clip, write_profile

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _a_new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(canary, "_checked", {})
    for name, value in (("_name", ""), ("_stop", None), ("_reason", "")):
        monkeypatch.setattr(refusal, name, value)


@pytest.fixture
def wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    """ROUGE-1 as a damaged installation would compute it: a little off, without any error."""
    kind = METRICS["rouge1_mecab"]
    right: Any = kind.value
    monkeypatch.setattr(kind, "value", lambda self, *texts: right(self, *texts) + 1e-4)


def test_numbers_as_known_are_checked_once_a_day(monkeypatch: pytest.MonkeyPatch) -> None:
    from scoring import canary as fixed

    asked = []
    rows_of = fixed.rows_of
    monkeypatch.setattr(fixed, "rows_of", lambda metric: asked.append(metric.name) or rows_of(metric))
    for _run in range(3):
        canary.require(("exact_match", "rouge1_mecab"), "demo")
    assert asked == ["exact_match", "rouge1_mecab"]
    [checked] = {when for (name, _profile), when in canary._checked.items() if name == "exact_match"}
    for seconds, times in ((24 * 3600 - 1, 1), (24 * 3600, 2)):
        monkeypatch.setattr(time, "monotonic", lambda seconds=seconds: checked + seconds)
        canary.require(("exact_match",), "demo")
        assert asked.count("exact_match") == times


@pytest.mark.parametrize("fault", [ModelUnavailable("no such folder"), OperationalError("away")])
def test_what_is_not_there_says_nothing_about_the_numbers(fault: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model, or the database: the caller waits for it, and the process goes on taking work."""
    stopped = []
    refusal.prepare("scoring@good/0", lambda: stopped.append(True))

    def away(*_given: Any) -> None:
        raise fault

    monkeypatch.setattr(canary, "_difference", away)
    with pytest.raises(type(fault)):
        canary.require(("exact_match",), "demo")
    assert stopped == []


def test_a_worker_whose_numbers_differ_gives_its_job_back_and_stops(
    wrong: None, run: ScoringRun, fake_engine: list[Any], uncommitted_work: None
) -> None:
    stopped = []
    refusal.prepare("scoring@bad/0", lambda: stopped.append(True))
    work_next(worker="scoring@bad")
    run.refresh_from_db()
    job = Job.objects.get(pk=run.job_id)
    assert (run.state, job.state, job.failures, stopped, fake_engine) == ("queued", "queued", 0, [True], [])
    row = Worker.objects.get(name="scoring@bad/0")
    assert "rouge1_mecab, row 0, number 0: 1.0001" in row.refusal
    Job.objects.update(not_before=None)
    assert work_next(worker="scoring@bad") is None  # until it is stopped it claims nothing more
    assert Job.objects.get(pk=run.job_id).attempt == 1


@pytest.fixture
def cannot_tell(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """The database goes away just as a process writes why it takes no work. Returns whether its worker was stopped."""
    stopped: list[bool] = []
    refusal.prepare("scoring@bad/0", lambda: stopped.append(True))

    def unreachable(*_: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(refusal, "beat", unreachable)
    return stopped


def test_a_worker_that_cannot_tell_why_stops_as_well(
    wrong: None, run: ScoringRun, fake_engine: list[Any], uncommitted_work: None, cannot_tell: list[bool]
) -> None:
    PairValue.objects.create(key=b"k" * 32, value=0.5)
    work_next(worker="scoring@bad")
    job = Job.objects.get(pk=run.job_id)
    assert (job.state, job.failures, cannot_tell, fake_engine) == ("queued", 0, [True], [])
    assert not PairValue.objects.exists()


def test_a_child_that_cannot_tell_why_it_refuses_does_not_begin_to_work(
    wrong: None, cannot_tell: list[bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    killed = []
    monkeypatch.setattr(worker_process.os, "kill", lambda pid, number: killed.append((pid, number)))
    monkeypatch.setattr(worker_process.connections, "close_all", lambda: None)
    monkeypatch.setattr(worker_process, "METRICS", {"rouge1_mecab": METRICS["rouge1_mecab"]})
    monkeypatch.setattr(worker_process, "_roles", lambda profile: [METRICS["rouge1_mecab"].model])
    with pytest.raises(registry.NotMine):
        worker_process.begin_work(4711)
    assert killed == [(4711, signal.SIGQUIT)]


def test_numbers_that_nobody_knows_are_those_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    from scoring import canary as fixed

    monkeypatch.setattr(fixed, "known_rows", lambda metric: None)
    canary.require(("rouge1_mecab",), "demo")
    kept = CanaryRows.objects.get()
    assert (kept.metric, kept.rows[0]) == ("rouge1_mecab", [1.0])
    monkeypatch.setattr(canary, "_checked", {})
    canary.require(("rouge1_mecab",), "demo")  # the next worker has the same
    CanaryRows.objects.update(rows=[[0.9], *kept.rows[1:]])
    monkeypatch.setattr(canary, "_checked", {})
    with pytest.raises(registry.NotMine):
        canary.require(("rouge1_mecab",), "demo")


def refuses(self: object, *texts: str) -> float:
    raise ValueError("no image of that name")


def test_a_plug_in_that_takes_other_texts_is_not_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(METRICS["rouge1_mecab"], "value", refuses)
    monkeypatch.setattr(type(METRICS), "origin", lambda self, name: {"plugin": {"distribution": "more"}})
    canary.require(("rouge1_mecab",), "demo")


def test_a_metric_of_ours_that_fails_on_the_fixed_items_takes_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(METRICS["rouge1_mecab"], "value", refuses)
    with pytest.raises(registry.NotMine):
        canary.require(("rouge1_mecab",), "demo")
    assert refusal.reason().startswith("rouge1_mecab: ValueError: no image of that name (demo, ")


def test_whoever_computed_wrong_numbers_leaves_no_values_of_pairs(wrong: None) -> None:
    PairValue.objects.create(key=b"k" * 32, value=0.5)
    with pytest.raises(registry.NotMine):
        canary.require(("rouge1_mecab",), "demo")
    assert not PairValue.objects.exists()


def test_pictures_are_checked_as_texts_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = write_profile(tmp_path / "clip.toml", clip=make_clip(tmp_path / "clip"))
    canary.require(("clipscore",), str(profile))
    kept = CanaryRows.objects.get()
    assert (kept.metric, len(kept.rows)) == ("clipscore", len(TEXTS))
    monkeypatch.setattr(canary, "_checked", {})
    CanaryRows.objects.update(rows=[[0.0] * len(row) for row in kept.rows])
    with pytest.raises(registry.NotMine):
        canary.require(("clipscore",), str(profile))


def test_a_child_checks_its_models_before_it_works(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    from scoring import canary as fixed

    killed = []
    settings.SCORING_PROFILE = "demo"
    monkeypatch.setattr(worker_process.os, "kill", lambda pid, number: killed.append((pid, number)))
    monkeypatch.setattr(worker_process.connections, "close_all", lambda: None)
    worker_process.begin_work(4711)
    assert ({name for name, _profile in canary._checked}, killed) == ({"bertscore", "bleurt"}, [])
    monkeypatch.setattr(canary, "_checked", {})
    monkeypatch.setattr(fixed, "rows_of", lambda metric: [(0.0,)])
    with pytest.raises(registry.NotMine):
        worker_process.begin_work(4711)
    assert killed == [(4711, signal.SIGQUIT)]


def test_without_a_database_the_check_waits_for_the_first_run(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: Any) -> None:
        raise OperationalError

    monkeypatch.setattr(worker_process.connections, "close_all", lambda: None)
    monkeypatch.setattr(canary, "require", unreachable)
    worker_process.begin_work(4711)
