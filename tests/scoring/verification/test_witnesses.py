"""The packages themselves say whether our values are theirs: for built-in pairs and for a file that was scored."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from scoring.cli import main
from scoring.models.profile import Profile, load_profile
from scoring.recipes import Pairs, get_recipe
from scoring.records import ItemScores, ScoreReport
from scoring.verification import precisions, witnesses
from scoring.verification.packages import BleurtPackage
from scoring.verification.precisions import Deviation, measure_precisions
from scoring.verification.witnesses import BUILT_IN, Comparison, compare_built_in
from tests.scoring.texts import contest_json
from tests.scoring.tiny_models import make_bert, one_thread, write_profile

METRICS = ["bertscore", "bleurt", "rouge1_mecab"]


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Iterator[None]:
    with one_thread():
        yield


@pytest.fixture(scope="module")
def loaded(made_models: Path) -> Profile:
    """A profile of the session's models, which no test changes."""
    path = made_models / "witnesses.toml"
    return load_profile(write_profile(path, bertscore=made_models / "bert", bleurt=made_models / "bleurt"))


@pytest.fixture(scope="module")
def compared(loaded: Profile) -> tuple[Comparison, ...]:
    return compare_built_in(loaded, "cpu")


@pytest.fixture(scope="module")
def deviations(loaded: Profile) -> tuple[Deviation, ...]:
    return measure_precisions(loaded, "cpu")


