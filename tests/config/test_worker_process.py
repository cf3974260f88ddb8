"""What a process of the scoring pool does before its first run."""

from __future__ import annotations

from types import SimpleNamespace

import billiard
import pytest
import torch

from config import worker_process


@pytest.fixture
def chosen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    numbers: list[int] = []
    monkeypatch.setattr(torch.cuda, "set_device", numbers.append)
    return numbers


@pytest.mark.parametrize(
    ("process", "gpus", "expected"), [(0, 4, [0]), (3, 4, [3]), (5, 4, [1]), (2, 1, []), (0, 0, [])]
)
def test_the_processes_of_a_pool_take_the_gpus_in_turn(chosen, monkeypatch, settings, process, gpus, expected):
    settings.SCORING_DEVICE = "auto"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: gpus)
    monkeypatch.setattr(billiard, "current_process", lambda: SimpleNamespace(index=process))
    worker_process.choose_gpu()
    assert chosen == expected


def test_a_site_that_scores_on_processors_asks_for_no_gpu(chosen, monkeypatch, settings):
    settings.SCORING_DEVICE = "cpu"
    monkeypatch.setattr(torch.cuda, "device_count", lambda: pytest.fail("asked"))
    worker_process.choose_gpu()
    assert chosen == []
