"""The answers of a judge that ``score`` keeps in a file: what was paid for is not asked again, whatever stops it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring.cli import main
from scoring.judging.demo import DemoJudge
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for
from tests.waiting import wait_for

ITEMS = 16
QUESTIONS = 2 * ITEMS  # fluency and faithfulness


@pytest.fixture
def server() -> Iterator[DemoJudge]:
    with demo_judge() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    asked = {"question": "채식의 날을 두어야 하는가?", "passage": ESSAY}
    written(tmp_path / "R.json", [{"id": f"e{n}", "input": asked, "output": f"{ESSAY} {n}"} for n in range(ITEMS)])
    predicted(tmp_path)
    return tmp_path


def written(path: Path, rows: Any) -> None:
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def predicted(folder: Path, changed: int = 0) -> None:
    texts = [f"{GOOD if n % 2 else STOCK} {n}{'!' if n < changed else ''}" for n in range(ITEMS)]
    written(folder / "P.json", [{"id": f"e{n}", "output": text} for n, text in enumerate(texts)])


def given(folder: Path, url: str, *more: str, output: str | None = "OUT.json", **keys: Any) -> list[str]:
    profile = profile_for(folder / "judge.toml", url, **keys)
    files = ["--predictions", str(folder / "P.json"), "--references", str(folder / "R.json")]
    chosen = ["score", "--recipe", "generation-rouge1@1", "--judge", "fluency,faithfulness", "--models", str(profile)]
    return [*chosen, *files, *(["--output", str(folder / output)] if output else []), *more]


def result(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "OUT.json").read_text("utf-8"))
    return found


def answers(folder: Path) -> list[dict[str, Any]]:
    lines = (folder / "OUT.json.answers").read_text("utf-8").splitlines()
    return [row for line in lines if "value" in (row := json.loads(line))]


def interruptible() -> None:
    """A shell starts what it runs in the background deaf to Ctrl-C: where it runs tests so, this would be as well."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_a_scoring_that_is_stopped_goes_on_with_what_was_answered(folder: Path, number: int, capsys: Any) -> None:
    with demo_judge() as sound:
        assert main(given(folder, sound.url, output="WHOLE.json")) == 0
    with demo_judge(delay=0.1) as server:
        arguments = given(folder, server.url, concurrency=2, timeout=10)
        command = [sys.executable, "-m", "scoring", *arguments]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, preexec_fn=interruptible)
        try:
            wait_for(lambda: server.stats.answered.total() >= 20 or process.poll() is not None, "answers", seconds=60)
            assert process.poll() is None
        finally:
            os.kill(process.pid, number)
            told = process.communicate()[1]
        if number == signal.SIGINT:
            assert process.returncode == 130
            assert "OUT.json.answers" in told
        assert not (folder / "OUT.json").exists()
        answered = server.stats.answered.total()
        assert 20 <= answered < QUESTIONS
        capsys.readouterr()
        assert main(arguments) == 0
        stats = server.stats.as_dict()
    assert len(stats["asked"]) == QUESTIONS  # none lost
    assert sum(times > 1 for times in stats["asked"].values()) <= 2  # those that were on their way
    assert stats["requests"] <= QUESTIONS + 2
    whole = json.loads((folder / "WHOLE.json").read_text("utf-8"))
    assert result(folder)["items"] == whole["items"]
    assert result(folder)["scores"] == whole["scores"]


def test_a_second_scoring_asks_only_for_what_is_new(folder: Path, server: DemoJudge) -> None:
    assert main(given(folder, server.url)) == 0
    first = result(folder)
    assert server.stats.asked.total() == len(answers(folder)) == QUESTIONS
    assert main(given(folder, server.url)) == 0
    assert server.stats.asked.total() == QUESTIONS
    assert result(folder)["items"] == first["items"]
    predicted(folder, changed=3)
    assert main(given(folder, server.url)) == 0
    assert server.stats.asked.total() == QUESTIONS + 2 * 3
    kept = str(folder / "OUT.json.answers")  # another result, the same answers
    assert main(given(folder, server.url, "--answers", kept, output="OTHER.json")) == 0
    assert main(given(folder, server.url, "--answers", kept, output=None)) == 0
    assert server.stats.asked.total() == QUESTIONS + 2 * 3
    assert not (folder / "OTHER.json.answers").exists()


def test_the_file_holds_no_text_and_other_judges_have_their_own_answers(folder: Path, server: DemoJudge) -> None:
    assert main(given(folder, server.url)) == 0
    text = (folder / "OUT.json.answers").read_text("utf-8")
    assert not [character for character in text if "가" <= character <= "힣"]
    assert main(given(folder, server.url, seed=7)) == 0
    assert server.stats.asked.total() == len(answers(folder)) == 2 * QUESTIONS
    assert main(given(folder, server.url)) == 0
    assert server.stats.asked.total() == 2 * QUESTIONS


