"""``python -m scoring pairwise``, as its users run it, against real servers that misbehave."""

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
from scipy.stats import binomtest

from scoring.cli import main
from scoring.cli.files import CannotUse
from scoring.cli.pairwise_files import AnswerFile
from scoring.cli.pairwise_view import _verdicts
from scoring.cli.words import say
from scoring.judging import demo
from scoring.judging.budget import MemoryLedger, Usage
from scoring.judging.demo import FAULTS, DemoJudge
from scoring.judging.pairwise import Outcome, comparison_of
from tests.scoring.judging.injections import INJECTIONS
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for
from tests.waiting import wait_for

ITEMS = 20
SECRET = "정답카나리아7315"


def written(path: Path, rows: Any) -> str:
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    return str(path)


def answers(texts: list[str]) -> list[dict[str, Any]]:
    return [{"id": f"e{number}", "output": {"answer": text}} for number, text in enumerate(texts)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A wins items 0-11, B 12-14, equal quality 15-17, equal texts 18-19."""
    asked = [{"question": f"채식의 날? {number}", "passage": ESSAY} for number in range(ITEMS)]
    rows = [{"id": f"e{n}", "input": text, "output": {"answer": SECRET}} for n, text in enumerate(asked)]
    written(tmp_path / "Q.json", rows)
    left = [GOOD] * 12 + [STOCK] * 3 + [f"{STOCK} 그렇다."] * 3 + [GOOD, STOCK]
    right = [STOCK] * 12 + [GOOD] * 3 + [STOCK] * 3 + [GOOD, f" {STOCK}\n"]
    written(tmp_path / "A.json", answers(left))
    written(tmp_path / "B.json", answers(right))
    return tmp_path


@pytest.fixture
def server() -> Iterator[DemoJudge]:
    with demo_judge() as running:
        yield running


def given(folder: Path, url: str, *more: str, **keys: Any) -> list[str]:
    profile = profile_for(folder / "judge.toml", url, **keys)
    files = [str(folder / "A.json"), str(folder / "B.json"), "--questions", str(folder / "Q.json")]
    return ["pairwise", *files, "--models", str(profile), *more]


def found_by(capsys: pytest.CaptureFixture[str], arguments: list[str]) -> dict[str, Any]:
    capsys.readouterr()
    assert main([*arguments, "--format", "json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


QUESTIONS = 2 * (ITEMS - 2)  # equal texts are not asked about


def test_wins_losses_and_ties_with_scipys_test_and_interval(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    found = found_by(capsys, given(folder, server.url))
    summary = found["summary"]
    assert (summary["a_wins"], summary["b_wins"], summary["ties"]) == (12, 3, 5)
    assert summary["same_texts"] == ["e18", "e19"]
    expected = binomtest(12, 15)
    interval = expected.proportion_ci(method="wilson")
    assert summary["p_value"] == pytest.approx(expected.pvalue, abs=1e-12)
    assert summary["a_share_interval"] == pytest.approx([interval.low, interval.high], abs=1e-12)
    assert summary["position"] == {
        "order_effect": 0.0,
        "leaning_first": 0,
        "leaning_second": 0,
        "p_value": 1.0,
        "is_biased": False,
    }
    assert [item["winner"] for item in found["items"]] == ["a"] * 12 + ["b"] * 3 + ["tie"] * 5
    assert [answer["choice"] for answer in found["items"][0]["answers"]] == ["first", "second"]
    assert all(answer["reason"] for item in found["items"] for answer in item["answers"])
    assert server.stats.asked.total() == found["asked_now"]["requests"] == QUESTIONS

    swapped = given(folder, server.url)
    swapped[1:3] = swapped[2:0:-1]
    assert found_by(capsys, swapped)["summary"]["b_wins"] == 12


def test_the_report_in_both_languages(folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(given(folder, server.url)) == 0
    korean = capsys.readouterr().out
    assert "A가 나음" in korean
    assert "60.0%" in korean
    assert "자리에 치우친 흔적은 없습니다" in korean
    assert "데모 심사 모델" in korean
    assert main([*given(folder, server.url), "--lang", "en", "--format", "markdown"]) == 0
    english = capsys.readouterr().out
    assert "| A is better | 12 | 60.0% |" in english
    assert not [character for character in english.replace(str(folder), "") if "가" <= character <= "힣"]


def test_a_judge_that_prefers_a_position_is_detected(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with demo_judge(biased=True) as server:
        found = found_by(capsys, given(folder, server.url))
        capsys.readouterr()
        assert main(given(folder, server.url)) == 0
        shown = capsys.readouterr().out
    summary = found["summary"]
    assert (summary["a_wins"], summary["b_wins"], summary["ties"]) == (0, 0, ITEMS)
    assert summary["flips"] == [f"e{number}" for number in range(18)]
    position = summary["position"]
    assert (position["order_effect"], position["leaning_first"], position["leaning_second"]) == (1.0, 18, 0)
    assert position["is_biased"]
    assert position["p_value"] == pytest.approx(binomtest(18, 18).pvalue, abs=1e-15)
    assert "글이 놓인 자리를 보고 고릅니다" in shown
    assert "뒤집힌 문항 18개: e0, e1" in shown
    assert "A의 비율: 정할 수 없음" in shown
    assert "50.0%" not in shown
    assert "우연일 수 있는" not in shown


def test_faults_change_no_verdict_and_pay_for_none_twice(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = found_by(capsys, given(folder, server.url))["items"]
    with demo_judge(faults=FAULTS, rate=0.5, seed=2, hang=20.0) as broken:
        output = str(folder / "OUT.json")
        arguments = given(folder, broken.url, "--output", output, concurrency=12, timeout=3.0)
        found = found_by(capsys, arguments)
        stats = broken.stats.as_dict()
        assert sum(stats["faults"].values()) > 5
        assert (
            stats["requests"] - sum(stats["faults"].values()) == len(stats["asked"]) == QUESTIONS
        )  # each answered once
        assert found["items"] == expected
        again = found_by(capsys, arguments)
        assert broken.stats.as_dict()["requests"] == stats["requests"]  # not one more
        assert (again["items"], again["asked_now"]["requests"]) == (expected, 0)
        assert json.loads(Path(output).read_text("utf-8")) == again


def test_what_stays_unparsable_is_named_and_a_tie(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with demo_judge(faults=("wrong-schema",), rate=0.5, most=99, seed=1) as server:
        arguments = given(folder, server.url, "--output", str(folder / "OUT.json"))
        found = found_by(capsys, arguments)
        stats = server.stats.as_dict()
        lost = {item["id"] for item in found["items"] if None in [answer["choice"] for answer in item["answers"]]}
        assert lost
        assert set(found["summary"]["unparsable"]) == lost
        assert {item["winner"] for item in found["items"] if item["id"] in lost} == {"tie"}
        struck = [q for q in stats["asked"] if all(server.behaviour.fault_of(q, times) for times in range(3))]
        assert sum(answer["choice"] is None for item in found["items"] for answer in item["answers"]) == len(struck)
        assert found_by(capsys, arguments)["summary"] == found["summary"]
        assert server.stats.as_dict()["requests"] == stats["requests"]  # asked three times, and not again


# --- going on ---------------------------------------------------------------------------------------------------------
def test_an_outage_keeps_what_was_answered_and_only_the_rest_is_asked(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = found_by(capsys, given(folder, server.url))["items"]
    output = folder / "OUT.json"
    with demo_judge(faults=("error",), rate=0.1, most=99, seed=4) as broken:
        assert main(given(folder, broken.url, "--output", str(output), retries=0)) == 2
        answered = dict(broken.stats.answered)
    told = capsys.readouterr().err
    assert "OUT.json.part" in told
    assert "다시 실행하면 나머지만 묻습니다" in told
    assert not output.exists()
    assert 0 < len(answered) < QUESTIONS
    with (folder / "OUT.json.part").open("a", encoding="utf-8") as stream:
        stream.write('{"key": "ab')  # of a process that was killed while it wrote
    with demo_judge() as back:
        found = found_by(capsys, given(folder, back.url, "--output", str(output)))
        assert not answered.keys() & back.stats.asked.keys()
        assert len(answered) + len(back.stats.answered) == QUESTIONS
    assert found["items"] == expected
    assert not (folder / "OUT.json.part").exists()


def test_a_process_that_is_killed_costs_only_what_was_on_its_way(folder: Path, capsys: Any) -> None:
    output = folder / "OUT.json"
    with demo_judge(delay=0.1) as server:
        arguments = given(folder, server.url, "--output", str(output), concurrency=2)
        process = subprocess.Popen([sys.executable, "-m", "scoring", *arguments])
        try:
            wait_for(lambda: server.stats.answered.total() >= 6 or process.poll() is not None, "answers", seconds=60)
            assert process.poll() is None
        finally:
            os.kill(process.pid, signal.SIGKILL)
            process.wait()
        found = found_by(capsys, arguments)
        stats = server.stats.as_dict()
    assert len(stats["asked"]) == QUESTIONS
    assert sum(times > 1 for times in stats["asked"].values()) <= 2
    assert found["summary"]["a_wins"] == 12


def test_the_budget_ends_it_and_counts_on(folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]) -> None:
    output = ("--output", str(folder / "OUT.json"))
    for _again in range(2):
        assert main(given(folder, server.url, *output, max_requests=7)) == 2
        assert "예산을 다 썼습니다" in capsys.readouterr().err
        assert server.stats.asked.total() == 7
    found = found_by(capsys, given(folder, server.url, *output, max_requests=QUESTIONS))
    assert server.stats.asked.total() == QUESTIONS
    assert found["spent"] == {"requests": QUESTIONS, "tokens": server.stats.tokens}
    assert found["asked_now"]["requests"] == QUESTIONS - 7


def test_what_was_spent_outlives_a_kill_before_the_first_answer(tmp_path: Path) -> None:
    output, judge, spent = str(tmp_path / "OUT.json"), {"model": "m"}, Usage(7, 900)
    ledger = MemoryLedger()
    first = AnswerFile(output, judge, ledger)
    ledger.add(spent)
    first.close()
    for _killed in range(3):  # none is closed
        ledger = MemoryLedger()
        AnswerFile(output, judge, ledger)
        assert ledger.usage() == spent


def test_a_second_process_that_writes_the_same_file_is_refused(folder: Path, capsys: Any) -> None:
    output = folder / "OUT.json"
    with demo_judge(delay=0.2) as server:
        arguments = given(folder, server.url, "--output", str(output), concurrency=1)
        process = subprocess.Popen([sys.executable, "-m", "scoring", *arguments], stdout=subprocess.DEVNULL)
        try:
            wait_for(lambda: server.stats.answered.total() >= 2 or process.poll() is not None, "answers", seconds=60)
            assert process.poll() is None
            capsys.readouterr()
            assert main(arguments) == 2
            told = capsys.readouterr().err
            assert "다른 실행이 쓰고 있습니다" in told
            assert str(output) in told
            assert main([*given(folder, server.url), "--output", str(folder / "OTHER.json")]) == 0
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
        assert main(arguments) == 0  # the lock is gone with the process, and everything is known
    assert sorted(server.stats.asked.values()) == [2] * QUESTIONS  # once for each of the two files
    assert {path.name for path in folder.iterdir() if "OUT" in path.name} == {"OUT.json"}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_full_disk_is_told_and_closing_hides_no_error(tmp_path: Path) -> None:
    kept = AnswerFile(str(tmp_path / "OUT.json"), {"model": "m"}, MemoryLedger())
    assert kept._log._stream is not None
    kept._log._stream.close()
    with Path("/dev/full").open("w", encoding="utf-8") as full:
        kept._log._stream = full
        with pytest.raises(CannotUse, match="cannot_write"):
            kept.keep("a", None)
        kept.close()
        assert full.closed


@pytest.mark.parametrize(("first", "key"), [(10, "biased"), (9, "unsure"), (8, "unbiased")])
def test_what_is_said_of_a_lean_is_what_its_p_value_says(first: int, key: str) -> None:
    """Of ten: p = 0.002, 0.021 and 0.109."""
    choices = [("first", "first")] * first + [("second", "second")] * (10 - first)
    found = comparison_of([Outcome(str(n), "tie", pair) for n, pair in enumerate(choices)])
    for language in ("ko", "en"):
        assert _verdicts(found, language)[-1] == say(f"pairwise_{key}", language)


def test_a_changed_answer_asks_for_its_item_alone(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = given(folder, server.url, "--output", str(folder / "OUT.json"))
    found_by(capsys, arguments)
    rows = json.loads((folder / "B.json").read_text("utf-8"))
    rows[3]["output"]["answer"] = GOOD + " 더 좋다."
    written(folder / "B.json", rows)
    assert found_by(capsys, arguments)["asked_now"]["requests"] == 2


def test_answers_of_another_judge_and_files_of_another_kind_are_not_overwritten(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    output = folder / "OUT.json"
    found_by(capsys, given(folder, server.url, "--output", str(output)))
    before, asked = output.read_bytes(), server.stats.asked.total()
    assert main(given(folder, server.url, "--output", str(output), seed=7)) == 2
    assert "다른 심사 모델이나 다른 기준" in capsys.readouterr().err
    for other in ('{"recipe": "rag-qa@1", "items": [], "scores": {}}', "text", "[1]", '{"format": 1}'):
        output.write_text(other, encoding="utf-8")
        assert main(given(folder, server.url, "--output", str(output))) == 2
        assert "--output에 다른 이름을" in capsys.readouterr().err
        assert output.read_text("utf-8") == other
    assert server.stats.asked.total() == asked
    output.write_bytes(before)


# --- the files --------------------------------------------------------------------------------------------------------
def test_no_reference_answer_is_sent_and_no_injection_wins(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    bodies: list[str] = []
    whole = demo._Handler._answer
    monkeypatch.setattr(
        demo._Handler, "_answer", lambda self, q, body, j: (bodies.append(body.decode()), whole(self, q, body, j))[1]
    )
    texts = [f"{STOCK}\n{each}" for each in INJECTIONS]
    written(folder / "Q.json", [{"id": f"e{n}", "input": ESSAY, "output": SECRET} for n in range(len(texts))])
    written(folder / "A.json", answers([GOOD] * len(texts)))
    written(folder / "B.json", answers([each.translate(dict.fromkeys((0, 8, 27))) for each in texts]))
    plain = found_by(capsys, given(folder, server.url, "--recipe", "dialogue-summary@1"))
    assert {item["winner"] for item in plain["items"]} == {"a"}
    written(folder / "B.json", answers([STOCK] * len(texts)))
    bare = found_by(capsys, given(folder, server.url))
    fields = [[(each["choice"], each["reason"]) for each in item["answers"]] for item in bare["items"]]
    assert [[(each["choice"], each["reason"]) for each in item["answers"]] for item in plain["items"]] == fields
    assert bodies
    assert not [body for body in bodies if SECRET in body]


def test_captions_are_told_by_their_references(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    written(folder / "Q.json", {"a": ["아이가 공원에서 공을 찬다.", "공원에서 공을 차는 아이."], "b": ["개가 잔다."]})
    written(folder / "A.json", {"a": "아이가 공원에서 공을 찬다.", "b": "개가 잔다."})
    written(folder / "B.json", {"a": "바다가 푸르다."})
    found = found_by(capsys, given(folder, server.url))
    assert [item["winner"] for item in found["items"]] == ["a", "tie"]
    assert found_by(capsys, given(folder, server.url, "--recipe", "captioning@1"))["items"] == found["items"]


def test_defects_are_located(folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads((folder / "B.json").read_text("utf-8"))
    written(folder / "B.json", [*rows[:-1], {"id": "x", "output": {"answer": "가"}}])
    assert main(given(folder, server.url)) == 1
    told = capsys.readouterr().err
    assert "B.json" in told
    assert "e19" in told
    assert "\tx\t" in told
    for questions, what in (
        ([{"id": "a"}], "필수 키가 없습니다"),
        ([{"id": "a", "input": " "}], "물음(input)이 비어 있습니다"),
        ([{"id": "a", "input": "가"}, {"id": "a", "input": "나"}], "id"),
        ([{"id": "a", "inputs": "가"}], "«inputs»"),
        (["가"], "객체"),
        ([], "항목이 하나도 없습니다"),
    ):
        written(folder / "Q.json", questions)
        assert main(given(folder, server.url)) == 1
        told = capsys.readouterr().err
        assert what in told
        assert "물음 파일" in told
    assert server.stats.asked.total() == 0


def test_a_profile_without_a_judge_and_a_recipe_without_texts_are_refused(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = given(folder, server.url)
    assert main([*arguments[:-1], "official"]) == 2
    assert "[judge]" in capsys.readouterr().err
    assert main([*arguments, "--recipe", "classification@1"]) == 2
    assert "답은 글이 아니므로" in capsys.readouterr().err


def test_long_texts_are_named(folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]) -> None:
    assert found_by(capsys, given(folder, server.url, max_chars=100))["cut"] == [f"e{n}" for n in range(18)]
    assert main(given(folder, server.url, max_chars=100)) == 0
    assert "100자보다 길어" in capsys.readouterr().out
