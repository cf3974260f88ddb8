"""The programs of a site: as many scoring workers as were asked for, each with a name and threads of its own."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from malpan.local.programs import Program, programs_of
from malpan.worker_process import load_models


def scoring(**options: int) -> list[Program]:
    made = programs_of(Path("/site"), Path("/run"), listen_descriptor=3, **({"threads": 4} | options))
    return [program for program in made if "scoring" in program.arguments]


def test_one_worker_scores_unless_more_are_asked_for() -> None:
    [worker] = scoring()
    assert (worker.name, worker.environment["OMP_NUM_THREADS"]) == ("worker", "4")
    assert "scoring@%h" in worker.arguments


@pytest.mark.parametrize("workers", [2, 3])
def test_further_workers_have_names_of_their_own(workers: int) -> None:
    found = scoring(workers=workers, threads=1)
    names = [next(word for word in worker.arguments if word.endswith("@%h")) for worker in found]
    assert names == ["scoring@%h", "scoring-2@%h", "scoring-3@%h"][:workers]
    assert len({worker.name for worker in found}) == workers
    assert {worker.environment["OMP_NUM_THREADS"] for worker in found} == {"1"}
    assert [worker.environment["SCORING_WORKER_NUMBER"] for worker in found] == ["0", "1", "2"][:workers]


@pytest.mark.parametrize(("number", "index", "taken"), [(0, 0, 0), (2, 0, 2), (0, 3, 3), (4, 1, 5)])
def test_every_process_of_a_machine_takes_a_gpu_by_a_number_of_its_own(
    settings: Any, monkeypatch: pytest.MonkeyPatch, number: int, index: int, taken: int
) -> None:
    asked: list[int] = []
    monkeypatch.setattr("malpan.worker_process.current_process", lambda: SimpleNamespace(index=index))
    monkeypatch.setattr("malpan.worker_process.use_gpu", asked.append)
    nothing = SimpleNamespace(profile=SimpleNamespace(name="none", specs=tuple), device="cuda")
    monkeypatch.setattr("malpan.worker_process.shared_store", lambda *_args: nothing)
    settings.SCORING_WORKER_NUMBER, settings.SCORING_DEVICE = number, "cuda"

    load_models()

    assert asked == [taken]
