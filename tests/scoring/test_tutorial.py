"""The tutorial of the package runs from its first cell to the last."""

from __future__ import annotations

import ast
import json
from typing import Any

import pytest

from tests.paths import ROOT

NOTEBOOK = json.loads((ROOT / "scoring/tutorial.ipynb").read_text(encoding="utf-8"))
CODE = ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def run(cell: str, names: dict[str, Any]) -> Any:
    """What a notebook shows under ``cell``: the value of its last line, if that is an expression."""
    tree = ast.parse(cell)
    last = tree.body.pop() if isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, "tutorial.ipynb", "exec"), names)
    if not isinstance(last, ast.Expr):
        return None
    return eval(compile(ast.Expression(last.value), "tutorial.ipynb", "eval"), names)


def test_the_tutorial_runs(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("pandas")
    names: dict[str, Any] = {}
    shown = [run(cell, names) for cell in CODE]

    assert [len(each) for each in shown if hasattr(each, "columns")] == [4]  # the table of the items
    printed = capsys.readouterr().out
    assert "meteor_ko|rule:meteor-ko@1|refs:1-2" in printed
    assert "models='official'" in printed
    assert "두 인자가 바뀐 것으로 보입니다" in printed


def test_the_tutorial_is_kept_without_outputs() -> None:
    assert all(not cell["outputs"] for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code")
