"""A phase whose files are large by a small threshold, steps that run in this process, and workers for them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from datetime import datetime, timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from django.db.models import Sum
from django.utils import timezone

from malpan.competitions.models import Phase
from malpan.submissions.evaluation import reconciling, shard_steps, shard_work, work
from malpan.submissions.models import MetricResult, RunShard, ScoringRun
from malpan.submissions.scoring_changes import publish_reference_version
from malpan.teams.models import Team
from tests.factories import CANARY, PhaseFactory, TeamFactory, file_bytes, rows
from tests.scoring.fakes import FakeNeural
from tests.submissions.conftest import send

ITEMS, SHARD_PAIRS = 12, 3
SHARDS = ITEMS // SHARD_PAIRS
State = RunShard.State


def install(monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[tuple[str, str, str]]:
    """Fake models everywhere, thresholds that make twelve items many; what the neural metrics are asked."""
    from scoring.metrics import METRICS
    from scoring.models import store

    monkeypatch.setitem(METRICS, "bertscore", "tests.scoring.fakes:FakeBertScore")
    monkeypatch.setitem(METRICS, "bleurt", "tests.scoring.fakes:FakeBleurt")
    resources = SimpleNamespace(
        profile=SimpleNamespace(name="fake", is_demo=False, clip=None),
        bertscore=SimpleNamespace(references=SimpleNamespace(max_bytes=1)),
    )
    monkeypatch.setattr(store, "shared_resources", lambda *_args: resources)
    monkeypatch.setattr(shard_work, "run_apart", run_here)
    monkeypatch.setattr(FakeNeural, "asked", [])
    settings.SHARD_ABOVE_ITEMS, settings.SHARD_PAIRS = ITEMS - 1, SHARD_PAIRS
    settings.PAIR_VALUES_MAX_ROWS = 0
    return FakeNeural.asked


@pytest.fixture
def asked(sent: list[int], monkeypatch: pytest.MonkeyPatch, settings: Any) -> list[tuple[str, str, str]]:
    """The world of this module; what the neural metrics are asked in it."""
    return install(monkeypatch, settings)


def run_here(step: str, pk: int, attempt: int, check: Callable[[], None]) -> None:
    """A step without a process of its own."""
    check()
    {"plan": shard_steps.plan_run, "gather": shard_steps.gather_run}[step](pk, attempt)


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
    """The same file, scored by one worker in one go."""
    threshold, settings.SHARD_ABOVE_ITEMS = settings.SHARD_ABOVE_ITEMS, 10**6
    run = large_run(**fields)
    work_off()
    assert not run.shards.exists()
    settings.SHARD_ABOVE_ITEMS = threshold
    return run


def planned_run(**fields: Any) -> ScoringRun:
    """A run that is cut into shards, none of them taken."""
    run = large_run(**fields)
    work.do_next(worker="planner")
    run.refresh_from_db()
    assert run.shards.count() == SHARDS
    return run


def work_off(worker: str = "worker") -> None:
    """Do what waits until nothing does."""
    claims = -1
    while (now := _claims()) != claims:
        claims = now
        work.do_next(worker=worker)


def pass_by(run: ScoringRun, seconds: float = 3600) -> reconciling.Reconciled:
    """Let time pass until every lease has run out, and have the reconciler look."""
    later = timezone.now() + timedelta(seconds=seconds)
    done = reconciling.reconcile(now=later)
    run.refresh_from_db()
    return done


def silence(shard: RunShard, now: datetime | None = None) -> None:
    """Let the lease of ``shard`` run out this moment."""
    RunShard.objects.filter(pk=shard.pk).update(lease_expires_at=(now or timezone.now()) - timedelta(seconds=1))


def states(run: ScoringRun) -> Counter[str]:
    """How many shards of ``run`` are in which state."""
    return Counter(run.shards.values_list("state", flat=True))


def result_of(run: ScoringRun) -> dict[str, Any]:
    """All that a scoring wrote, but for times and names."""
    run.refresh_from_db()
    fields = ("state", "final_score", "scores", "coverage", "warnings", "signature", "signature_hash", "is_demo_models")
    values = MetricResult.objects.filter(submission=run.submission).order_by("metric", "part")
    return {
        **{name: getattr(run, name) for name in fields},
        "values": list(values.values_list("part", "metric", "metric_signature", "values")),
    }


def _claims() -> int:
    """How often anything was ever claimed."""
    rows = (ScoringRun.objects.all(), RunShard.objects.all())
    return sum(of_kind.aggregate(attempts=Sum("attempt", default=0))["attempts"] for of_kind in rows)
