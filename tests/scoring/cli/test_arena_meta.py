"""``python -m scoring arena-meta``, as its users run it: people's votes and the scored files of the systems."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau

from scoring.arena.result import compute
from scoring.arena.simulation import Panel, simulate
from scoring.arena.votes import votes_bytes
from scoring.cli import main

STRENGTHS = (1.2, 0.8, 0.3, -0.3, -0.8, -1.2)
PANEL = Panel(STRENGTHS, ("good",) * 5, items=12, votes_per_judge=40, resamples=100)
VOTES = simulate(PANEL, 2)
WORDS = ["나라말", "바른말", "우리글", "사람들", "이야기", "오늘날", "아침밥", "저녁놀"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Votes, and the scored file of every system: the better it is, the more words are right."""
    made = tmp_path_factory.mktemp("meta")
    (made / "VOTES.json").write_bytes(votes_bytes(VOTES))
    items = [item.label for item in VOTES.items]
    _write(made / "R.json", items, lambda _at: " ".join(WORDS))
    for number, system in enumerate(VOTES.systems):
        right = 7 - number
        _write(made / "P.json", items, lambda at, right=right: " ".join(WORDS[: max(1, right - at % 3)]) + " 딴소리")
        out = ["--predictions", str(made / "P.json"), "--output", str(made / f"{system.label}.json")]
        assert main(["score", "--recipe", "generation-rouge1@1", "--references", str(made / "R.json"), *out]) == 0
    return made


def _write(path: Path, items: list[str], answer: Any) -> None:
    rows = [{"id": item, "input": "무엇입니까", "output": answer(at)} for at, item in enumerate(items)]
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def results(folder: Path) -> list[str]:
    return [str(folder / f"{system.label}.json") for system in VOTES.systems]


