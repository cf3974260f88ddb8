"""``python -m scoring arena``, as its users run it."""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from scoring.arena.design import JudgeSpec, Settings, plan
from scoring.arena.redrawing import design_labels, queues_sha256
from scoring.arena.result import compute
from scoring.arena.simulation import Panel, simulate
from scoring.arena.vote_records import PROTOCOLS
from scoring.arena.votes import DrawnDesign, Vote, read_votes, votes_bytes
from scoring.cli import main

PANEL = Panel((0.8, 0.0, -0.8), ("good",) * 5 + ("random",), items=30, votes_per_judge=60, resamples=100)


@pytest.fixture
def votes_file(tmp_path: Path) -> Path:
    path = tmp_path / "VOTES.json"
    path.write_bytes(votes_bytes(simulate(PANEL, 1)))
    return path


def test_the_result_is_stored_and_checked_byte_for_byte(votes_file, tmp_path, capsys):
    out = tmp_path / "RESULT.json"
    assert main(["arena", str(votes_file), "-o", str(out)]) == 0
    assert out.read_bytes() == compute(simulate(PANEL, 1)).bytes()
    capsys.readouterr()
    assert main(["arena", str(votes_file), "--check", str(out)]) == 0
    assert "바이트 단위로 같습니다" in capsys.readouterr().err
    assert main(["arena", str(votes_file), "--check", str(out), "--lang", "en"]) == 0
    assert "equal byte for byte" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda result: result["systems"][1].update(score=9), "systems[1].score"),
        (lambda result: result.update(signature_hash="0"), "signature_hash"),
        (lambda result: result.pop("pairs"), "pairs"),
        (lambda result: result["judges"].pop(), "judges"),
    ],
)
def test_another_result_is_told_with_the_place(votes_file, tmp_path, capsys, change, place):
    published = tmp_path / "PUBLISHED.json"
    main(["arena", str(votes_file), "-o", str(published)])
    result = json.loads(published.read_bytes())
    change(result)
    published.write_text(json.dumps(result), encoding="utf-8")
    capsys.readouterr()
    assert main(["arena", str(votes_file), "--check", str(published), "--lang", "en"]) == 1
    assert place in capsys.readouterr().err


def test_a_result_of_another_version_is_told_as_that(votes_file, tmp_path, capsys):
    published = tmp_path / "PUBLISHED.json"
    main(["arena", str(votes_file), "-o", str(published)])
    result = json.loads(published.read_bytes())
    result["signature"]["instrument"] = "0.1.0"
    published.write_text(json.dumps(result), encoding="utf-8")
    for language, words in (("ko", "다른 판(0.1.0)"), ("en", "another version, 0.1.0")):
        capsys.readouterr()
        assert main(["arena", str(votes_file), "--check", str(published), "--lang", language]) == 1
        assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    ("language", "words"),
    [("ko", "결과가 가리키는 평가 파일이 아닙니다"), ("en", "is not the one that the result names")],
)
def test_a_result_of_other_votes_is_told_before_the_table(tmp_path, language, words):
    path, published = tmp_path / "V.json", tmp_path / "PUBLISHED.json"
    votes = simulate(PANEL, 1)
    published.write_bytes(compute(votes).bytes())
    path.write_bytes(votes_bytes(replace(votes, votes=votes.votes[:-1])))
    command = [sys.executable, "-m", "scoring", "arena", str(path), "--check", str(published), "--lang", language]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", check=False)
    assert done.returncode == 1
    first, *rest = done.stdout.splitlines()
    assert words in first
    assert hashlib.sha256(votes_bytes(votes)).hexdigest() in first
    assert "numbers" in rest[-1], "the places come last"
    assert any("S01 System" in line for line in rest)


@pytest.mark.parametrize("published", [b"[]", b"\xff", b'{"signature": {"votes_sha256": 7}}'])
def test_a_result_that_names_no_votes_is_not_of_others(votes_file, tmp_path, capsys, published):
    path = tmp_path / "PUBLISHED.json"
    path.write_bytes(published)
    assert main(["arena", str(votes_file), "--check", str(path), "--lang", "en"]) == 1
    assert "the result names" not in capsys.readouterr().err


