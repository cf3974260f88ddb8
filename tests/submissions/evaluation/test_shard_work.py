"""The process of a step: it ends with its worker, tells how it failed, and is stopped when the lease is lost."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from typing import Any

import psutil
import pytest
from django.core.management import call_command

from malpan.submissions.evaluation import faults
from malpan.submissions.evaluation.leases import LeaseLost
from malpan.submissions.evaluation.shard_work import run_apart
from malpan.submissions.management.commands import shard_step
from tests.factories import CANARY
from tests.waiting import wait_for


@pytest.fixture
def program(tmp_path: Path, settings: Any) -> Path:
    """The ``manage.py`` that steps are run with; a test writes it."""
    settings.BASE_DIR = tmp_path
    return tmp_path / "manage.py"


def never() -> None:
    """No lease is lost."""


def test_step_gets_its_row_its_attempt_and_its_parent(program, tmp_path):
    program.write_text(f"import sys; open({str(tmp_path / 'told')!r}, 'w').write(' '.join(sys.argv[1:]))")

    run_apart("gather", 12, 3, never)

    assert (tmp_path / "told").read_text() == f"shard_step gather 12 3 --parent {os.getpid()}"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("print('loaded'); print('fault storage_full'); raise SystemExit(1)", "storage_full"),
        ("import os; os.kill(os.getpid(), 9)", "worker_lost"),  # out of memory, as the kernel says it
        ("raise SystemExit('no database')", "worker_lost"),
        ("print(('x' * 99 + chr(10)) * 10**4); print('fault storage_full'); raise SystemExit(1)", "storage_full"),
    ],
)
def test_failed_step_says_how(program, text, code):
    program.write_text(text)

    with pytest.raises(faults.StepFailed) as failed:
        run_apart("plan", 1, 1, never)

    assert faults.code_of(failed.value) == code


def test_step_of_a_lost_lease_is_stopped(program, tmp_path):
    pid = tmp_path / "pid"
    program.write_text(f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid()))\nwhile True: time.sleep(1)")

    def lost() -> None:
        if pid.exists() and pid.read_text():
            raise LeaseLost

    with pytest.raises(LeaseLost):
        run_apart("plan", 1, 1, lost)

    assert not psutil.pid_exists(int(pid.read_text()))


def test_step_ends_with_its_worker():
    """A stand-in for the command, whose first act is the command's, in a child whose parent is killed."""
    child = (
        "import os, sys, time; from malpan.local.die_with_parent import die_with_parent;"
        "die_with_parent(int(sys.argv[1]));"
    )
    parent = (
        "import os, subprocess, sys, time;"
        f"p = subprocess.Popen([sys.executable, '-c', {child + ' time.sleep(60)'!r}, str(os.getpid())]);"
        "print(p.pid, flush=True); time.sleep(60)"
    )
    worker = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, text=True)
    pid = int(worker.stdout.readline())
    time.sleep(0.5)
    worker.kill()
    worker.wait()

    wait_for(lambda: not _is_alive(pid), "the step is gone", seconds=10)


def _is_alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.fixture
def unbound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shard_step, "die_with_parent", lambda _parent: None)


@pytest.mark.usefixtures("unbound")
def test_command_tells_a_fault_by_its_code_alone(monkeypatch, caplog):
    def crash(pk: int, attempt: int) -> None:
        raise RuntimeError(CANARY)

    monkeypatch.setitem(shard_step.STEPS, "plan", crash)
    out = StringIO()

    with pytest.raises(SystemExit) as ended:
        call_command("shard_step", "plan", "1", "2", "--parent", "1", stdout=out)

    assert (ended.value.code, out.getvalue().splitlines()[-1]) == (1, "fault scoring_crashed")
    assert "RuntimeError" in caplog.text
    assert CANARY not in caplog.text + out.getvalue()


@pytest.mark.usefixtures("unbound")
@pytest.mark.django_db
def test_command_of_a_run_in_other_hands_ends_in_peace():
    call_command("shard_step", "plan", "123456", "1", "--parent", "1")
