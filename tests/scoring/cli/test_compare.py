"""``python -m scoring compare``: two results in, differences and their certainty out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from scoring.cli import main
from tests.scoring.command_line import REFERENCE_ROWS, score_arguments
from tests.scoring.texts import contest_json


@pytest.fixture
def two_results(files, fake_models, capsys):
    """A.json and B.json: the golden predictions, and the same with every answer wrong."""
    wrong = [(item, "짜장면") for item, _ in REFERENCE_ROWS]
    (files / "wrong.json").write_text(contest_json(wrong), encoding="utf-8")
    main([*map(str, score_arguments(files, output="A.json"))])
    main([*map(str, score_arguments(files, "wrong.json", "B.json"))])
    capsys.readouterr()
    return str(files / "A.json"), str(files / "B.json")


def test_compare_shows_differences_intervals_and_p_in_three_forms(two_results, capsys):
    shown = {}
    for form in ("text", "markdown", "json"):
        assert main(["compare", *two_results, "--format", form]) == 0
        shown[form] = capsys.readouterr().out
    assert "문항 8개, 시행 10,000회, 시드 20261120" in shown["text"]
    assert "| EM | 75.0000000 | 12.5000000 | -62.5000000 |" in shown["markdown"]
    out = json.loads(shown["json"])
    assert out["scores"]["exact_match"]["difference"] == -0.625
    assert 0 < out["scores"]["exact_match"]["p"] <= out["scores"]["exact_match"]["p_holm"] <= 1


def test_compare_gives_the_same_numbers_every_time(two_results, capsys):
    outputs = set()
    for _ in range(2):
        main(["compare", *two_results])
        outputs.add(capsys.readouterr().out)
    assert len(outputs) == 1


def test_compare_speaks_english_when_asked(two_results, capsys):
    assert main(["compare", *two_results, "--lang", "en"]) == 0
    out = capsys.readouterr().out
    assert "8 items, 10,000 trials, seed 20261120" in out
    assert "no difference" in out


def changed(path, **changes):
    """The result at ``path`` with other values at the top, stored beside it."""
    out = json.loads(Path(path).read_text(encoding="utf-8"))
    other = Path(path).with_name(f"changed-{'-'.join(changes)}.json")
    other.write_text(json.dumps(out | changes), encoding="utf-8")
    return str(other)


def test_compare_refuses_other_recipes_other_items_and_other_files(two_results, capsys):
    a, b = two_results
    for other, words in (
        (changed(b, recipe="rag-qa-strict@1"), "채점 방식이 다릅니다: A는 rag-qa@1, B는 rag-qa-strict@1"),
        (changed(b, items=[]), "문항이 서로 다릅니다: A에만 8개"),
        (__file__, "채점 결과 파일이 아닙니다"),
        ("/no/such/file", "파일이 없습니다"),
    ):
        assert main(["compare", a, other]) == 2
        shown = capsys.readouterr()
        assert (shown.out, words in shown.err) == ("", True)


def test_compare_needs_two_files(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["compare", "A.json"])
    assert stopped.value.code == 2
    assert "필요한 인자가 없습니다: B" in capsys.readouterr().err


def test_compare_loads_no_model_and_no_analyser(two_results):
    code = (
        "import sys; from scoring.cli import main; status = main(sys.argv[1:]);"
        "print({'torch', 'transformers', 'mecab', 'konlpy', 'jpype', 'scipy'} & set(sys.modules), file=sys.stderr);"
        "sys.exit(status)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "compare", *two_results], capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr.strip()) == (0, "set()")


# --- repetitions ------------------------------------------------------------------------------------------------------
def _moved(path, target, by, **changes):
    """A copy of a result with the final score and EM of all items ``by`` higher."""
    report = json.loads(Path(path).read_text("utf-8"))
    report["scores"]["exact_match"] += by
    Path(target).write_text(json.dumps(report | changes), encoding="utf-8")
    return str(target)


def test_a_difference_within_the_spread_of_repetitions_is_not_called_one(two_results, files, capsys):
    a, b = two_results  # EM 0.75 and 0.125
    for by, is_within in ((0.5, False), (0.625, True), (0.7, True)):
        again = _moved(b, files / "B2.json", by)
        assert main(["compare", a, b, "--again-b", b, "--again-b", again, "--format", "json"]) == 0
        line = json.loads(capsys.readouterr().out)["scores"]["exact_match"]
        assert line["spread"] == pytest.approx(by)
        main(["compare", a, b, "--again-b", again])
        text = capsys.readouterr().out
        assert ("반복 폭 안" in text) == is_within
        assert "반복 폭: 같은 파일을" in text
        if is_within:
            assert line["is_significant"] is False


def test_without_repetitions_there_is_no_spread(two_results, capsys):
    main(["compare", *two_results, "--format", "json"])
    assert json.loads(capsys.readouterr().out)["scores"]["exact_match"]["spread"] is None
    main(["compare", *two_results])
    assert "반복 폭" not in capsys.readouterr().out


def test_equal_repetitions_change_no_verdict(two_results, capsys):
    a, b = two_results
    verdicts = []
    for again in ([], ["--again-a", a, "--again-b", b]):
        main(["compare", a, b, *again, "--format", "json"])
        verdicts.append({k: v["is_significant"] for k, v in json.loads(capsys.readouterr().out)["scores"].items()})
    assert verdicts[0] == verdicts[1]


def test_a_result_of_another_signature_is_no_repetition(two_results, files, capsys):
    a, b = two_results
    report = json.loads(Path(b).read_text("utf-8"))
    report["signature_hash"] = "0" * 64
    (files / "other.json").write_text(json.dumps(report), encoding="utf-8")
    assert main(["compare", a, b, "--again-b", str(files / "other.json")]) == 2
    assert "B의 반복으로 준 1번째" in capsys.readouterr().err


def test_more_than_two_results_are_ranked_with_intervals_and_bands(two_results, capsys):
    a, b = two_results
    shown = {}
    for form in ("text", "markdown", "json"):
        assert main(["compare", b, a, a, "--format", form]) == 0
        shown[form] = capsys.readouterr().out
    out = json.loads(shown["json"])
    assert [(each["file"], each["rank"], each["band"]) for each in out["results"]] == [
        (f"{a} (2)", 1, 1),
        (f"{a} (3)", 2, 1),
        (b, 3, 2 if out["results"][2]["above_p"] <= 0.05 else 1),
    ]
    assert out["results"][1]["above_p"] == 1.0
    assert out["results"][0]["rank_interval"] == [1, 2]
    assert (out["trials"], out["seed"], out["pairs"]) == (10_000, 20261120, 3)
    assert "검정한 쌍 3개" in shown["text"]
    assert f"| {b} | 3 |" in shown["markdown"]
    main(["compare", a, b, a, "--lang", "en"])
    assert "3 pairs tested" in capsys.readouterr().out


def test_results_are_ranked_by_a_composite_where_weights_are_given(two_results, capsys):
    a, b = two_results
    assert main(["compare", b, a, "--weights", "exact_match=50,rouge_1=50", "--format", "json"]) == 0
    out = json.loads(capsys.readouterr().out)
    assert [(each["file"], each["score"]) for each in out["results"]] == [(a, 1.0), (b, 0.0)]
    assert [each["weight"] for each in out["components"]] == [50.0, 50.0]
    assert "composite" in out["results"][0]["intervals"]


def test_repetitions_are_of_two_results_only(two_results, capsys):
    a, b = two_results
    assert main(["compare", a, b, a, "--again-a", a]) == 2
    assert "둘만" in capsys.readouterr().err


def test_a_result_scored_otherwise_is_named_by_its_number(two_results, capsys):
    a, b = two_results
    other = changed(b, signature_hash="0" * 64)
    signature = json.loads(Path(other).read_text(encoding="utf-8"))["signature"]
    other = changed(b, signature={**signature, "references": {"items": 8, "sha256": "0" * 64}})
    assert main(["compare", a, b, other]) == 2
    assert "3번째 결과" in capsys.readouterr().err
