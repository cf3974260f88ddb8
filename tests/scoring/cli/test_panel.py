"""``python -m scoring panel``, as its users run it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scoring.arena.result import compute
from scoring.arena.simulation import Panel, simulate
from scoring.arena.votes import read_votes, votes_bytes
from scoring.cli import main
from scoring.cli.panel import votes_of

PANEL = Panel((0.8, 0.0, -0.8), ("good",) * 6, items=30, votes_per_judge=60, resamples=100, order_effect=0.5)
SIDES = {"first": "left", "second": "right", "tie": "tie"}
SOUND = {"judge": "a", "item": 1, "left": "x", "right": "y", "choice": "left"}


def lines() -> list[dict[str, Any]]:
    """The real votes of a simulated panel, as somebody has them who ran one without this site."""
    votes = simulate(PANEL, 1)
    name = {one.label: one.name for one in votes.systems}
    return [
        {
            "judge": vote.judge,
            "item": vote.item,
            "left": name[vote.systems[0]],
            "right": name[vote.systems[1]],
            "choice": SIDES[vote.value["choice"]],
        }
        for vote in votes.real()
        if vote.value["choice"] in SIDES
    ]


def written(path: Path, rows: list[Any]) -> str:
    text = "\n".join(row if isinstance(row, str) else json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_text(text + "\n", encoding="utf-8")
    return str(path)


def test_the_file_has_the_systems_by_name_with_strength_interval_and_ranks(tmp_path, capsys):
    out = tmp_path / "OUT.json"
    assert main(["panel", written(tmp_path / "V.jsonl", lines()), "--output", str(out)]) == 0
    found = json.loads(out.read_text(encoding="utf-8"))
    systems = found["systems"]
    assert list(systems) == ["System 1", "System 2", "System 3"]
    assert sum(each["strength"] for each in systems.values()) == pytest.approx(0, abs=1e-9)
    for each in systems.values():
        assert each["low"] < each["strength"] < each["high"]
        assert 1 <= each["rank_low"] <= each["rank"] <= each["rank_high"] <= 3
    assert found["order_effect_low"] < found["order_effect"] < found["order_effect_high"]
    assert found["order_effect"] > 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in systems)


def test_it_is_the_result_of_the_command_arena_on_the_same_votes(tmp_path, capsys):
    path = written(tmp_path / "V.jsonl", lines())
    votes, same = tmp_path / "VOTES.json", tmp_path / "RESULT.json"
    votes.write_bytes(votes_bytes(votes_of(Path(path).read_bytes(), "ko")))
    assert main(["arena", str(votes), "-o", str(same)]) == 0
    capsys.readouterr()

    assert main(["panel", path, "--format", "json"]) == 0

    found, result = json.loads(capsys.readouterr().out), json.loads(same.read_bytes())
    assert result == compute(read_votes(votes.read_bytes())).document()
    pairs = {"strength": "score", "rank_low": "best_rank", "rank_high": "worst_rank"}
    for row in result["systems"]:
        own = found["systems"][row["label"]]
        assert own == {name: row[pairs.get(name, name)] for name in own}
    assert found["order_effect"] == result["parameters"]["order"]["value"]
    assert found["signature_hash"] == result["signature_hash"]


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("{", "line 3 is not JSON. A line is one judgement."),
        ("[1]", "line 3 is [1] where an object {...} is expected."),
        ({**SOUND, "choice": "both_bad"}, "line 3 choice is both_bad; it must be one of left, right, tie."),
        ({**SOUND, "choice": ["left"]}, "line 3 choice is ['left']; it must be one of left, right, tie."),
        ({name: SOUND[name] for name in SOUND if name != "choice"}, "line 3 choice is missing."),
        ({**SOUND, "judge": ""}, "line 3 judge is missing."),
        ({**SOUND, "left": True}, "line 3 left is True where a string is expected."),
        ({**SOUND, "right": "x"}, "line 3 right is x, as left is. Name two systems."),
    ],
)
def test_a_wrong_line_is_named(tmp_path, capsys, row, told):
    path = written(tmp_path / "V.jsonl", [SOUND, "", row, SOUND])
    assert main(["panel", path, "--lang", "en"]) == 1
    assert told in capsys.readouterr().err
    assert main(["panel", path]) == 1
    assert "3번째 줄" in capsys.readouterr().err


def test_every_wrong_line_is_counted_and_nothing_is_written(tmp_path, capsys):
    out = tmp_path / "OUT.json"
    path = written(tmp_path / "V.jsonl", ["{", SOUND, "{"])
    assert main(["panel", path, "-o", str(out), "--lang", "en"]) == 1
    told = capsys.readouterr().err
    assert "2 places" in told
    assert "line 1 " in told
    assert not out.exists()


def test_what_is_no_text_or_no_file_is_told(tmp_path, capsys):
    path = tmp_path / "V.jsonl"
    path.write_bytes(json.dumps(SOUND).encode() + b"\n\xff\n")
    assert main(["panel", str(path), "--lang", "en"]) == 1
    assert "line 2 is not UTF-8" in capsys.readouterr().err
    path.write_bytes(b"")
    assert main(["panel", str(path)]) == 1
    assert main(["panel", str(tmp_path / "none.jsonl")]) == 2
    assert main(["panel", str(path), "-o", str(tmp_path / "no" / "OUT.json")]) == 2