@pytest.fixture(autouse=True)
def _precisions_measured_once(deviations: tuple[Deviation, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """``verify`` ends with them; ``tests/scoring/cli`` runs it with nothing replaced."""
    monkeypatch.setattr(precisions, "measure_precisions", lambda *_: deviations)


@pytest.fixture
def scored(files: Path, profile: Path) -> list[str]:
    """The arguments that name a scored file, the files it was made of and its profile."""
    paths = {name: str(files / f"{name}.json") for name in ("OUT", "R", "P")}
    given = ["--references", paths["R"], "--predictions", paths["P"]]
    arguments = ["score", "--recipe", "rag-qa@1", *given, "--models", str(profile), "--output", paths["OUT"]]
    assert main([*arguments, "--device", "cpu"]) == 0
    return ["models", "verify", str(profile), "--device", "cpu", "--file", paths["OUT"], *given]


def shifted(monkeypatch: pytest.MonkeyPatch, by: float) -> None:
    """Let the package's values lie further away."""
    score = BleurtPackage.score

    def other(*arguments):
        return [value + by for value in score(*arguments)]

    monkeypatch.setattr(BleurtPackage, "score", other)


def test_our_values_are_those_of_the_packages_for_built_in_pairs(compared):
    found = compared
    assert [one.metric for one in found] == METRICS
    for one in found:
        assert one.is_ok, one
        assert len(one.theirs) == len(one.ours) == len(BUILT_IN)
        assert len(set(one.theirs)) > len(BUILT_IN) // 2  # values that all agree could not tell a wrong one
        assert one.theirs_s > 0
        assert one.ours_s > 0
    assert found[0].package == "bert-score 0.3.13"


def test_a_profile_without_a_model_is_compared_in_what_it_has(models):
    found = compare_built_in(load_profile(write_profile(models / "one.toml", bleurt=models / "bleurt")), "cpu")
    assert [one.metric for one in found] == ["bleurt", "rouge1_mecab"]


def test_a_faster_format_of_the_profile_does_not_move_the_comparison(profile):
    half = profile.with_name("half.toml")
    half.write_text('precision = "bf16"\n' + profile.read_text(encoding="utf-8"), encoding="utf-8")
    assert all(one.is_ok for one in compare_built_in(load_profile(half), "cpu"))


@pytest.mark.parametrize(("by", "status"), [(0.0, 0), (2e-5, 0), (1e-4, 1), (math.nan, 1)])
def test_verify_exits_1_where_a_value_differs_by_more_than_the_tolerance(models, monkeypatch, capsys, by, status):
    shifted(monkeypatch, by)
    profile = write_profile(models / "one.toml", bleurt=models / "bleurt")
    assert main(["models", "verify", str(profile), "--device", "cpu"]) == status
    shown = capsys.readouterr().out
    (line,) = [line for line in shown.splitlines() if "bleurt (bleurt-pytorch 0.0.1)" in line]
    assert line.endswith("실패" if status else "통과")


def test_what_stops_a_package_is_told_and_is_no_agreement(tmp_path, capsys):
    """bert-score overflows where a tokenizer was saved without its length."""
    bert = make_bert(tmp_path / "bert", with_length=False)
    profile = write_profile(tmp_path / "p.toml", bertscore=bert)
    assert main(["models", "verify", str(profile), "--device", "cpu", "--lang", "en"]) == 1
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "bert-score 0.3.13" in line]
    assert "Error" in line
    assert line.endswith("FAILED")


def test_a_scored_file_is_computed_again_by_the_packages(scored, capsys):
    assert main(scored) == 0
    shown = capsys.readouterr().out
    assert "OUT.json" in shown
    assert "파일과의 최대 차이" in shown


def test_a_value_of_the_file_that_no_package_gives_exits_1(scored, capsys):
    path = Path(scored[scored.index("--file") + 1])
    content = json.loads(path.read_text(encoding="utf-8"))
    item = next(item for item in content["items"] if "bertscore" in item["scores"])
    item["scores"]["bertscore"] += 0.001
    path.write_text(json.dumps(content), encoding="utf-8")
    assert main([*scored, "--format", "json"]) == 1
    found = {(one["pairs"], one["metric"]): one for one in json.loads(capsys.readouterr().out)["comparisons"]}
    of_file = found[str(path), "bertscore"]
    assert of_file["stored"]["largest"] == pytest.approx(0.001, abs=1e-5)
    assert of_file["largest"] < 1e-5
    assert [found[str(path), metric]["ok"] for metric in METRICS] == [False, True, True]


def test_a_file_scored_with_other_models_or_references_is_refused(scored, profile, models, capsys):
    make_bert(models / "other", layers=4)
    other = write_profile(models / "other.toml", bertscore=models / "other", num_layers=3)
    assert main(["models", "verify", str(other), *scored[3:], "--lang", "en"]) == 2
    assert "made with something else: bertscore" in capsys.readouterr().err
    references = Path(scored[scored.index("--references") + 1])
    rows = json.loads(references.read_text(encoding="utf-8"))
    texts = [(row["id"], row["output"]["answer"] + " 더", row["input"]["question_type"]) for row in rows]
    references.write_text(contest_json(texts), encoding="utf-8")
    assert main([*scored, "--lang", "en"]) == 2
    assert "references" in capsys.readouterr().err


@pytest.mark.parametrize("given", [["--file", "OUT.json"], ["--references", "R.json", "--predictions", "P.json"]])
def test_a_scored_file_and_the_files_it_was_made_of_are_named_together(profile, capsys, given):
    assert main(["models", "verify", str(profile), *given]) == 2
    assert "함께 지정" in capsys.readouterr().err


def test_of_several_references_the_best_is_what_a_file_holds():
    pairs = Pairs(("a", "b"), (("가", "나"), ("다",)), ("마", "바"))
    found = Comparison("bertscore", "p", (0.2, 0.7, 0.5), (0.2, 0.7, 0.5), 1.0, 1.0)
    items = (ItemScores("a", {"bertscore": 0.7}), ItemScores("b", {"bertscore": 0.5}))
    recipe = get_recipe("captioning@1")
    report = ScoreReport(recipe.id, 0.0, {}, {}, (), items, {}, "", {})
    stored = witnesses._stored(found, pairs, report)
    assert stored is not None
    assert (stored.mean, stored.largest) == (pytest.approx(0.6), 0.0)


@pytest.mark.parametrize("form", ["text", "markdown"])
@pytest.mark.parametrize(("language", "word"), [("ko", "말판 평균"), ("en", "our mean")])
def test_the_table_speaks_both_languages_and_both_forms(profile, compared, monkeypatch, capsys, form, language, word):
    monkeypatch.setattr(witnesses, "compare_built_in", lambda *_: compared)
    assert main(["models", "verify", str(profile), "--device", "cpu", "--format", form, "--lang", language]) == 0
    shown = capsys.readouterr().out
    assert word in shown
    assert ("| ---" in shown) is (form == "markdown")
    assert all(f"{one.metric} ({one.package})" in shown for one in compared)
