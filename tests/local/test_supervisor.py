"""The supervisor's parts that need no running site."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

from malpan.local.file_lock import FileLock
from malpan.local.supervisor import PrefixedLines


def test_output_cut_anywhere_comes_out_in_whole_prefixed_lines() -> None:
    output = io.StringIO()
    lines = PrefixedLines("web    | ", output)
    content = "말판이 열렸습니다\n둘째 줄\n끝나지 않은 줄".encode()
    for place in range(0, len(content), 2):  # cuts through every character
        lines({"data": content[place : place + 2]})
    lines.close()
    assert output.getvalue() == "web    | 말판이 열렸습니다\nweb    | 둘째 줄\nweb    | 끝나지 않은 줄\n"


def test_bytes_that_are_no_text_do_not_stop_the_output() -> None:
    output = io.StringIO()
    PrefixedLines("", output)({"data": b"\xff\xfe ok\n"})
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