@pytest.mark.parametrize(("language", "head"), [("ko", "판단 하나에 표시한 오류"), ("en", "Errors marked")])
def test_marked_errors_have_a_table_and_ratings_their_scale(tmp_path, capsys, language, head):
    path = tmp_path / "V.json"
    votes = simulate(replace(PANEL, protocol="errors"), 1)
    path.write_bytes(votes_bytes(votes))
    rows = compute(votes).document()["systems"]
    main(["arena", str(path), "--lang", language])
    standing, marked = capsys.readouterr().out.split(head)
    assert ("평균 점수(0~100)" if language == "ko" else "mean score (0-100)") in standing
    for row in rows:
        errors = [row["errors"][name] for name in ("minor", "major", "critical")]
        means = [*errors, row["penalty"], *row["kinds"].values()]
        line = next(line for line in marked.splitlines() if row["label"] in line)
        assert line.split()[-len(means) :] == [f"{mean:.2f}" for mean in means]
        assert f"{100 * row['points']:.1f}" in standing
    main(["arena", str(path), "--format", "markdown", "--lang", language])
    assert f"## {head}" in capsys.readouterr().out


@pytest.mark.parametrize(("language", "words"), [("ko", "오차를 알 수 없습니다"), ("en", "is not known")])
def test_a_score_without_an_interval_has_a_dash(tmp_path, capsys, language, words):
    path = tmp_path / "V.json"
    votes = simulate(PANEL, 1)
    path.write_bytes(votes_bytes(replace(votes, votes=votes.real()[:1])))
    assert main(["arena", str(path), "--lang", language]) == 0
    printed = capsys.readouterr().out
    assert words in printed
    assert "~" not in "".join(line.split()[4] for line in printed.splitlines() if " System" in line)
    assert "(-)" in printed  # the order effect


def with_design(votes, seed):
    """``votes`` of nobody's design become those of the design that ``seed`` draws, each judge saying the same."""
    settings = Settings(2, 1, 2, 0.05, 0.05)
    people = dict(zip(design_labels(len(votes.judges)), reversed(votes.judges), strict=True))
    labels = [item.label for item in votes.items], [system.label for system in votes.systems]
    queues = plan(*labels, [JudgeSpec(label) for label in people], settings, seed)
    said = []
    for label, judge in people.items():
        start = len(said) + 1
        for each in queues[label]:
            place = None if each.repeats is None else start + each.repeats
            value = {"choice": "first" if len(said) % 3 else "second", "reasons": []}
            vote = Vote(len(said) + 1, judge.label, each.item, each.systems, value, each.kind, each.bad, place, 9)
            said.append(vote)
    design = DrawnDesign(2, 1, 2, 0.05, 0.05, len(people), queues_sha256(queues))
    return replace(votes, votes=tuple(said), settings=replace(votes.settings, seed=seed), design=design)


def test_the_assignments_are_drawn_again_from_the_seed(tmp_path, capsys):
    path, votes = tmp_path / "V.json", with_design(simulate(PANEL, 1), "seed")
    path.write_bytes(votes_bytes(votes))
    assert read_votes(path.read_bytes()) == votes
    assert main(["arena", str(path), "--lang", "en"]) == 0
    assert f"{len(votes.votes)} judgements are of them, 0 were assigned" in capsys.readouterr().err
    first = next(vote for vote in votes.votes if vote.kind == "real" and not is_repeated(votes, vote))
    elsewhere = replace(first, judge=next(each.label for each in votes.judges if each.label != first.judge))
    moved = replace(votes, votes=tuple(elsewhere if vote is first else vote for vote in votes.votes))
    path.write_bytes(votes_bytes(moved))
    assert main(["arena", str(path), "--lang", "en"]) == 0
    assert f"{len(votes.votes) - 1} judgements are of them, 1 were assigned" in capsys.readouterr().err
    path.write_bytes(votes_bytes(replace(votes, settings=replace(votes.settings, seed="other"))))
    assert main(["arena", str(path)]) == 1
    assert "다릅니다" in capsys.readouterr().err
    path.write_bytes(votes_bytes(replace(votes, design=replace(votes.design, group=9))))
    assert main(["arena", str(path), "--lang", "en"]) == 1  # there is no such design
    assert "not those that were recorded" in capsys.readouterr().err


