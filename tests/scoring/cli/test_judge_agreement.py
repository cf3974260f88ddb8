"""``python -m scoring judge-agreement``, from scoring with a judge to the saved record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import spearmanr

from scoring.cli import main
from tests.scoring.essays import dumped, reference, traits
from tests.scoring.judging.toys import demo_judge, profile_for

ITEMS = 10
HUMAN = [1, 5, 2.5, 4, 1, 4.5, 2, 5, 1.5, 4]


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file of essays scored with the demo judge; every other rationale speaks of the essay."""
    folder = tmp_path_factory.mktemp("judged")
    rows = [reference(number, (3, 3, 3)) for number in range(ITEMS)]
    answers = [
        {"id": row["id"], **with_reasons(row["essay"] if number % 2 else "무난합니다.")}
        for number, row in enumerate(rows)
    ]
    (folder / "R.jsonl").write_bytes(dumped(rows, as_lines=True))
    (folder / "P.json").write_bytes(dumped(answers))
    with demo_judge() as server:
        profile = profile_for(folder / "judged.toml", server.url)
        files = ["--references", str(folder / "R.jsonl"), "--predictions", str(folder / "P.json")]
        scored = ["score", "--recipe", "essay-scoring@1", *files, "--models", str(profile)]
        assert main([*scored, "--device", "cpu", "--output", str(folder / "OUT.json")]) == 0
    human = [{"id": row["id"], "score": score} for row, score in zip(rows, HUMAN, strict=True)]
    (folder / "H.json").write_text(json.dumps(human), encoding="utf-8")
    return folder / "OUT.json"


def with_reasons(text: str) -> dict[str, dict[str, object]]:
    return {trait: {**score, "rationale": text} for trait, score in traits(3).items()}


def test_the_agreement_is_printed_and_saved(result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = result.with_name("AGREEMENT.json")
    given = ["judge-agreement", str(result), str(result.with_name("H.json")), "--source", "교사 두 명, 2026-11"]
    assert main([*given, "--save", str(saved)]) == 0
    text = capsys.readouterr().out
    record = json.loads(saved.read_text("utf-8"))
    out = json.loads(result.read_text("utf-8"))
    judged = {item["id"]: item["scores"]["llm_judge"] for item in out["items"]}
    human = {each["id"]: each["score"] for each in json.loads(result.with_name("H.json").read_text("utf-8"))}
    expected = spearmanr([judged[item] for item in human], list(human.values()))[0]
    assert record["spearman"]["value"] == pytest.approx(expected, abs=1e-12)
    assert 0 < expected < 1
    assert (record["items"], record["unanswered"], record["is_demo"]) == (ITEMS, 0, True)
    assert record["judge"]["model"] == "malpan-demo-judge"
    assert record["judge"]["prompt"]["id"] == "rationale-1"
    for shown in (f"{expected:.4f}", "교사 두 명, 2026-11", "malpan-demo-judge", "문항 10개", "데모"):
        assert shown in text
    assert main([*given, "--lang", "en", "--format", "markdown"]) == 0
    assert "Spearman rank correlation" in capsys.readouterr().out


def test_defects_of_the_file_and_a_result_without_a_judge_are_named(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.json"
    bad.write_text('[{"id": "nobody", "score": 3},\n{"id": "nobody", "score": 9}]', encoding="utf-8")
    assert main(["judge-agreement", str(result), str(bad)]) == 1
    shown = capsys.readouterr().err
    assert "nobody" in shown
    assert "5" in shown
    assert main(["judge-agreement", str(result), str(bad), "--metric", "chrf"]) == 2
    assert "llm_judge" in capsys.readouterr().err


def test_constant_scores_of_people_have_no_correlation(
    result: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [each["id"] for each in json.loads(result.read_text("utf-8"))["items"]]
    human = tmp_path / "H.json"
    human.write_text(json.dumps([{"id": item, "score": 3} for item in items]), encoding="utf-8")
    given = ["judge-agreement", str(result), str(human)]
    assert main([*given, "--save", str(tmp_path / "A.json")]) == 0
    shown = capsys.readouterr().out
    assert shown.count("정할 수 없음") == 2
    assert "사람의 점수가 모두 같습니다" in shown
    assert shown.count("0.0000") == 3  # kappa and its interval
    record = json.loads((tmp_path / "A.json").read_text("utf-8"))
    for name in ("pearson", "spearman"):
        assert record[name] == {"value": None, "low": None, "high": None, "reason": "constant_people"}
    assert record["kappa"]["value"] == 0.0
    assert main([*given, "--lang", "en", "--format", "markdown"]) == 0
    english = capsys.readouterr().out
    assert "| Pearson correlation | cannot be determined | - |" in english
    assert "all scores of people are equal" in english
