"""``python -m scoring rank``, and ``check``, ``score`` and ``recipes`` of essay scoring, as their users run them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoring.cli import main
from scoring.recipes import get_recipe
from tests.scoring.essays import dumped, reference, traits

ROWS = [reference(number, (1 + number % 5, 3, 3)) for number in range(10)]
TEAMS = {
    "exact": [traits(1 + number % 5, 3, 3) for number in range(10)],
    "biased": [traits(min(5, 2 + number % 5), 4, 4) for number in range(10)],  # good ranks, a point too high
    "constant": [traits(3)] * 10,
    "broken": [{"output": json.dumps(traits(3))[: number * 20]} for number in range(10)],
}


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The path of the result of each team."""
    folder = tmp_path_factory.mktemp("essays")
    (folder / "R.jsonl").write_bytes(dumped(ROWS, as_lines=True))
    paths = {}
    for team, answers in TEAMS.items():
        rows = [{"document_id": row["document_id"], **answer} for row, answer in zip(ROWS, answers, strict=True)]
        (folder / f"{team}.json").write_bytes(dumped(rows))
        paths[team] = str(folder / f"OUT-{team}.json")
        assert main([*arguments("score", folder, team), "--output", paths[team]]) == 0
    return paths


def arguments(command: str, folder: Path, team: str, *, has_references: bool = True) -> list[str]:
    given = ["--references", str(folder / "R.jsonl")] if has_references else []
    return [command, "--recipe", "essay-scoring@1", *given, "--predictions", str(folder / f"{team}.json")]


def stored(path: str) -> dict[str, float]:
    scores: dict[str, float] = json.loads(Path(path).read_text("utf-8"))["scores"]
    return scores


def ranked(capsys: pytest.CaptureFixture[str], *given: str) -> dict[str, object]:
    capsys.readouterr()
    assert main(["rank", *given, "--format", "json"]) == 0
    out: dict[str, object] = json.loads(capsys.readouterr().out)
    return out


def average_rank(values: list[float], own: float) -> float:
    """By counting: 1 for the lowest, ties share the mean of their places."""
    return sum(value < own for value in values) + (1 + sum(value == own for value in values)) / 2


def test_a_score_that_only_describes_is_no_component(results, capsys) -> None:
    assert main(["rank", *results.values(), "--weights", "rmse=45,bias=45,rationale_length=10"]) == 2
    said = capsys.readouterr().err
    assert "bias, rationale_length" in said
    assert "spearman" in said


def test_the_composite_is_the_weighted_mean_of_ranks_with_lower_errors_first(results, capsys) -> None:
    out = ranked(capsys, *results.values(), "--weights", "rmse=45,spearman=30")
    scores = {path: stored(path) for path in results.values()}
    errors = [each["rmse"] for each in scores.values()]
    correlations = [-each["spearman"] for each in scores.values()]
    for entry in out["entries"]:
        own = scores[entry["file"]]
        ranks = average_rank(errors, own["rmse"]), average_rank(correlations, -own["spearman"])
        expected = (45 * (4 - ranks[0]) + 30 * (4 - ranks[1])) / 3 / 75
        assert entry["composite"] == pytest.approx(expected, abs=1e-12)
        assert (entry["parts"]["rmse"]["rank"], entry["parts"]["spearman"]["rank"]) == ranks
    assert next(Path(entry["file"]).stem for entry in out["entries"]) == "OUT-exact"
    assert [entry["composite"] for entry in out["entries"]] == sorted(
        (entry["composite"] for entry in out["entries"]), reverse=True
    )


def test_without_weights_those_of_the_recipe_count_but_for_scores_that_nobody_has(results, capsys) -> None:
    default = ranked(capsys, *results.values())
    named = ranked(capsys, *results.values(), "--weights", "rmse=45,spearman=45")
    assert default["left_out"] == ["llm_judge"]
    assert default["entries"] == named["entries"]
    main(["rank", *results.values()])
    shown = capsys.readouterr().out
    assert "비중: rmse 45, spearman 45, llm_judge 10" in shown
    assert "뺀 지표: llm_judge" in shown
    assert "(n − r) ÷ (n − 1)" in shown


def test_ties_are_shown_and_one_file_alone_has_1(results, capsys) -> None:
    [alone] = ranked(capsys, results["constant"])["entries"]
    assert (alone["composite"], alone["rank"], alone["is_tied"]) == (1.0, 1, False)
    out = ranked(capsys, results["biased"], results["constant"], results["constant"], "--weights", "rmse=1")
    assert [(entry["rank"], entry["is_tied"]) for entry in out["entries"]] == [(1, True), (1, True), (3, False)]
    main(["rank", results["constant"], results["constant"], "--format", "markdown", "--lang", "en"])
    shown = capsys.readouterr().out
    assert "| 1= | 50.0000000 |" in shown, "on the scale of the board"
    assert "equal composites share a rank" in shown
    assert "| File | Rank | Composite | RMSE (lower is better) | Rank | Rank as 0-1 | Spearman |" in shown
    main(["rank", results["exact"], results["constant"]])
    shown = capsys.readouterr().out
    head = next(line for line in shown.splitlines() if line.startswith("파일"))
    assert [word.strip() for word in head.split("  ") if word] == [
        *("파일", "순위", "종합 점수", "RMSE(낮을수록 좋음)", "순위", "0~1로 바꾼 순위", "Spearman", "순위"),
        "0~1로 바꾼 순위",
    ], head
    assert "100.0000000" in shown
    assert "사이트의 순위표에서는 먼저 제출한 팀이 앞섭니다" in shown