def is_repeated(votes, vote):
    return any(each.repeats == vote.number for each in votes.votes)


def test_a_file_without_a_design_says_so(votes_file, capsys):
    assert main(["arena", str(votes_file), "--lang", "en"]) == 0
    assert "is not published" in capsys.readouterr().err


def test_another_layout_and_no_json_are_told(votes_file, tmp_path, capsys):
    published = tmp_path / "PUBLISHED.json"
    main(["arena", str(votes_file), "-o", str(published)])
    published.write_bytes(published.read_bytes() + b"\n")
    assert main(["arena", str(votes_file), "--check", str(published)]) == 1
    assert "줄바꿈" in capsys.readouterr().err
    published.write_bytes(b"\xff{")
    assert main(["arena", str(votes_file), "--check", str(published)]) == 1
    assert "JSON 문서가 아님" in capsys.readouterr().err


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("language", ["ko", "en"])
def test_the_table_names_every_system_in_both_languages(tmp_path, capsys, protocol, language):
    path = tmp_path / "V.json"
    path.write_bytes(votes_bytes(simulate(replace(PANEL, protocol=protocol, group=3), 1)))
    for form in ("text", "markdown"):
        assert main(["arena", str(path), "--format", form, "--lang", language]) == 0
        printed = capsys.readouterr().out
        assert all(f"{label} System" in printed for label in ("S01", "S02", "S03"))
        assert ("signature" in printed.lower()) == (language == "en")
        assert "{" not in printed
        has_hangul = any("가" <= letter <= "힣" for letter in printed)
        assert has_hangul == (language == "ko")
    assert main(["arena", str(path), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["protocol"] == protocol


def test_suspicious_judges_and_unranked_systems_are_named(tmp_path, capsys):
    votes = simulate(PANEL, 1)
    systems = (*votes.systems[:-1], replace(votes.systems[-1], counts=False, reason="copied"))
    path = tmp_path / "V.json"
    path.write_bytes(votes_bytes(replace(votes, systems=systems)))
    assert main(["arena", str(path), "--lang", "en"]) == 0
    printed = capsys.readouterr().out
    assert "S03 copied" in printed
    path.write_bytes(votes_bytes(simulate(replace(PANEL, votes_per_judge=200), 1)))
    assert main(["arena", str(path), "--lang", "en"]) == 0
    assert "Judges to look at: J06(" in capsys.readouterr().out


def test_an_unsound_file_exits_with_one_and_names_the_places(votes_file, capsys):
    document = json.loads(votes_file.read_bytes())
    document["votes"][3]["judge"] = "J77"
    votes_file.write_text(json.dumps(document), encoding="utf-8")
    assert main(["arena", str(votes_file)]) == 1
    told = capsys.readouterr()
    assert "votes[3].judge" in told.err
    assert told.out == ""
    votes_file.write_bytes(votes_bytes(replace(simulate(PANEL, 1), votes=())))
    assert main(["arena", str(votes_file)]) == 1
    assert "둘 이상" in capsys.readouterr().err


def test_a_path_that_is_not_there_is_a_fault_of_usage(votes_file, tmp_path, capsys):
    assert main(["arena", str(tmp_path / "NONE.json")]) == 2
    assert main(["arena", str(votes_file), "--check", str(tmp_path / "NONE.json")]) == 2
    assert main(["arena", str(votes_file), "-o", str(tmp_path / "none" / "R.json")]) == 2
    assert capsys.readouterr().out == ""
