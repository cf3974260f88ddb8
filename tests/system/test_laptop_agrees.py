"""The instrument on a laptop and the platform give one submission the same numbers and the same signature."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scoring.cli import main
from tests.system.make_contest import answers
from tests.system.stack import Stack
from tests.system.visitor import Visitor, wait_until_finished

pytestmark = pytest.mark.services


def test_command_line_and_platform_agree(
    stack: Stack, models_dir: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = [f"item-{number}" for number in range(6)]
    references, predictions, output = (tmp_path / name for name in ("R.json", "P.json", "OUT.json"))
    references.write_bytes(answers(ids, 5))
    rows = json.loads(answers(ids, 3, wrong=2))
    predictions.write_text(json.dumps(rows[::-1], ensure_ascii=False))
    stack.call("tests.system.make_contest", "make_from", "agreement", str(references))
    visitor = Visitor(stack)
    visitor.found_team("agreement", "같은 자로 재는 팀")
    run = wait_until_finished(stack, visitor.submit("agreement", predictions.read_bytes()))

    monkeypatch.setenv("MALPAN_MODELS", str(models_dir))
    files = [f"--references={references}", f"--predictions={predictions}", f"--output={output}"]
    assert main(["score", "--recipe", "rag-qa@1", "--models", "demo", *files]) == 0

    on_laptop = json.loads(output.read_text())
    [(scores, signature_hash)] = stack.query(
        "SELECT scores, signature_hash FROM submissions_scoringrun WHERE id = %s", run["id"]
    )
    assert on_laptop["signature_hash"] == signature_hash
    assert on_laptop["final_score"] == pytest.approx(run["final_score"], abs=1e-9)
    assert on_laptop["scores"] == pytest.approx(scores, abs=1e-9)
    assert 0 < on_laptop["scores"]["exact_match"] < 1
