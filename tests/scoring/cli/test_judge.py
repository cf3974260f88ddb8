"""``--judge`` of ``score`` and ``check``, and what the other commands make of such a result."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scoring.cli import main
from scoring.judging.demo import DemoJudge
from tests.scoring.judging.toys import ESSAY, GOOD, STOCK, demo_judge, profile_for

TEXTS = (GOOD, STOCK, "", "파도가 모래밭으로 밀려온다.", GOOD)


@pytest.fixture
def server() -> Iterator[DemoJudge]:
    with demo_judge() as running:
        yield running


@pytest.fixture
def folder(tmp_path: Path, server: DemoJudge) -> Path:
    asked = {"question": "채식의 날을 두어야 하는가?", "passage": ESSAY}
    references = [{"id": f"e{n}", "input": asked, "output": f"{ESSAY} {n}"} for n in range(len(TEXTS))]
    predictions = [{"id": f"e{n}", "output": text} for n, text in enumerate(TEXTS)]
    for name, rows in (("R", references), ("P", predictions)):
        (tmp_path / f"{name}.json").write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
    profile_for(tmp_path / "judge.toml", server.url, max_requests=50)
    return tmp_path


def files(folder: Path, *more: str, models: str = "judge.toml", recipe: str = "generation-rouge1@1") -> list[str]:
    given = ["--recipe", recipe, "--predictions", str(folder / "P.json"), "--references", str(folder / "R.json")]
    return [*given, *(["--models", str(folder / models) if "." in models else models] if models else []), *more]


def scored(folder: Path, *more: str, **options: str) -> dict[str, Any]:
    assert main(["score", *files(folder, *more, **options), "--output", str(folder / "OUT.json")]) == 0
    found: dict[str, Any] = json.loads((folder / "OUT.json").read_text("utf-8"))
    return found


def test_a_judge_adds_columns_and_changes_nothing_else(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = scored(folder)
    assert server.stats.asked.total() == 0
    shown = capsys.readouterr().out
    assert "LLM" not in shown
    judged = scored(folder, "--judge", "faithfulness,fluency")
    assert judged["recipe"] == "generation-rouge1@1+fluency+faithfulness"
    assert judged["final_score"] == plain["final_score"]
    assert judged["scores"].keys() - plain["scores"].keys() == {"judge_fluency", "judge_faithfulness"}
    assert server.stats.asked.total() == 3 + 4  # fluency asks once for equal answers, faithfulness for each source
    report = capsys.readouterr().out
    assert "유창성(LLM 심사)" in report
    assert main(["report", str(folder / "OUT.json"), "--lang", "en"]) == 0
    assert "Faithfulness (LLM judge)" in capsys.readouterr().out
    assert (
        scored(folder, recipe="generation-rouge1@1+fluency+faithfulness")["signature_hash"] == judged["signature_hash"]
    )
    assert main(["rank", str(folder / "OUT.json"), "--weights", "judge_fluency=10,rouge_1=90"]) == 0


def test_one_result_with_and_one_without_are_of_two_recipes(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scored(folder)
    plain = (folder / "OUT.json").rename(folder / "PLAIN.json")
    scored(folder, "--judge", "fluency")
    assert main(["compare", str(plain), str(folder / "OUT.json")]) == 2
    assert "채점 방식이 다릅니다" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("more", "options", "what"),
    [
        (["--judge", "style"], {}, "fluency, faithfulness"),
        (["--judge", "fluency,"], {}, "fluency, faithfulness"),
        (["--judge", "fluency"], {"models": ""}, "--models로 [judge] 항목이 있는"),
        (["--judge", "fluency"], {"models": "official"}, "'official'에 심사 모델([judge])이 없습니다"),
        ([], {"models": "official", "recipe": "generation-rouge1@1+fluency"}, "심사 모델([judge])이 없습니다"),
        (["--judge", "fluency"], {"recipe": "regression@1"}, "regression@1의 답은 글이 아니므로"),
    ],
)
def test_a_choice_that_makes_no_sense_says_why(
    folder: Path, more: list[str], options: dict[str, str], what: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["score", *files(folder, *more, **options)]) == 2
    assert what in capsys.readouterr().err


def test_a_wrong_recipe_lists_those_without_a_judge(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["check", *files(folder, recipe="rag-qa@1+style")])
    assert stopped.value.code == 2
    told = capsys.readouterr().err
    assert "'rag-qa-strict@1'" in told
    assert "+fluency" not in told


def test_a_check_says_how_much_would_be_asked_and_asks_nothing(
    folder: Path, server: DemoJudge, capsys: pytest.CaptureFixture[str]
) -> None:
    profile_for(folder / "judge.toml", server.url, max_requests=50, max_chars=150)
    assert main(["check", *files(folder, "--judge", "fluency,faithfulness")]) == 0
    told = capsys.readouterr().out
    assert "유창성(LLM 심사): 심사 모델에 묻는 글 3개" in told
    assert "충실성(LLM 심사): 심사 모델에 묻는 글 4개" in told
    assert "150자보다 길어 앞부분만 보내는 문항 5개" in told
    assert "요청 50회, 토큰 ∞개" in told
    assert server.stats.asked.total() == 0
    profile_for(folder / "judge.toml", server.url)
    scored(folder, "--judge", "fluency,faithfulness")
    assert server.stats.asked.total() == 3 + 4
    assert main(["check", *files(folder, "--judge", "fluency", models="official")]) == 0
    assert "official 프로필에는 심사 모델([judge])이 없습니다" in capsys.readouterr().out


def test_an_unreachable_judge_is_a_fault_with_its_address(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile_for(folder / "gone.toml", "http://127.0.0.1:1", retries=0)
    assert main(["score", *files(folder, "--judge", "fluency", models="gone.toml")]) == 2
    assert "http://127.0.0.1:1" in capsys.readouterr().err


def test_the_list_of_recipes_says_which_take_a_judge(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["recipes"]) == 0
    blocks = capsys.readouterr().out.split("\n")
    offered = {
        line.split("  ")[0] for number, line in enumerate(blocks) if "--judge" in "".join(blocks[number : number + 4])
    }
    assert {"rag-qa@1", "captioning@1", "dialogue-summary@1"} <= offered
    assert not {"classification@1", "essay-scoring@1"} & offered
