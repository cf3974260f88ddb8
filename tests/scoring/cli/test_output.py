"""Where the command line writes to: files, devices, pipes and terminals of every kind."""

import os
import subprocess
import sys

import pytest

from scoring.cli import main
from scoring.cli.files import write_whole
from tests.scoring.command_line import run, score_arguments


@pytest.mark.parametrize(
    ("output", "why"), [("no/such/folder/OUT.json", "쓸 수 있는 폴더가 아닙니다"), (".", "파일이 아니라 폴더입니다")]
)
def test_output_that_cannot_be_written_is_refused_before_scoring(files, capsys, monkeypatch, output, why):
    monkeypatch.setattr("scoring.cli.commands.score", lambda *_, **__: pytest.fail("scored"))
    assert main([*map(str, score_arguments(files, output=output))]) == 2
    assert why in capsys.readouterr().err


def test_result_is_stored_though_nobody_reads_the_report(files, fake_models, monkeypatch):
    def gone(*_):
        raise BrokenPipeError

    monkeypatch.setattr("sys.stdout.write", gone)
    monkeypatch.setattr("scoring.cli.os.dup2", lambda *_: None)  # the test's own output stays
    assert main([*map(str, score_arguments(files))]) == 0
    assert (files / "OUT.json").exists()


def test_a_terminal_that_lacks_a_character_gets_an_escape(files):
    (files / "P.json").rename(files / "한글 😀.json")
    arguments = ("check", "--recipe", "rag-qa@1", "--predictions", files / "한글 😀.json")
    done = run(*arguments, PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\\U0001f600" in done.stdout


def test_output_is_replaced_whole_or_not_at_all(tmp_path, monkeypatch):
    target = tmp_path / "OUT.json"
    write_whole(str(target), "old")
    monkeypatch.setattr(os, "fsync", lambda _: (_ for _ in ()).throw(OSError(28, "No space left on device")))
    with pytest.raises(Exception, match="No space left"):
        write_whole(str(target), "new")
    assert target.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_a_reader_of_the_old_output_keeps_it_whole(tmp_path):
    target = tmp_path / "OUT.json"
    write_whole(str(target), "old")
    with target.open(encoding="utf-8") as reader:
        write_whole(str(target), "new")
        assert reader.read() == "old"
    assert target.read_text(encoding="utf-8") == "new"


def test_output_to_a_device_does_not_replace_it(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(str(pipe), "text")
    assert os.read(reader, 10) == b"text"
    assert pipe.is_fifo()
    os.close(reader)


def test_a_closed_pipe_is_no_error(files):
    done = subprocess.run(
        f"{sys.executable} -m scoring recipes | true; exit ${{PIPESTATUS[0]}}",
        shell=True,
        executable="/bin/bash",
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "")