def test_the_budget_counts_on(folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]) -> None:
    for _again in range(2):
        assert main(given(folder, server.url, max_requests=9)) == 2
        told = capsys.readouterr().err
        assert "예산을 다 썼습니다" in told
        assert "다시 실행하면 나머지만 묻습니다" in told
        assert server.stats.asked.total() == 9
    assert main(given(folder, server.url, max_requests=QUESTIONS)) == 0
    assert sorted(server.stats.asked.values()) == [1] * QUESTIONS
    predicted(folder, changed=1)
    assert main(given(folder, server.url, max_requests=QUESTIONS)) == 2


def test_an_unparsable_answer_is_asked_again_by_the_next_scoring_and_not_by_the_same(folder: Path, capsys: Any) -> None:
    with demo_judge(faults=("broken-json",), rate=0.75, most=99, seed=1) as broken:
        assert main(given(folder, broken.url, max_requests=40, concurrency=1)) == 2
        asked = broken.stats.as_dict()["asked"]
        settled = {question for question, times in asked.items() if times == 3 or question in broken.stats.answered}
        lost = len(settled - broken.stats.answered.keys())
        assert lost
        assert sum(row["value"] == 0.0 for row in answers(folder)) == lost
        assert main(given(folder, broken.url)) == 0
        after = broken.stats.as_dict()["asked"]
        assert {question: after[question] for question in settled} == {
            question: asked[question] for question in settled
        }
        unparsable = QUESTIONS - len(broken.stats.answered)
    assert unparsable >= lost
    assert len(answers(folder)) == QUESTIONS - unparsable
    with demo_judge() as sound:
        assert main(given(folder, sound.url)) == 0
        assert sound.stats.asked.total() == unparsable
    assert (
        min(value for item in result(folder)["items"] for name, value in item["scores"].items() if "judge" in name) > 0
    )


def test_a_half_written_line_is_left_out_and_another_kind_of_file_is_not_overwritten(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(given(folder, server.url)) == 0
    file = folder / "OUT.json.answers"
    text = file.read_text("utf-8")
    cut = text[: text.index('"value"', len(text) // 2)]  # of a process that was killed while it wrote
    file.write_text(cut, encoding="utf-8")
    known = len(answers_of(cut))
    asked = server.stats.asked.total()
    assert main(given(folder, server.url)) == 0
    assert server.stats.asked.total() == asked + QUESTIONS - known
    for other in ("{}", "text", "[1]", '{"format": "malpan-pairwise@1"}'):
        file.write_text(other, encoding="utf-8")
        assert main(given(folder, server.url)) == 2
        assert "--answers에 다른 이름을" in capsys.readouterr().err
        assert file.read_text("utf-8") == other


def answers_of(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.endswith("}") and '"value"' in line]


def test_two_processes_do_not_write_one_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with demo_judge(delay=0.2) as server:
        arguments = given(folder, server.url, concurrency=1, timeout=10)
        process = subprocess.Popen([sys.executable, "-m", "scoring", *arguments], stdout=subprocess.DEVNULL)
        try:
            wait_for(lambda: server.stats.answered.total() >= 2 or process.poll() is not None, "answers", seconds=60)
            assert process.poll() is None
            capsys.readouterr()
            assert main([*arguments, "--lang", "en"]) == 2
            assert "another process is writing it" in capsys.readouterr().err
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
    assert server.stats.asked.total() == QUESTIONS


def test_without_a_file_it_says_so_and_a_file_without_a_judge_is_refused(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(given(folder, server.url, output=None)) == 0
    assert "심사 모델의 답을 모으지 않습니다" in capsys.readouterr().err
    assert main(given(folder, server.url, output="/dev/null")) == 0
    assert "심사 모델의 답을 모으지 않습니다" in capsys.readouterr().err
    plain = [each for each in given(folder, server.url) if each not in ("--judge", "fluency,faithfulness")]
    assert main([*plain, "--answers", str(folder / "A")]) == 2
    assert "--answers는 심사 모델이 있는 채점에만" in capsys.readouterr().err
    assert main(plain) == 0
    assert not (folder / "OUT.json.answers").exists()
    assert not list(folder.glob(".*"))


def test_the_help_names_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    for language, said in (("ko", "이미 받은 답은 묻지"), ("en", "not asked again")):
        with pytest.raises(SystemExit):
            main(["score", "--help", "--lang", language])
        shown = " ".join(capsys.readouterr().out.split())
        assert "--answers FILE" in shown
        assert said in shown
