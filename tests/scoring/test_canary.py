"""The fixed items that show whether a machine computes what all others do."""

from __future__ import annotations

import math
from typing import Any

import pytest

from scoring import canary
from scoring.metrics import METRICS, MetricOptions, load_metric
from scoring.models.store import ModelStore, shared_store

NOT_BY_DEMO = ["clipscore", "fluency"]  # no frames, and no head for masked words
REMOTE = ["judge_faithfulness", "judge_fluency", "llm_judge"]  # another server's numbers say nothing of this machine
CHECKED = [name for name in METRICS if name not in (*NOT_BY_DEMO, *REMOTE) and not METRICS.origin(name)]


def metric_of(name: str) -> Any:
    return load_metric(name, shared_store("demo", "cpu") if METRICS[name].model else None)


@pytest.mark.parametrize("name", CHECKED)
def test_every_metric_has_its_known_rows_here(name: str) -> None:
    """``python -m scoring.canary`` writes them anew after a change of a rule."""
    metric = metric_of(name)
    known, rows = canary.known_rows(metric), canary.rows_of(metric)
    assert known is not None
    assert canary.difference(name, known, rows) is None
    assert len({tuple(row) for row in rows}) > 1  # the items tell numbers apart


def test_what_the_demo_models_cannot_compute_is_optional_and_has_no_known_rows() -> None:
    store = shared_store("demo", "cpu")
    own = [name for name in METRICS if not METRICS[name].is_remote]
    assert [name for name in own if not METRICS[name].is_configured(store, MetricOptions())] == NOT_BY_DEMO
    assert all(METRICS[name].not_configured for name in NOT_BY_DEMO)
    assert not {*NOT_BY_DEMO} & {*canary._known()}


def test_what_another_server_computes_is_not_asked_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MALPAN_DEMO_JUDGE_URL", "http://127.0.0.1:9")  # nobody listens
    store = ModelStore("demo", "cpu")
    assert sorted(name for name in METRICS if METRICS[name].is_remote) == REMOTE
    assert all(METRICS[name].is_configured(store, MetricOptions()) for name in REMOTE)
    assert not any(canary.is_checked(METRICS[name], store) for name in REMOTE)


def test_the_signature_of_another_machine_has_the_same_identity(monkeypatch: pytest.MonkeyPatch) -> None:
    metric = metric_of("bleurt")
    before, signature = canary.identity(metric), metric.signature()
    monkeypatch.setattr(metric, "signature", lambda: signature | {"libraries": {"torch": "9"}, "device_class": "cuda"})
    assert canary.identity(metric) == before
    monkeypatch.setattr(metric, "signature", lambda: signature | {"weights_sha256": "0" * 64})
    assert canary.identity(metric) != before
    assert canary.known_rows(metric) is None


KNOWN = [(0.5, 3.0), (0.25, 4.0)]


@pytest.mark.parametrize(
    "rows",
    [
        [(0.5, 3.0), (0.2501, 4.0)],
        [(0.5, 3.0), (math.nan, 4.0)],
        [(0.5, 3.0)],
        [(0.5, 3.0), (0.25, 4.0), (0.1, 1.0)],
        [(0.5,), (0.25,)],
    ],
)
def test_a_difference_is_found_wherever_it_is(rows: list[tuple[float, ...]]) -> None:
    assert canary.difference("x", KNOWN, rows) is not None


def test_what_the_processor_moves_is_none() -> None:
    assert canary.difference("x", KNOWN, [(0.5 + 6e-8, 3.0), (0.25, 4.0)]) is None


def test_the_first_difference_is_named() -> None:
    found = canary.difference("bleurt", KNOWN, [(0.5, 3.0), (0.25, 5.0)])
    assert str(found) == "bleurt, row 1, number 1: 5.0 instead of 4.0"