def test_the_table_is_printed_and_the_document_is_stored(folder, tmp_path, capsys):
    out = tmp_path / "META.json"
    assert main(["arena-meta", str(folder / "VOTES.json"), *results(folder), "-o", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "사람의 평가와 맞은 지표" in printed
    assert "타우 b" in printed
    document = json.loads(out.read_bytes())
    row = next(each for each in document["metrics"] if each["name"] == "rouge_1")
    for interval in row["systems"]["accuracy"]["systems"], row["systems"]["accuracy"]["votes"]:
        assert f"{100 * interval['low']:.1f}~{100 * interval['high']:.1f}" in printed
    people = {each["label"]: each["score"] for each in compute(VOTES).document()["systems"]}
    scores = {label: json.loads((folder / f"{label}.json").read_bytes())["scores"]["rouge_1"] for label in people}
    tau = kendalltau(list(people.values()), list(scores.values())).statistic
    assert row["systems"]["tau"]["value"] == pytest.approx(tau, abs=1e-7)
    assert row["items"]["items"] == 12
    assert document["numbers"]["votes"] == len(VOTES.real())


@pytest.mark.parametrize("language", ["ko", "en"])
@pytest.mark.parametrize("form", ["text", "markdown"])
def test_both_languages_and_forms_name_the_metric_and_leave_no_gap(folder, capsys, form, language):
    votes = str(folder / "VOTES.json")
    assert main(["arena-meta", votes, *results(folder), "--format", form, "--lang", language]) == 0
    printed = capsys.readouterr().out
    assert "rouge_1" in printed
    assert "{" not in printed
    assert ("Signature" in printed) == (language == "en")
    assert ("fewer than ten systems" if language == "en" else "시스템이 열 개보다 적어") in printed


def test_files_are_matched_by_label_name_or_number(folder, tmp_path, capsys):
    copies = {"S01": "mine.json", "S02": "System 2.json", "S03": "3.json"}
    for label, name in copies.items():
        (tmp_path / name).write_bytes((folder / f"{label}.json").read_bytes())
    given = [f"S01={tmp_path / 'mine.json'}", str(tmp_path / "System 2.json"), str(tmp_path / "3.json")]
    assert main(["arena-meta", str(folder / "VOTES.json"), *given, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["numbers"]["systems"] == 3


def test_a_file_of_no_system_and_two_files_of_one_are_refused_with_the_known_ones(folder, tmp_path, capsys):
    votes = str(folder / "VOTES.json")
    assert main(["arena-meta", votes, str(folder / "R.json"), "--lang", "en"]) == 2
    assert "S01 System 1" in capsys.readouterr().err
    assert main(["arena-meta", votes, results(folder)[0], f"S01={results(folder)[1]}", "--lang", "en"]) == 2
    assert "two files" in capsys.readouterr().err


def test_ids_of_items_come_from_a_file_and_without_them_there_are_no_figures_of_items(folder, tmp_path, capsys):
    other = replace(
        VOTES,
        items=tuple(replace(item, label=f"X{item.label}") for item in VOTES.items),
        votes=tuple(replace(vote, item=f"X{vote.item}") for vote in VOTES.votes),
    )
    votes = tmp_path / "V.json"
    votes.write_bytes(votes_bytes(other))
    assert main(["arena-meta", str(votes), *results(folder)]) == 0
    assert "--items" in capsys.readouterr().out
    items = tmp_path / "ITEMS.json"
    items.write_text(json.dumps({f"X{item.label}": item.label for item in VOTES.items}), encoding="utf-8")
    named = ["arena-meta", str(votes), *results(folder), "--items", str(items), "--format", "json"]
    assert main(named) == 0
    found = json.loads(capsys.readouterr().out)
    assert main(["arena-meta", str(folder / "VOTES.json"), *results(folder), "--format", "json"]) == 0
    assert found["metrics"][0]["items"]["value"] == json.loads(capsys.readouterr().out)["metrics"][0]["items"]["value"]
    for wrong in ("[]", "{", '{"XI01": 1}', '{"other": "I01"}'):
        items.write_text(wrong, encoding="utf-8")
        assert main(named) == 2
        assert "ITEMS.json" in capsys.readouterr().err


def test_unsound_votes_exit_with_1(folder, tmp_path, capsys):
    votes = tmp_path / "V.json"
    votes.write_text("{}", encoding="utf-8")
    assert main(["arena-meta", str(votes), *results(folder)]) == 1
    assert "V.json" in capsys.readouterr().err


SCORES = {
    "format": "malpan-arena-scores@1",
    "campaign": {"title": "x"},
    "recipe": "generation-rouge1@1",
    "metrics": [
        {
            "name": "rouge_1",
            "higher_is_better": True,
            "systems": {"S01": 0.5, "S02": 0.25},
            "items": {"S01": {"I01": 1}},
        }
    ],
}


@pytest.mark.parametrize(
    ("path", "value", "place"),
    [
        ([], [], "malpan-arena-scores@1"),
        (["format"], "malpan-arena-scores@2", "malpan-arena-scores@1"),
        (["recipe"], "nothing@1", "recipe"),
        (["metrics"], {}, "metrics"),
        (["metrics", 0], {"name": "rouge_1"}, "metrics[0]"),
        (["metrics", 0, "name"], 1, "metrics[0]"),
        (["metrics", 0, "higher_is_better"], 1, "metrics[0]"),
        (["metrics", 0, "systems"], [], "metrics[0].systems"),
        (["metrics", 0, "systems", "S02"], True, "metrics[0].systems.S02"),
        (["metrics", 0, "systems", "S02"], "1", "metrics[0].systems.S02"),
        (["metrics", 0, "items", "S01"], 3, "metrics[0].items.S01"),
        (["metrics", 0, "items", "S01", "I01"], None, "metrics[0].items.S01.I01"),
    ],
)
def test_a_scores_file_that_is_none_is_refused_with_the_place(folder, tmp_path, capsys, path, value, place):
    document = json.loads(json.dumps(SCORES))
    if path:
        holder = document
        for each in path[:-1]:
            holder = holder[each]
        holder[path[-1]] = value
    else:
        document = value
    scores = tmp_path / "SCORES.json"
    scores.write_text(json.dumps(document), encoding="utf-8")
    for language in ("ko", "en"):
        assert main(["arena-meta", str(folder / "VOTES.json"), "--scores", str(scores), "--lang", language]) == 2
        told = capsys.readouterr().err
        assert "SCORES.json" in told
        assert place in told


def test_scores_twice_broken_or_from_two_sources_are_refused(folder, tmp_path, capsys):
    scores, votes = tmp_path / "SCORES.json", str(folder / "VOTES.json")
    twice = SCORES | {"metrics": SCORES["metrics"] * 2}
    for text, place in (
        ("{", "JSON"),
        (json.dumps(twice), "metrics[1]"),
        (json.dumps(SCORES).replace("0.5", "NaN"), "S01"),
    ):
        scores.write_text(text, encoding="utf-8")
        assert main(["arena-meta", votes, "--scores", str(scores)]) == 2
        assert place in capsys.readouterr().err
    scores.write_text(json.dumps(SCORES), encoding="utf-8")
    for given in ([], [*results(folder), "--scores", str(scores)], ["--scores", str(scores), "--items", str(scores)]):
        assert main(["arena-meta", votes, *given, "--lang", "en"]) == 2
        assert "--scores" in capsys.readouterr().err


def test_scores_of_another_campaign_are_refused_with_both_names(folder, tmp_path, capsys):
    """Their labels are other systems: the figures would be wrong without a word."""
    scores, votes = tmp_path / "SCORES.json", tmp_path / "V.json"
    document = json.loads((folder / "VOTES.json").read_bytes())
    own = {"competition": "spring", "track": "qa", "number": 2}
    votes.write_text(json.dumps(document | {"campaign": own}), encoding="utf-8")
    scores.write_text(json.dumps(SCORES | {"campaign": own | {"number": 3}}), encoding="utf-8")
    for command in ("arena-meta", "arena"):
        assert main([command, str(votes), "--scores", str(scores)]) == 2
        told = capsys.readouterr().err
        assert "spring/qa/2" in told
        assert "spring/qa/3" in told
    scores.write_text(json.dumps(SCORES | {"campaign": own}), encoding="utf-8")
    assert main(["arena-meta", str(votes), "--scores", str(scores)]) == 0