def test_the_ranking_can_be_stored(results, capsys, tmp_path) -> None:
    target = tmp_path / "RANK.json"
    assert main(["rank", *results.values(), "--output", str(target)]) == 0
    shown = capsys.readouterr()
    assert str(target) in shown.err
    assert "종합 점수" in shown.out
    assert json.loads(target.read_text("utf-8")) == ranked(capsys, *results.values())


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ("rmse=45,spear=45", ("어느 파일에도 없는 점수", "spear", "spearman")),
        ("rmse", ("읽을 수 없습니다", "rmse")),
        ("rmse=0", ("읽을 수 없습니다",)),
        ("rmse=nan", ("읽을 수 없습니다",)),
        ("rmse=inf", ("읽을 수 없습니다",)),
        ("rmse=1,rmse=2", ("읽을 수 없습니다",)),
        ("", ("읽을 수 없습니다",)),
        ("rmse_prompt_Q1=1", ("정해지지 않은 점수", "rmse_prompt_Q1")),
    ],
)
def test_bad_weights_are_told(results, capsys, weights: str, words: tuple[str, ...]) -> None:
    capsys.readouterr()
    assert main(["rank", results["exact"], "--weights", weights]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert all(word in shown.err for word in words)


def changed(path: str, folder: Path, change, name: str = "changed") -> str:
    out = json.loads(Path(path).read_text("utf-8"))
    change(out)
    (folder / f"{name}.json").write_text(json.dumps(out), "utf-8")
    return str(folder / f"{name}.json")


def test_files_that_were_measured_otherwise_do_not_rank_together(results, capsys, tmp_path) -> None:
    def references(out) -> None:
        out["signature"]["references"]["sha256"] = "0" * 64

    def of_rank(out) -> None:
        out["signature"]["metrics"]["essay_rank"]["rule"] = "essay-spearman@2"

    def recipe(out) -> None:
        out["recipe"] = "regression@1"

    for change, words in ((references, "정답 파일"), (of_rank, "essay_rank"), (recipe, "regression@1")):
        other = changed(results["biased"], tmp_path, change)
        capsys.readouterr()
        assert main(["rank", results["exact"], other]) == 2
        assert words in capsys.readouterr().err
    other = changed(results["biased"], tmp_path, of_rank)
    # the first file lacks the metric in which the others differ
    without = changed(results["exact"], tmp_path, lambda out: out["signature"]["metrics"].pop("essay_rank"), "none")
    third = results["exact"]
    capsys.readouterr()
    assert main(["rank", without, other, third]) == 2
    assert "essay_rank" in capsys.readouterr().err
    assert main(["rank", third, without]) == 2
    told = capsys.readouterr().err
    assert f"{third}에 있는 지표가 {without}에 없어" in told
    assert len(ranked(capsys, third, without, "--weights", "rmse=1")["entries"]) == 2
    assert len(ranked(capsys, results["exact"], other, "--weights", "rmse=1")["entries"]) == 2
    assert main(["rank", results["exact"], other, "--weights", "final_score=1"]) == 2  # of no metric alone
    assert main(["rank", results["exact"], "--lang", "en", "--weights", "nothing=1"]) == 2
    assert "No file has these scores" in capsys.readouterr().err


def test_a_recipe_without_a_composite_needs_weights(capsys, tmp_path) -> None:
    rows = [{"id": str(number), "output": number} for number in range(3)]
    (tmp_path / "R.json").write_bytes(dumped(rows))
    given = ["--references", str(tmp_path / "R.json"), "--predictions", str(tmp_path / "R.json")]
    assert main(["score", "--recipe", "regression@1", *given, "--output", str(tmp_path / "OUT.json")]) == 0
    capsys.readouterr()
    assert main(["rank", str(tmp_path / "OUT.json")]) == 2
    assert "--weights" in capsys.readouterr().err
    [entry] = ranked(capsys, str(tmp_path / "OUT.json"), "--weights", "mse=1")["entries"]
    assert entry["composite"] == 1


def test_a_file_is_checked_with_and_without_references(results, capsys) -> None:
    folder = Path(results["exact"]).parent
    for has_references in (True, False):
        assert main(arguments("check", folder, "broken", has_references=has_references)) == 0
        shown = capsys.readouterr().out
        assert "10개" in shown
        assert "예측값 0으로 채점" in shown
    (folder / "bad.json").write_bytes(dumped([{"id": "e0", **traits(3, 9, True)}], as_lines=True))
    assert main(arguments("check", folder, "bad", has_references=False)) == 1
    shown = capsys.readouterr().out
    assert "1\te0\torganization.score" in shown
    assert "1\te0\texpression.score" in shown


def test_the_scores_that_scripts_rely_on_are_stored(results) -> None:
    scores = stored(results["broken"])
    assert {"rmse", "spearman", "parse_failures", "final_score"} <= scores.keys()
    assert scores["parse_failures"] == sum(len(row["output"]) < len(json.dumps(traits(3))) for row in TEAMS["broken"])
    assert stored(results["constant"])["spearman"] == 0
    assert stored(results["exact"])["spearman"] == pytest.approx(1, abs=1e-12)


def test_recipes_lists_it_and_the_report_shows_it(results, capsys) -> None:
    assert main(["recipes"]) == 0
    assert f"essay-scoring@1  {get_recipe('essay-scoring@1').title()}" in capsys.readouterr().out
    assert main(["report", results["biased"], "--format", "markdown", "--lang", "en"]) == 0
    shown = capsys.readouterr().out
    assert "| RMSE (lower is better) |" in shown
    assert "| Bias |" in shown
