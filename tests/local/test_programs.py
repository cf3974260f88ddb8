"""The programs of a site: as many scoring workers as were asked for, each with a name and threads of its own."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings
from django.core.management import call_command

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


def test_a_program_keeps_its_packages_when_the_link_to_the_version_is_set_anew(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    run: list[str] = []
    (tmp_path / "version-1" / ".venv").mkdir(parents=True)
    (tmp_path / "now").symlink_to("version-1")
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "now" / ".venv"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "now" / ".venv" / "bin" / "python"))
    monkeypatch.setattr(os, "execve", lambda path, arguments, _environment: run.extend((path, arguments[0])))
    monkeypatch.setattr(os, "chdir", run.append)
    monkeypatch.setenv("DATABASE_URL", "postgresql://")
    monkeypatch.setenv("REDIS_URL", "redis://")

    call_command("run", "web")

    python = str((tmp_path / "version-1" / ".venv" / "bin" / "python").resolve())
    assert run == [settings.BASE_DIR, python, python]
