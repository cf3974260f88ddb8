"""The supervisor with programs of a line or two; the whole site under it is in tests/system/test_supervisor.py."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from malpan.local import supervisor
from malpan.local.embedded import Services
from malpan.local.file_lock import FileLock
from malpan.local.programs import EX_CONFIG, Program
from malpan.local.servers import ServerFailed
from malpan.local.supervisor import Child, PrefixedLines, Supervisor
from tests.paths import ROOT
from tests.waiting import wait_for

FOREVER = "import os, time; print('up', os.getpid(), flush=True); time.sleep(600)"
DEAF = f"import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); {FOREVER}"
# a process of its own that outlives its parent and keeps its output open
WITH_HEIR = (
    f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(20)']); {FOREVER}"
)


class Toy:
    """A supervisor in a process of its own, and the lines that it prints."""

    def __init__(self, programs: list[dict[str, Any]], steady: float, ready_within: float) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.local.toy_site", json.dumps(programs), str(steady), str(ready_within)],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        self.lines: list[str] = []
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        self.lines.extend(iter(self.process.stdout.readline, ""))

    def count_of(self, words: str) -> int:
        """How many lines contain ``words``."""
        return sum(words in line for line in self.lines)

    def process_ids(self, name: str) -> list[int]:
        """Of every process of the program that has said so, oldest first."""
        return [int(line.split()[-1]) for line in list(self.lines) if line.startswith(f"{name} ") and "up " in line]

    def stop(self) -> int:
        self.process.terminate()
        return self.process.wait(120)


@pytest.fixture
def toy_site() -> Iterator[Callable[..., Toy]]:
    made: list[Toy] = []

    def start(*programs: dict[str, Any], steady: float = 600.0, ready_within: float = 600.0) -> Toy:
        made.append(Toy(list(programs), steady, ready_within))
        return made[-1]

    yield start
    for toy in made:
        if toy.process.poll() is None:
            toy.process.kill()
            toy.process.wait(10)


def test_kills_in_turn_never_end_the_supervision(toy_site: Callable[..., Toy]) -> None:
    """Each death is noticed, each program started again and heard, and no descriptor is left behind."""
    toy = toy_site({"name": "one", "code": FOREVER}, {"name": "two", "code": FOREVER}, steady=0.0)
    wait_for(lambda: toy.process_ids("one") and toy.process_ids("two"), "both have started")
    descriptors = psutil.Process(toy.process.pid).num_fds()
    for count in range(1, 25):
        name = ("one", "two")[count % 2]
        before = len(toy.process_ids(name))
        os.kill(toy.process_ids(name)[-1], signal.SIGKILL)
        wait_for(lambda name=name, before=before: len(toy.process_ids(name)) > before, f"{name} again, kill {count}")
    assert toy.count_of("SIGKILL") == 24
    assert psutil.Process(toy.process.pid).num_fds() == descriptors
    assert toy.stop() == 0


def test_both_killed_at_once_are_both_started_again(toy_site: Callable[..., Toy]) -> None:
    toy = toy_site({"name": "one", "code": FOREVER}, {"name": "two", "code": FOREVER}, steady=0.0)
    for count in range(1, 6):
        wait_for(lambda count=count: len(toy.process_ids("one")) == len(toy.process_ids("two")) == count, "both run")
        for name in ("one", "two"):
            os.kill(toy.process_ids(name)[-1], signal.SIGKILL)
    wait_for(lambda: len(toy.process_ids("one")) == len(toy.process_ids("two")) == 6, "both run again")


def test_a_process_that_outlives_its_program_is_in_nobodys_way(toy_site: Callable[..., Toy]) -> None:
    toy = toy_site({"name": "one", "code": WITH_HEIR}, steady=0.0)
    wait_for(lambda: toy.process_ids("one"), "it has started")
    heirs = psutil.Process(toy.process_ids("one")[0]).children()
    os.kill(toy.process_ids("one")[0], signal.SIGKILL)
    wait_for(lambda: len(toy.process_ids("one")) == 2, "it is started again, and heard")
    for heir in heirs:
        with suppress(psutil.NoSuchProcess):  # all that took longer than it lives
            heir.kill()


def test_one_that_keeps_dying_is_started_after_ever_longer_pauses(toy_site: Callable[..., Toy]) -> None:
    toy = toy_site({"name": "one", "code": "print('hm', end='')"})
    wait_for(lambda: toy.count_of("4초 뒤"), "the fourth end")
    assert [line.split(". ")[1][:2] for line in toy.lines if "뒤 다시" in line] == ["0초", "2초", "4초"]
    assert toy.count_of("one | hm") == 3  # a last line without its end is written too


@pytest.mark.parametrize(
    ("program", "words"),
    [({"code": f"exit({EX_CONFIG})"}, "설정을 고친 뒤"), ({"code": "print('done')", "runs_once": True}, "done")],
)
def test_what_would_end_in_the_same_way_is_not_started_again(
    toy_site: Callable[..., Toy], program: dict[str, Any], words: str
) -> None:
    toy = toy_site({"name": "one"} | program, {"name": "two", "code": FOREVER}, steady=0.0)
    wait_for(lambda: toy.count_of(words) and toy.process_ids("two"), "both have spoken")
    os.kill(toy.process_ids("two")[-1], signal.SIGKILL)
    wait_for(lambda: len(toy.process_ids("two")) == 2, "the other one is still looked after")
    assert toy.count_of(words) == 1


def ready_when(path: Path) -> str:
    """A program that says it is ready when there is a file at ``path``."""
    return (
        "import os, sys, time; sys.path.insert(0, 'platform'); from malpan.local.readiness import say_ready\n"
        "print('up', os.getpid(), flush=True)\n"
        f"while not os.path.exists({str(path)!r}): time.sleep(0.01)\n"
        "say_ready(); time.sleep(600)"
    )


def test_a_further_program_starts_when_the_first_is_ready_each_time(
    toy_site: Callable[..., Toy], tmp_path: Path
) -> None:
    """Also after both were killed; one killed alone does not wait for the other, which is ready."""
    sign = tmp_path / "ready"
    toy = toy_site({"name": "one", "code": ready_when(sign)}, {"name": "two", "code": FOREVER, "after": ["one"]})
    for round_ in (1, 2):
        wait_for(lambda count=round_: len(toy.process_ids("one")) == count, "the first has started")
        time.sleep(0.3)
        assert len(toy.process_ids("two")) == round_ - 1
        sign.touch()
        wait_for(lambda count=round_: len(toy.process_ids("two")) == count, "it is the other's turn")
        sign.unlink()
        if round_ == 1:
            for name in ("one", "two"):
                os.kill(toy.process_ids(name)[-1], signal.SIGKILL)
    os.kill(toy.process_ids("two")[-1], signal.SIGKILL)
    wait_for(lambda: len(toy.process_ids("two")) == 3, "the first is still ready")


def test_a_program_waits_for_all_that_it_is_after(toy_site: Callable[..., Toy], tmp_path: Path) -> None:
    signs = {name: tmp_path / name for name in ("one", "two")}
    toy = toy_site(
        *({"name": name, "code": ready_when(sign)} for name, sign in signs.items()),
        {"name": "three", "code": FOREVER, "after": ["one", "two"]},
    )
    wait_for(lambda: toy.process_ids("one") and toy.process_ids("two"), "the first two have started")
    signs["one"].touch()
    time.sleep(0.5)
    assert not toy.process_ids("three")
    signs["two"].touch()
    wait_for(lambda: toy.process_ids("three"), "both are ready")


def test_nobody_waits_for_one_that_is_never_ready_or_keeps_dying(toy_site: Callable[..., Toy], tmp_path: Path) -> None:
    toy = toy_site(
        {"name": "one", "code": ready_when(tmp_path / "never")},
        {"name": "two", "code": FOREVER, "after": ["one"]},
        {"name": "three", "code": "exit(1)"},
        {"name": "four", "code": FOREVER, "after": ["three"]},
        ready_within=1.0,
    )
    wait_for(lambda: all(map(toy.process_ids, ("one", "two", "four"))), "nobody waits for ever")
    begun = {name: psutil.Process(toy.process_ids(name)[0]).create_time() for name in ("one", "two")}
    assert begun["two"] - begun["one"] > 0.5, "a second, by the kernel: lines may be read much later"


def test_a_program_that_does_not_listen_is_killed_after_its_grace(toy_site: Callable[..., Toy]) -> None:
    toy = toy_site({"name": "one", "code": DEAF, "grace": 0.3}, {"name": "two", "code": WITH_HEIR})
    wait_for(lambda: toy.process_ids("one") and toy.process_ids("two"), "both have started")
    assert toy.stop() == 0
    assert not psutil.pid_exists(toy.process_ids("one")[0])
    assert toy.count_of("다시 시작") == 0


def test_asked_twice_it_stops_at_once(toy_site: Callable[..., Toy]) -> None:
    toy = toy_site({"name": "one", "code": DEAF, "grace": 600.0})
    wait_for(lambda: toy.process_ids("one"), "it has started")
    toy.process.send_signal(signal.SIGINT)
    wait_for(lambda: toy.count_of("멈추는 중입니다"), "it has heard")
    toy.process.send_signal(signal.SIGINT)
    assert toy.process.wait(120) == 0


def test_a_machine_without_room_for_a_process_is_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: Any, **_options: Any) -> None:
        raise BlockingIOError(11, "Resource temporarily unavailable")

    child = Child(Program("one", ("-c", "")), root=ROOT, environment={}, lines=PrefixedLines("", io.StringIO()))
    with monkeypatch.context() as patched:
        patched.setattr(supervisor.subprocess, "Popen", full)
        assert "Resource temporarily unavailable" in child.attend()
    assert child.attend() is None
    assert child.is_running
    child.stop()
    wait_for(lambda: child.attend() or not child.is_running, "it ends")


class Refusing(Services):
    """Servers that cannot start, as their disk is full, until the last time that somebody tries."""

    def __init__(self, refusals: int) -> None:
        super().__init__()
        self.refusals, self.asked_at = refusals, []

    def ensure(self) -> list[str]:
        self.asked_at.append(time.monotonic())
        if len(self.asked_at) <= self.refusals:
            raise ServerFailed("No space left on device")
        return ["postgres"]


def test_a_server_that_cannot_start_is_tried_again_and_the_site_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    services, output = Refusing(2), io.StringIO()
    site = Supervisor([Program("one", ("-c", FOREVER))], root=ROOT, environment={}, services=services, output=output)
    for _time in range(2):
        site._check_surroundings()
    assert len(services.asked_at) == 1, "not before the pause of two seconds is over"
    monkeypatch.setattr(supervisor, "_LONGEST_PAUSE_SECONDS", 0.1)
    site._services_at = 0.0  # it is
    wait_for(lambda: site._check_surroundings() or "다시 시작했습니다" in output.getvalue(), "it is started")
    assert len(services.asked_at) == 3
    assert output.getvalue().count("No space left on device") == 2
    assert not site._stops_asked


def test_output_cut_anywhere_comes_out_in_whole_prefixed_lines() -> None:
    output = io.StringIO()
    lines = PrefixedLines("web    | ", output)
    content = "말판이 열렸습니다\n둘째 줄\n끝나지 않은 줄".encode()
    for place in range(0, len(content), 2):  # cuts through every character
        lines.write(content[place : place + 2])
    lines.flush()
    assert output.getvalue() == "web    | 말판이 열렸습니다\nweb    | 둘째 줄\nweb    | 끝나지 않은 줄\n"


def test_bytes_that_are_no_text_do_not_stop_the_output() -> None:
    output = io.StringIO()
    PrefixedLines("", output).write(b"\xff\xfe ok\n")
    assert output.getvalue().endswith(" ok\n")


def test_a_lock_is_shared_by_readers_and_taken_by_one_alone(tmp_path: Path) -> None:
    first, second, alone = (FileLock(tmp_path / "lock") for _ in range(3))
    assert first.acquire(shared=True)
    assert second.acquire(shared=True)
    assert not alone.acquire()
    first.release()
    second.release()
    assert alone.acquire()
    assert second.is_taken(exclusively=True)


def test_a_lock_is_given_back_when_its_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    program = "import fcntl, os, sys; fcntl.flock(os.open(sys.argv[1], os.O_RDWR | os.O_CREAT), 2); print(1); input()"
    holder = subprocess.Popen(
        [sys.executable, "-u", "-c", program, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout.readline()
    lock = FileLock(path)
    assert not lock.acquire()
    holder.kill()
    holder.wait(10)
    assert lock.acquire(timeout=5)
