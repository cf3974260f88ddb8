"""The programs of a site: as many scoring workers as were asked for, each with a name and threads of its own."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.conf import settings

from malpan import celery_app
from malpan.local.programs import DEMO_JUDGE_URL, Program, child_environment, programs_of
from malpan.worker_process import load_models


def scoring(**options: int) -> list[Program]:
    made = programs_of(Path("/site"), Path("/run"), listen_descriptor=3, **({"threads": 4} | options))
    return [program for program in made if "scoring" in program.arguments]


def test_no_program_of_celery_imports_every_page_for_checks_that_nobody_reads() -> None:
    programs = programs_of(Path("/site"), Path("/run"), listen_descriptor=3, threads=1, workers=2)
    by_celery = {
        each.name: each.environment.get("CELERY_SKIP_CHECKS") for each in programs if "celery" in each.arguments
    }
    assert by_celery == dict.fromkeys(("worker", "worker-2", "chores"), "1") | {"beat": None}  # which knows no page


def test_the_clock_loads_nothing_of_the_site_and_logs_as_it_does() -> None:
    program = """if True:
        import json, logging, sys
        from malpan.clock import app
        app.loader.init_worker()
        app.finalize()
        app.log.setup()
        said = {"names": sorted(each["task"] for each in app.conf.beat_schedule.values())}
        said["loaded"] = [name for name in sys.modules if name.startswith(("malpan.", "scoring"))]
        said["line"] = type(logging.getLogger().handlers[0].formatter).__name__
        print(json.dumps(said))
    """
    environment = os.environ | {"DJANGO_SETTINGS_MODULE": "malpan.settings", "LOG_FORMAT": "json"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    assert said["names"] == sorted(entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values())
    assert said["line"] == "JsonLine"
    own = {"malpan.clock", "malpan.settings", "malpan.core", "malpan.core.errors", "malpan.core.log"}
    assert set(said["loaded"]) == own | {"malpan.broker", "malpan.celery", "malpan.garbage"}


def test_the_name_of_a_task_says_all_to_the_clock() -> None:
    """Whoever sends a task by its name sends nothing that the task says of itself: queue, priority, time limit."""
    celery_app.loader.import_default_modules()
    for entry in settings.CELERY_BEAT_SCHEDULE.values():
        of_itself = celery_app.tasks[entry["task"]]._get_exec_options()
        assert {name: value for name, value in of_itself.items() if value is not None} == {"serializer": "json"}


def test_one_worker_scores_unless_more_are_asked_for() -> None:
    [worker] = scoring()
    assert (worker.name, worker.environment["OMP_NUM_THREADS"]) == ("worker", "4")
    assert "scoring@%h" in worker.arguments


@pytest.mark.parametrize("workers", [2, 3])
def test_further_workers_have_names_of_their_own(workers: int) -> None:
    found = scoring(workers=workers, threads=1)
    names = [next(word for word in worker.arguments if word.endswith("@%h")) for worker in found]
    assert names == ["scoring@%h", "scoring-1@%h", "scoring-2@%h"][:workers]
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


def test_further_processes_of_a_kind_start_after_the_first(tmp_path: Path) -> None:
    """They name some that stand before them. Until a worker is ready, no second process of any kind is in its way."""
    found = programs_of(tmp_path, tmp_path, listen_descriptor=3, threads=1, workers=3, web_workers=2)
    after = {program.name: program.after for program in found if program.after}
    assert after == {
        "web-2": ("web", "worker"), "worker-2": ("worker",), "worker-3": ("worker",), "site": ("web",),
    }  # fmt: skip
    names = [program.name for program in found]
    assert all(names.index(first) < names.index(name) for name, firsts in after.items() for first in firsts)


# --- the demo judge ---------------------------------------------------------------------------------------------------
def test_the_demo_judge_runs_only_where_it_has_a_socket() -> None:
    def names(**options: int) -> list[str]:
        return [
            each.name for each in programs_of(Path("/site"), Path("/run"), listen_descriptor=3, threads=1, **options)
        ]

    assert "judge" not in names()
    assert names(judge_descriptor=7).count("judge") == 1
    common = {"url": "http://site", "started": 1.0, "counts": Path("/c"), "temporary": Path("/t")}
    assert DEMO_JUDGE_URL not in child_environment(Path("/site"), Path("/var"), **common)
    made = child_environment(Path("/site"), Path("/var"), **common, judge_url="http://127.0.0.1:9")
    assert made[DEMO_JUDGE_URL] == "http://127.0.0.1:9"


def test_a_demo_judge_that_was_killed_is_found_at_the_same_address_again() -> None:
    """As the supervisor does: it keeps the socket and starts the program anew."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listener:
        listener.set_inheritable(True)
        url = f"http://127.0.0.1:{listener.getsockname()[1]}/health"
        [program] = [
            each
            for each in programs_of(
                Path("/site"), Path("/run"), listen_descriptor=3, threads=1, judge_descriptor=listener.fileno()
            )
            if each.name == "judge"
        ]
        for _start in range(2):
            process = subprocess.Popen(
                [sys.executable, *program.arguments], pass_fds=program.descriptors, stdout=subprocess.DEVNULL
            )
            try:
                with urllib.request.urlopen(url, timeout=60) as answer:  # waits in the socket's queue meanwhile
                    assert answer.status == 200
                process.send_signal(program.stop_signal)
                assert process.wait(program.grace + 20) == 0
            finally:
                process.kill()
                process.wait()


@pytest.mark.parametrize(
    ("profile", "judge", "listens"),
    [("demo", "", True), ("official", "", False), ("demo", "http://127.0.0.1:9", False)],
)
def test_the_site_has_a_demo_judge_of_its_own_only_with_demo_models(
    profile: str, judge: str, listens: bool, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from malpan.local.management.commands.up import _listen_for_judge

    settings.SCORING_PROFILE = profile
    monkeypatch.delenv(DEMO_JUDGE_URL, raising=False)
    if judge:
        monkeypatch.setitem(os.environ, DEMO_JUDGE_URL, judge)
    listener = _listen_for_judge()
    assert (listener is not None) == listens
    if listener is not None:
        listener.close()
