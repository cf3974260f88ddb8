"""A phase whose files are large by a small threshold, fake models, and workers for them."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import QuerySet
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.jobs import reconcile as reconciling
from malpan.jobs.models import Job
from malpan.jobs.tasks import work_next
from malpan.submissions.evaluation import large_runs
from malpan.submissions.models import MetricResult, PairValue, ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from tests.factories import CANARY, PhaseFactory, TeamFactory, file_bytes, rows
from tests.scoring.fakes import FakeBertScore, FakeBleurt, FakeNeural
from tests.submissions.conftest import fresh, send

ITEMS, SLICE_ITEMS = 12, 3
SLICES = ITEMS // SLICE_ITEMS


@pytest.fixture
def asked(rings: list[str], monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[tuple[str, str, str]]:
    """Fake models everywhere, thresholds that make twelve items many; what the neural metrics are asked."""
    from scoring.metrics import METRICS

    monkeypatch.setitem(METRICS.entries, "bertscore", FakeBertScore)
    monkeypatch.setitem(METRICS.entries, "bleurt", FakeBleurt)
    fake_store = SimpleNamespace(
        profile=SimpleNamespace(name="fake", is_demo=False, clip=None),
        computed_with=dict,
        bertscore=SimpleNamespace(references=SimpleNamespace(max_bytes=1)),
    )
    for module in ("scoring.engine", "scoring.running.precompute", "malpan.submissions.evaluation.canary"):
        monkeypatch.setattr(f"{module}.shared_store", lambda *_args: fake_store)
    monkeypatch.setattr(FakeNeural, "asked", [])
    settings.LARGE_RUN_ITEMS, settings.SLICE_ITEMS = ITEMS - 1, SLICE_ITEMS
    large_runs.forget_slices()
    large_runs.forget_files()
    return FakeNeural.asked


def references(items: int = ITEMS, word: str = "규범") -> bytes:
    listed = rows(items)
    for number, row in enumerate(listed):
        row["output"]["answer"] = f"바른말{number}이 옳다. {CANARY} {word}에 따라 {number}째로 적는다"
    return file_bytes(listed)


def answers(items: int = ITEMS, mark: str = "") -> bytes:
    listed = rows(items)
    for number, row in enumerate(listed):
        verdict = f"바른말{number}" if number % 3 else "틀린말"
        row["output"]["answer"] = f"{verdict}이 옳다. {'규범 ' * (number + 1)}{mark}{number}째로 적는다"
    return file_bytes(listed)


def large_phase(public_ids: list[str] | None = None, **fields: Any) -> tuple[Phase, Team]:
    phase = PhaseFactory.create(**fields)
    publish_reference_version(phase=phase, data=references(), actor=None, public_ids=public_ids)
    return phase, TeamFactory.create(competition=phase.track.competition)


def large_run(**fields: Any) -> ScoringRun:
    """A queued run above the threshold."""
    phase, team = large_phase(**fields)
    return send(phase, team, answers()).runs.get()


def in_one_piece(settings: Any, **fields: Any) -> ScoringRun:
    """The same file, scored by one worker in one go, and forgotten by the cache."""
    threshold, settings.LARGE_RUN_ITEMS = settings.LARGE_RUN_ITEMS, 10**6
    run = large_run(**fields)
    work_off()
    assert not slices_of(run).exists()
    settings.LARGE_RUN_ITEMS = threshold
    forget()
    return run


def planned_run(**fields: Any) -> ScoringRun:
    """A run whose slices wait, none of them taken."""
    run = large_run(**fields)
    work_next(worker="planner")
    assert slices_of(run).count() == SLICES
    return fresh(run)


def slices_of(run: ScoringRun) -> QuerySet[Job]:
    return Job.objects.filter(parent=run.job_id).order_by("number")


def states(run: ScoringRun) -> dict[str, int]:
    """How many slices of ``run`` are in which state."""
    found = list(slices_of(run).values_list("state", flat=True))
    return {state: found.count(state) for state in set(found)}


def work_off(worker: str = "worker") -> None:
    """Do what waits until nothing does."""
    while work_next(worker=worker) is not None:
        pass


def pass_by(run: ScoringRun, seconds: float = 3600) -> reconciling.Reconciled:
    """Let time pass until every lease has run out, and have the reconciler look."""
    done = reconciling.reconcile(now=timezone.now() + timedelta(seconds=seconds))
    fresh(run)
    return done


def forget() -> None:
    """The cache loses everything."""
    PairValue.objects.all().delete()


def result_of(run: ScoringRun) -> dict[str, Any]:
    """All that a scoring wrote, but for times and names."""
    fresh(run)
    fields = ("state", "final_score", "scores", "coverage", "warnings", "signature", "signature_hash", "is_demo_models")
    values = MetricResult.objects.filter(submission=run.submission).order_by("metric", "split")
    return {
        **{name: getattr(run, name) for name in fields},
        "values": list(values.values_list("split", "metric", "metric_signature", "values")),
    }
